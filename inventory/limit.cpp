#include "inventory/limit.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.hpp"
#include "inventory/list_file.hpp"
#include "inventory/patterns.hpp"
#include "inventory/reckoning.hpp"
#include "inventory/signed_terms.hpp"

namespace cleanslate::inventory {
namespace {

std::string quote(std::string_view text) { return fmt::format("\"{}\"", ellipsize(printable(text), 60)); }

std::unexpected<Error> wrong(std::string message, std::string remedy = {}) {
    return fail("limit", std::move(message), std::move(remedy));
}

class Selection {
  public:
    Selection(const std::vector<Host>& hosts, const Groups& groups)
        : hosts_(hosts), patterns_(hosts, groups) {}

    Status add_limit(std::string_view limit);
    Result<Indexes> result(std::string_view limit) const;

  private:
    Status check_sign(const SignedTerm& term) const;
    Status add_term(const SignedTerm& term);
    Status add_file(const SignedTerm& term);
    Status apply(const SignedTerm& term, const Indexes& operand);

    const std::vector<Host>& hosts_;
    Patterns patterns_;
    Reckoning reckoning_;
};

// pdsh and ClusterShell read ^FILE.
Status Selection::check_sign(const SignedTerm& term) const {
    if (term.sign != Sign::toggle || term.glued) return {};
    return wrong(fmt::format("\"^{}\": nothing stands before the ^", ellipsize(printable(term.text), 60)),
                 fmt::format("write @FILE for the names in a file: @{}", printable(term.text)));
}

Status Selection::add_limit(std::string_view limit) {
    if (trim(limit).empty()) return wrong("the limit is empty", "write `all` for every host");
    for (const SignedTerm& term : signed_terms(limit, Separators::commas_and_colons)) {
        if (term.text.empty())
            return wrong(fmt::format("an empty pattern in {}", quote(limit)),
                         limit.find("::") == std::string_view::npos
                             ? ""
                             : "commas stand between IPv6 addresses, and around them");
        if (auto fine = check_sign(term); !fine) return fine;
        const auto added = term.text.starts_with('@') ? add_file(term) : add_term(term);
        if (!added) return added;
    }
    return {};
}

// A term that names no file.
Status Selection::add_term(const SignedTerm& term) {
    if (auto fine = check_sign(term); !fine) return fine;
    const auto found = patterns_.match(term.text);
    if (!found) return std::unexpected(found.error());
    return apply(term, *found);
}

Status Selection::apply(const SignedTerm& term, const Indexes& operand) {
    if (term.sign == Sign::keep)
        if (auto fine = patterns_.work(hosts_.size()); !fine) return fine;
    reckoning_.apply(term, operand);
    return {};
}

// A sign before the @ holds for all that the file names together.
Status Selection::add_file(const SignedTerm& term) {
    const auto path = term.text.substr(1);
    Indexes all;
    const auto use = [&](const SignedTerm& each) -> Status {
        if (each.text.starts_with('@'))
            return wrong(fmt::format("{}: a file can not name another", quote(each.text)));
        if (term.sign == Sign::add) return add_term(each);
        if (each.sign != Sign::add)
            return wrong(fmt::format("{}: a sign inside of a file that has one", quote(each.text)));
        const auto found = patterns_.match(each.text);
        if (!found) return std::unexpected(found.error());
        all.insert(all.end(), found->begin(), found->end());
        return {};
    };
    const auto read = each_listed(path, Separators::commas_and_colons, use);
    std::error_code failed;
    if (!read && (path == "*" || patterns_.is_group(path)) && !std::filesystem::exists(path, failed)) {
        const auto name = path == "*" ? std::string_view("all") : path;
        return wrong(read.error().message,
                     fmt::format("@ names a file; the group is called {} without it", printable(name)));
    }
    if (!read) return read;
    return term.sign == Sign::add ? Status() : apply(term, all);
}

Result<Indexes> Selection::result(std::string_view limit) const {
    if (!reckoning_.has_positive()) {
        return wrong(fmt::format("{} only takes hosts away", quote(limit)),
                     fmt::format("write all,{}", trim(limit)));
    }
    auto chosen = reckoning_.result([&](std::size_t index) { return hosts_[index].name; });
    if (!chosen) return std::unexpected(with_context(chosen.error(), quote(limit)));
    if (chosen->empty()) return wrong(fmt::format("{} leaves no host", quote(limit)));
    return chosen;
}

}  // namespace

Result<Indexes> select_hosts(std::string_view limit, const std::vector<Host>& hosts, const Groups& groups) {
    Selection selection(hosts, groups);
    if (auto added = selection.add_limit(limit); !added) return std::unexpected(added.error());
    return selection.result(limit);
}

}  // namespace cleanslate::inventory
