#include <string_view>

#include "agentless/ssh/host_settings.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

std::unexpected<Error> no_hop(const std::string& hop, const std::string& why) {
    return std::unexpected(Error{"usage", "resolve", "jump host \"" + printable(hop) + "\": " + why,
                                 "write [user@]host[:port], or [user@][address]:port for IPv6"});
}

// A name could otherwise pass for something else in a known_hosts file or a message.
bool is_plain(std::string_view text) {
    for (const char c : text)
        if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f || c == ',' || c == '/') return false;
    return !text.empty() && text.front() != '-';
}

}  // namespace

Result<Endpoint> endpoint_of_hop(const std::string& hop) {
    std::string_view rest = hop;
    if (rest.starts_with("ssh://")) {
        rest.remove_prefix(6);
        if (rest.ends_with('/')) rest.remove_suffix(1);
    }
    Endpoint endpoint{.name = hop, .address = {}, .user = {}, .identity_file = {}};
    if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
        endpoint.user = rest.substr(0, at);
        if (!is_plain(endpoint.user)) return no_hop(hop, "the user name makes no sense");
        rest.remove_prefix(at + 1);
    }
    std::string_view host = rest, port;
    bool has_port = false;
    if (rest.starts_with('[')) {
        const auto end = rest.find(']');
        if (end == std::string_view::npos) return no_hop(hop, "a ] is missing");
        host = rest.substr(1, end - 1);
        port = rest.substr(end + 1);
        has_port = !port.empty();
        if (has_port && port.front() != ':') return no_hop(hop, "after ] comes :port or nothing");
        if (has_port) port.remove_prefix(1);
    } else if (const auto colon = rest.find(':');
               colon != std::string_view::npos && rest.find(':', colon + 1) == std::string_view::npos) {
        host = rest.substr(0, colon);
        port = rest.substr(colon + 1);
        has_port = true;
    }
    if (!is_plain(host)) return no_hop(hop, "the host name makes no sense");
    endpoint.address = host;
    if (has_port) {
        const auto number = parse_number(port);
        if (!number || *number == 0 || *number > 65535) return no_hop(hop, "a port is 1 to 65535");
        endpoint.port = static_cast<std::uint16_t>(*number);
    }
    return endpoint;
}

}  // namespace cleanslate::agentless::ssh
