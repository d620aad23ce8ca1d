// -H 'root@gpu[01-04]:2222,[::1]:22,@FILE!gpu03': hosts without an inventory.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <unordered_map>

#include "base/text.hpp"
#include "inventory/inventory.hpp"
#include "inventory/list_file.hpp"
#include "inventory/names.hpp"
#include "inventory/node_set.hpp"
#include "inventory/reckoning.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_hosts = 1'000'000;
constexpr std::size_t max_kept = 100;

// One term, taken apart: USER@HOSTS:PORT.
struct Target {
    std::optional<std::string> user;
    std::string_view hosts;
    std::optional<std::uint16_t> port;
};

std::unexpected<Error> wrong(std::string_view term, std::string_view problem, std::string remedy = {}) {
    return fail("inventory", fmt::format("\"{}\": {}", ellipsize(printable(term), 60), problem),
                std::move(remedy));
}

// Where the port begins (at its colon), or npos. Colons inside of brackets belong to a range or an address.
std::size_t port_colon(std::string_view hosts) {
    const auto close = hosts.rfind(']');
    const auto colon = hosts.rfind(':');
    return colon == std::string_view::npos || (close != std::string_view::npos && colon < close)
               ? std::string_view::npos
               : colon;
}

Result<Target> take_apart(std::string_view term) {
    Target target{.user = {}, .hosts = term, .port = {}};
    if (const auto at = term.rfind('@'); at != std::string_view::npos) {
        target.user = std::string(term.substr(0, at));
        target.hosts = term.substr(at + 1);
        if (auto fine = check_user(*target.user); !fine)
            return wrong(term, fine.error().message, fine.error().remedy);
    }
    if (is_ipv6(target.hosts)) return target;  // without brackets there is no port
    const auto colon = port_colon(target.hosts);
    if (colon == std::string_view::npos) return target;
    const auto port = parse_number(target.hosts.substr(colon + 1));
    if (!port || *port < 1 || *port > 65'535) {
        return wrong(term, "no port behind the colon",
                     "a port is 1 to 65535; an IPv6 address with a port stands in brackets");
    }
    target.port = static_cast<std::uint16_t>(*port);
    target.hosts = target.hosts.substr(0, colon);
    return target;
}

Result<std::vector<std::string>> names_of(std::string_view term, std::string_view hosts,
                                          std::size_t max_names) {
    const auto literal = without_brackets(hosts);
    auto names = is_ipv6(literal) ? std::vector{std::string(literal)} : unfold(hosts, max_names);
    if (!names) return names;
    for (const auto& name : *names) {
        if (auto fine = check_host_name(name); !fine)
            return wrong(term, fine.error().message, fine.error().remedy);
    }
    return names;
}

// Each host that was named, also to be taken away, and what becomes of it.
class Targets {
  public:
    Status add_list(std::string_view list);
    Result<std::vector<Host>> result(std::string_view list) const;

  private:
    Status add_file(const SignedTerm& term);
    Status add_term(const SignedTerm& term);
    Result<std::size_t> index_of(const SignedTerm& term, const Target& target, const std::string& name);

    std::vector<Host> hosts_;
    std::unordered_map<std::string, std::size_t> known_;
    std::vector<bool> described_;  // by a term that adds
    Reckoning reckoning_;
    std::vector<std::pair<std::string, Indexes>> taken_away_;
    std::size_t kept_ = 0;
};

Status Targets::add_list(std::string_view list) {
    for (const SignedTerm& term : signed_terms(list, Separators::commas)) {
        const bool file = term.text.starts_with('@') || term.text == "-";
        if (auto added = file ? add_file(term) : add_term(term); !added) return added;
    }
    return {};
}

