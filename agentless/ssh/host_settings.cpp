#include "agentless/ssh/host_settings.hpp"

#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// Of one of the default key files, those that are absent are passed over.
constexpr const char* default_identities[] = {"id_ed25519", "id_ecdsa", "id_rsa"};

}  // namespace

Result<HostSettings> settings_for(const Endpoint& endpoint, const SshOptions& options,
                                  const SshConfig& config) {
    ConfigQuery query{endpoint.address};
    if (!endpoint.user.empty()) query.user = endpoint.user;
    if (endpoint.user.empty() && !options.user.empty()) query.user = options.user;
    query.port = endpoint.port;
    const auto values = config.values_for(query);
    if (!values) return std::unexpected(values.error());
    HostSettings settings;
    settings.alias = endpoint.address;
    settings.host_name = values->host_name.value_or(endpoint.address);
    settings.port = endpoint.port.value_or(values->port.value_or(22));
    settings.user = query.user.value_or(values->user.value_or(options.local_user));
    settings.identity_files = options.identity_files;
    if (!endpoint.identity_file.empty()) settings.identity_files = {endpoint.identity_file};
    settings.identities_named = settings.identities_only = !settings.identity_files.empty();
    if (!settings.identities_named && !options.home.empty())
        for (const char* name : default_identities)
            settings.identity_files.push_back(options.home + "/.ssh/" + name);
    settings.agent_socket = options.agent_socket;
    settings.methods = {AuthMethod::publickey, AuthMethod::keyboard_interactive, AuthMethod::password};
    settings.user_known_hosts = options.known_hosts;
    if (options.known_hosts.empty()) {
        if (!options.home.empty()) settings.user_known_hosts.push_back(options.home + "/.ssh/known_hosts");
        settings.global_known_hosts.push_back("/etc/ssh/ssh_known_hosts");
    }
    settings.host_keys = options.host_keys.value_or(HostKeyPolicy::strict);
    settings.connect_timeout =
        options.connect_timeout.value_or(values->connect_timeout.value_or(HostSettings().connect_timeout));
    return settings;
}

}  // namespace cleanslate::agentless::ssh
