#include "inventory/jumps.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "inventory/names.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_hops = 16;

std::unexpected<Error> no_hop(std::string_view hop) {
    return fail("inventory", "found no jump host in \"" + printable(hop) + "\"",
                "write [user@]host[:port], several with commas between, or none");
}

// Takes ":port" off the end. False: what stands there is no port.
bool take_port(std::string_view& host) {
    const auto colon = host.rfind(':');
    if (colon == std::string_view::npos) return true;
    const bool bracketed = host.starts_with('[') && host[colon - 1] == ']';
    if (host.ends_with(']') || (!bracketed && host.find(':') != colon)) return true;  // IPv6
    const auto port = parse_number(host.substr(colon + 1));
    if (!port || *port < 1 || *port > 65'535) return false;
    host = host.substr(0, colon);
    return true;
}

bool is_hop(std::string_view hop) {
    if (hop.starts_with("ssh://")) {
        hop.remove_prefix(6);
        if (hop.ends_with('/')) hop.remove_suffix(1);
    }
    if (hop.find('/') != std::string_view::npos) return false;
    if (const auto at = hop.rfind('@'); at != std::string_view::npos) {
        if (!check_user(hop.substr(0, at))) return false;
        hop.remove_prefix(at + 1);
    }
    return take_port(hop) && !hop.empty() && check_address(without_brackets(hop)).has_value();
}

}  // namespace

Result<std::string> read_hops(std::string_view text) {
    text = trim(text);
    if (text == "none") return std::string(text);
    std::string hops;
    const auto parts = split(text, ',');
    if (parts.size() > max_hops) return fail("inventory", "more than 16 jump hosts");
    for (const std::string_view part : parts) {
        const std::string_view hop = trim(part);
        if (!is_hop(hop)) return no_hop(hop);
        hops += (hops.empty() ? "" : ",") + std::string(hop);
    }
    return hops;
}

}  // namespace cleanslate::inventory
