// -H 'root@gpu[01-04]:2222,[::1]:22': hosts without an inventory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/text.hpp"
#include "inventory/inventory.hpp"
#include "inventory/names.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_hosts = 1'000'000;

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

}  // namespace

Result<Inventory> Inventory::from_targets(std::string_view targets) {
    Inventory inventory;
    std::unordered_map<std::string, std::size_t> known;
    for (const auto term : split_terms(targets)) {
        const auto target = take_apart(term);
        if (!target) return std::unexpected(target.error());
        const auto names = names_of(term, target->hosts, max_hosts - inventory.hosts_.size());
        if (!names) return std::unexpected(names.error());
        for (const auto& name : *names) {
            Host host;
            host.name = host.address = name;
            host.user = target->user;
            host.port = target->port;
            const auto [found, added] = known.emplace(name, inventory.hosts_.size());
            if (added) {
                inventory.hosts_.push_back(std::move(host));
                continue;
            }
            const Host& first = inventory.hosts_[found->second];
            if (first.user != host.user || first.port != host.port) {
                return wrong(term, fmt::format("{} is named twice, with another user or port", name),
                             "give each its own name in an inventory");
            }
        }
    }
    std::vector<std::size_t> all(inventory.hosts_.size());
    std::iota(all.begin(), all.end(), 0);
    inventory.groups_ = {{"all", all}, {"ungrouped", all}};
    return inventory;
}

}  // namespace cleanslate::inventory
