#include "agentless/ssh/host_settings.hpp"

#include <algorithm>
#include <iterator>

#include "agentless/ssh/proxy_command.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// Those that are absent are passed over. Keys on security keys (id_ed25519_sk) come from an agent.
constexpr const char* default_identities[] = {"id_ed25519", "id_ecdsa", "id_rsa"};

void choose_identities(const Endpoint& endpoint, const SshOptions& options, ConfigValues& values,
                       HostSettings& settings) {
    settings.identity_files = options.identity_files;
    if (!endpoint.identity_file.empty()) {
        settings.identity_files = {endpoint.identity_file};
        if (endpoint.ssh != nullptr)
            std::ranges::copy(endpoint.ssh->more_identity_files, std::back_inserter(settings.identity_files));
    }
    settings.identities_named = !settings.identity_files.empty();
    settings.identities_only = settings.identities_named || values.identities_only.value_or(false);
    settings.certificate_files = std::move(values.certificate_files);
    settings.agent_socket = values.identity_agent.value_or(options.agent_socket);
    if (settings.identities_named) return;
    if (values.identity_files_given) {
        settings.identity_files = std::move(values.identity_files);
    } else if (!options.home.empty()) {
        settings.identities_default = true;
        for (const char* name : default_identities)
            settings.identity_files.push_back(options.home + "/.ssh/" + name);
    }
}

AddressFamily family_of(const std::string& name) {
    if (name == "inet") return AddressFamily::inet;
    return name == "inet6" ? AddressFamily::inet6 : AddressFamily::any;
}

HostKeyPolicy policy_of(const std::string& strictness) {
    // Nobody is asked during a sweep: "ask" is strict.
    if (strictness == "no") return HostKeyPolicy::off;
    if (strictness == "accept-new") return HostKeyPolicy::accept_new;
    return HostKeyPolicy::strict;
}

HostKeyPolicy policy_of(inventory::HostKeyTrust trust) {
    if (trust == inventory::HostKeyTrust::off) return HostKeyPolicy::off;
    return trust == inventory::HostKeyTrust::accept_new ? HostKeyPolicy::accept_new : HostKeyPolicy::strict;
}

// The inventory's over ssh's configuration's.
void say_of_host(const inventory::SshSettings& said, ConfigValues& values) {
    if (said.known_hosts) values.user_known_hosts = said.known_hosts;
    if (said.global_known_hosts) values.global_known_hosts = said.global_known_hosts;
    if (said.connect_timeout) values.connect_timeout = said.connect_timeout;
}

void choose_host_keys(const Endpoint& endpoint, const SshOptions& options, ConfigValues& values,
                      HostSettings& settings) {
    settings.host_keys = policy_of(values.strict_host_key_checking.value_or("ask"));
    if (endpoint.ssh != nullptr && endpoint.ssh->host_keys)
        settings.host_keys = policy_of(*endpoint.ssh->host_keys);
    settings.host_keys = options.host_keys.value_or(settings.host_keys);
    settings.host_key_alias = values.host_key_alias.value_or("");
    settings.hash_known_hosts = values.hash_known_hosts.value_or(false);
    settings.user_known_hosts = options.known_hosts;
    if (!options.known_hosts.empty()) return;
    if (values.user_known_hosts) {
        settings.user_known_hosts = std::move(*values.user_known_hosts);
    } else if (!options.home.empty()) {
        for (const char* name : {"/.ssh/known_hosts", "/.ssh/known_hosts2"})
            settings.user_known_hosts.push_back(options.home + name);
    }
    settings.global_known_hosts =
        values.global_known_hosts
            ? std::move(*values.global_known_hosts)
            : std::vector<std::string>{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"};
}

std::vector<AuthMethod> methods_of(const SshOptions& options, const ConfigValues& values) {
    // A password that is at hand needs nobody to be asked.
    const bool may_type = options.password != nullptr || !values.batch_mode.value_or(false);
    std::vector<AuthMethod> methods;
    const std::string preferred =
        values.preferred_authentications.value_or("publickey,keyboard-interactive,password");
    for (const std::string_view name : split(preferred, ',')) {
        AuthMethod method = AuthMethod::publickey;
        bool enabled = values.pubkey_authentication.value_or(true);
        if (name == "keyboard-interactive") {
            method = AuthMethod::keyboard_interactive;
            enabled = may_type && values.kbd_interactive_authentication.value_or(true);
        } else if (name == "password") {
            method = AuthMethod::password;
            enabled = may_type && values.password_authentication.value_or(true);
        } else if (name != "publickey") {
            continue;
        }
        if (enabled && std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
    }
    return methods;
}

// What stands nearer to the host wins as a whole: a jump of the inventory over a command of the
// configuration.
void choose_way(const Endpoint& endpoint, ConfigValues& values, HostSettings& settings) {
    std::string jump = endpoint.proxy_jump.value_or(values.proxy_jump.value_or(""));
    if (!endpoint.proxy_jump && values.proxy_command) {
        const auto hop = hop_of_proxy_command(*values.proxy_command, settings.host_name, settings.port);
        if (!hop) settings.proxy_command = std::move(*values.proxy_command);
        jump = hop.value_or("");
    }
    if (jump.empty() || jump == "none") return;
    for (const std::string_view hop : split(jump, ',')) settings.proxy_jump.emplace_back(trim(hop));
}

}  // namespace

Result<HostSettings> settings_for(const Endpoint& endpoint, const SshOptions& options,
                                  const SshConfig& config) {
    ConfigQuery query{endpoint.address};
    if (!endpoint.user.empty()) query.user = endpoint.user;
    if (endpoint.user.empty() && !options.user.empty()) query.user = options.user;
    query.port = endpoint.port;
    auto values = config.values_for(query);
    if (!values) return std::unexpected(values.error());
    HostSettings settings;
    settings.alias = endpoint.address;
    settings.host_name = values->host_name;
    settings.port = endpoint.port.value_or(values->port.value_or(22));
    settings.user = query.user.value_or(values->user.value_or(options.local_user));
    settings.family = family_of(values->address_family.value_or("any"));
    settings.bind_address = values->bind_address.value_or("");
    if (endpoint.ssh != nullptr) say_of_host(*endpoint.ssh, *values);
    choose_identities(endpoint, options, *values, settings);
    choose_host_keys(endpoint, options, *values, settings);
    settings.methods = methods_of(options, *values);
    if (settings.methods.empty())
        return std::unexpected(Error{
            "usage", "resolve", "ssh's configuration leaves this host no way to log in that is known here",
            "let PreferredAuthentications name publickey, keyboard-interactive or password, and do not "
            "switch them off"});
    settings.connect_timeout = options.connect_timeout.value_or(settings.connect_timeout);
    // 0 is no limit in ssh; here every wait has one.
    if (!options.connect_timeout && values->connect_timeout.value_or(Milliseconds(0)).count() > 0)
        settings.connect_timeout = *values->connect_timeout;
    settings.alive_interval = values->alive_interval.value_or(settings.alive_interval);
    settings.alive_count_max = values->alive_count_max.value_or(settings.alive_count_max);
    choose_way(endpoint, *values, settings);
    return settings;
}

}  // namespace cleanslate::agentless::ssh