Status Targets::add_file(const SignedTerm& term) {
    const auto path = term.text == "-" ? term.text : term.text.substr(1);
    if (path.empty()) return wrong(term.text, "no file behind the @");
    const auto use = [&](const SignedTerm& each) -> Status {
        if (each.text.starts_with('@')) return wrong(each.text, "a file can not name another");
        if (term.sign == Sign::add) return add_term(each);
        if (term.sign != Sign::drop || each.sign != Sign::add)
            return wrong(each.text, "of signs there is only ! before a file, and none in it then");
        return add_term({term.sign, term.glued, each.text});
    };
    const auto before = taken_away_.size();
    auto read = each_listed(path, Separators::commas, use);
    std::error_code failed;
    if (!read && path != "-" && !std::filesystem::exists(path, failed) && read.error().remedy.empty())
        read.error().remedy = "@ names a file; groups are in an inventory: -i INVENTORY -l GROUP";
    if (!read || term.sign == Sign::add) return read;
    Indexes all;  // of which one at least must have been named
    for (auto i = before; i < taken_away_.size(); ++i)
        all.insert(all.end(), taken_away_[i].second.begin(), taken_away_[i].second.end());
    taken_away_.resize(before);
    taken_away_.emplace_back(term.text, std::move(all));
    return {};
}

// The index of a name, which a term that adds describes.
Result<std::size_t> Targets::index_of(const SignedTerm& term, const Target& target, const std::string& name) {
    const auto [found, fresh] = known_.emplace(name, hosts_.size());
    const auto index = found->second;
    if (fresh) {
        Host host;
        host.name = host.address = name;
        hosts_.push_back(std::move(host));
        described_.push_back(false);
    }
    if (term.sign != Sign::add && term.sign != Sign::toggle) return index;
    Host& host = hosts_[index];
    if (described_[index] && (host.user != target.user || host.port != target.port)) {
        return wrong(term.text, fmt::format("{} is named twice, with another user or port", name),
                     "give each its own name in an inventory");
    }
    host.user = target.user;
    host.port = target.port;
    described_[index] = true;
    return index;
}

Status Targets::add_term(const SignedTerm& term) {
    if (term.sign == Sign::toggle && !term.glued)
        return wrong(term.text, "nothing stands before its ^", "write @FILE for the names in a file");
    const auto target = take_apart(term.text);
    if (!target) return std::unexpected(target.error());
    const bool takes = term.sign == Sign::drop || term.sign == Sign::keep;
    if (takes && (target->user || target->port))
        return wrong(term.text, "a user or a port where hosts are taken away", "write the names alone");
    const auto names = names_of(term.text, target->hosts, max_hosts - hosts_.size());
    if (!names) return std::unexpected(names.error());
    Indexes operand;
    for (const auto& name : *names) {
        const auto index = index_of(term, *target, name);
        if (!index) return std::unexpected(index.error());
        operand.push_back(*index);
    }
    if (term.sign == Sign::keep && ++kept_ > max_kept)
        return wrong(term.text, fmt::format("more than {} times &", max_kept));
    reckoning_.apply(term, operand);
    if (term.sign == Sign::drop) taken_away_.emplace_back(term.text, std::move(operand));
    return {};
}

Result<std::vector<Host>> Targets::result(std::string_view list) const {
    if (!reckoning_.has_positive())
        return wrong(list, "only takes hosts away", "name first from what: n[1-10]!n3");
    for (const auto& [term, operand] : taken_away_)
        if (std::ranges::none_of(operand, [&](std::size_t index) { return reckoning_.has_added(index); }))
            return wrong(term, "is to be taken away and was not named", "is it spelt as the others are?");
    const auto chosen = reckoning_.result([&](std::size_t index) { return hosts_[index].name; });
    if (!chosen) return wrong(list, chosen.error().message, chosen.error().remedy);
    if (chosen->empty()) return wrong(list, "leaves no host");
    std::vector<Host> left;
    left.reserve(chosen->size());
    for (const auto index : *chosen) left.push_back(hosts_[index]);
    return left;
}

}  // namespace

Result<Inventory> Inventory::from_targets(std::string_view targets) {
    Targets read;
    if (auto added = read.add_list(targets); !added) {
        Error error = added.error();
        if (error.kind == "limit") error.kind = "inventory";
        return std::unexpected(std::move(error));
    }
    auto hosts = read.result(targets);
    if (!hosts) return std::unexpected(hosts.error());
    Inventory inventory;
    inventory.hosts_ = std::move(*hosts);
    std::vector<std::size_t> all(inventory.hosts_.size());
    std::iota(all.begin(), all.end(), 0);
    inventory.groups_ = {{"all", all}, {"ungrouped", all}};
    return inventory;
}

}  // namespace cleanslate::inventory
