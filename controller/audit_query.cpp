#include "controller/audit_query.hpp"

#include <algorithm>
#include <chrono>

#include "base/text.hpp"
#include "base/units.hpp"
#include "inventory/glob.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

// A cursor over fixed-width numbers and the characters between them.
struct Reader {
    std::string_view rest;
    bool ok = true;

    int number(std::size_t digits, int least, int most) {
        const auto value = rest.size() < digits ? std::nullopt : parse_number(rest.substr(0, digits));
        ok = ok && value && *value >= static_cast<std::uint64_t>(least) &&
             *value <= static_cast<std::uint64_t>(most);
        if (!ok) return least;
        rest.remove_prefix(digits);
        return static_cast<int>(*value);
    }
    bool take(std::string_view any_of) {
        if (rest.empty() || any_of.find(rest[0]) == std::string_view::npos) return false;
        rest.remove_prefix(1);
        return true;
    }
    void want(std::string_view any_of) { ok = take(any_of) && ok; }
};

void skip_fraction(Reader& in) {
    if (!in.take(".")) return;
    const auto digits = std::min(in.rest.find_first_not_of("0123456789"), in.rest.size());
    in.ok = in.ok && digits > 0;
    in.rest.remove_prefix(digits);
}

std::int64_t read_offset(Reader& in) {
    if (in.take("Zz")) return 0;
    const bool east = in.take("+");
    if (!east) in.want("-");
    const int hours = in.number(2, 0, 23);
    in.want(":");
    const std::int64_t seconds = (hours * 60 + in.number(2, 0, 59)) * 60;
    return east ? seconds : -seconds;
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
    using namespace std::chrono;
    Reader in{text};
    const int years = in.number(4, 0, 9999);
    in.want("-");
    const int months = in.number(2, 1, 12);
    in.want("-");
    const int days_of_month = in.number(2, 1, 31);
    const year_month_day date{year(years), month(static_cast<unsigned>(months)),
                              day(static_cast<unsigned>(days_of_month))};
    if (!in.ok || !date.ok()) return std::nullopt;
    const std::int64_t midnight = sys_days(date).time_since_epoch().count() * std::int64_t{86'400};
    if (in.rest.empty()) return midnight;
    in.want("Tt ");
    const int hours = in.number(2, 0, 23);
    in.want(":");
    const int minutes = in.number(2, 0, 59);
    in.want(":");
    const int seconds = in.number(2, 0, 60);
    skip_fraction(in);
    const std::int64_t offset = read_offset(in);
    if (!in.ok || !in.rest.empty()) return std::nullopt;
    return midnight + (hours * 60 + minutes) * 60 + seconds - offset;
}

Result<std::int64_t> parse_since(std::string_view text, std::int64_t now) {
    if (const auto time = parse_time(text)) return *time;
    if (const auto ago = parse_duration(text))
        return now - std::chrono::duration_cast<std::chrono::seconds>(*ago).count();
    return fail("usage",
                "--since wants a time (2026-11-29, 2026-11-29T12:00:00Z) or how long ago (2h, 7d), not '" +
                    printable(text) + "'");
}

Result<HostFilter> HostFilter::read(const std::vector<std::string>& texts) {
    HostFilter filter;
    for (const std::string& text : texts) {
        for (const std::string_view term : inventory::split_terms(text)) {
            if (term.empty() || term.find_first_of("!&@") == 0)
                return fail("usage", "--host wants names, globs and ranges, as gpu[01-04],rack1-*, not '" +
                                         printable(text) + "'");
            const auto names = inventory::unfold(term);
            if (!names) return std::unexpected(with_context(names.error(), "--host"));
            for (const std::string& name : *names) {
                if (name.find_first_of("*?") != std::string::npos)
                    filter.globs_.push_back(name);
                else
                    filter.names_.insert(name);
            }
        }
    }
    return filter;
}

bool HostFilter::has(const std::string& host) const {
    const auto fits = [&](const std::string& glob) { return inventory::glob(glob, host); };
    return everything() || names_.contains(host) || std::ranges::any_of(globs_, fits);
}

}  // namespace cleanslate::controller
