#include "agentless/ssh/ssh_config.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "agentless/ssh/ssh_config_files.hpp"
#include "agentless/ssh/ssh_config_match.hpp"
#include "agentless/ssh/ssh_config_sections.hpp"
#include "agentless/ssh/ssh_config_tokens.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::string_view system_file = "/etc/ssh/ssh_config";
constexpr std::size_t max_identity_files = 100;  // ssh's own

constexpr std::string_view all_tokens = "dhiklLnpru";
constexpr std::string_view proxy_tokens = "hknpr";

std::string host_name_of_this_machine() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

bool is_address(const std::string& text) {
    const std::string without_scope = text.substr(0, text.find('%'));
    in6_addr address{};
    return ::inet_pton(AF_INET, text.c_str(), &address) == 1 ||
           ::inet_pton(AF_INET6, without_scope.c_str(), &address) == 1;
}

std::optional<bool> flag(const Applied& applied) {
    return applied ? std::optional(applied.directive->number == 1) : std::nullopt;
}

std::optional<std::string> text(const Applied& applied) {
    return applied ? std::optional(applied.value()) : std::nullopt;
}

std::optional<Milliseconds> time(const Applied& applied) {
    return applied ? std::optional<Milliseconds>(std::chrono::seconds(applied.directive->number))
                   : std::nullopt;
}

}  // namespace

struct SshConfig::Parsed {
    IndexedSections sections;
    std::string local_user;
    TokenValues local;  // of this machine and its user
    // Keywords of `noted` lines that applied to a host, with the first line's place.
    mutable std::mutex mutex{};
    mutable std::map<const Noted*, std::string> said{};

    Result<ConfigValues> values_for(const ConfigQuery& query) const;

  private:
    using Lines = AppliedLines;
    Status add_paths(const Lines& lines, const TokenValues& tokens, ConfigValues& values) const;
    Status add_agent(const Lines& lines, const TokenValues& tokens, ConfigValues& values) const;
    Status add_proxy(const Lines& lines, const TokenValues& tokens, ConfigValues& values) const;
    Result<std::vector<std::string>> paths(const std::vector<Applied>& applied, std::string_view keyword,
                                           const TokenValues& tokens) const;
    Result<std::string> path(const std::string& text, const TokenValues& tokens) const;
    TokenValues tokens_of(const ConfigQuery& query, const ConfigValues& values) const;
    void say(const Lines& lines) const;
};

Result<std::string> SshConfig::Parsed::path(const std::string& text, const TokenValues& tokens) const {
    const auto at_home = expand_tilde(text, tokens.home);
    if (!at_home) return at_home;
    return expand_tokens_and_environment(*at_home, all_tokens, tokens);
}

Result<std::vector<std::string>> SshConfig::Parsed::paths(const std::vector<Applied>& applied,
                                                          std::string_view keyword,
                                                          const TokenValues& tokens) const {
    std::vector<std::string> files;
    for (const Applied& one : applied) {
        if (in_small_letters(one.value()) == "none") continue;
        auto file = path(one.value(), tokens);
        if (!file) return std::unexpected(sections.at(one, keyword, file.error()));
        files.push_back(std::move(*file));
    }
    if (files.size() > max_identity_files)
        return std::unexpected(
            sections.at(applied.back(), keyword, {"usage", {}, "more than 100 files", {}}));
    return files;
}

Status SshConfig::Parsed::add_paths(const Lines& lines, const TokenValues& tokens,
                                    ConfigValues& values) const {
    auto files = paths(lines.identity_files, "IdentityFile", tokens);
    if (!files) return std::unexpected(files.error());
    values.identity_files = std::move(*files);
    values.identity_files_given = !lines.identity_files.empty();
    auto certificates = paths(lines.certificate_files, "CertificateFile", tokens);
    if (!certificates) return std::unexpected(certificates.error());
    values.certificate_files = std::move(*certificates);
    if (const Applied& known = lines.of(Keyword::user_known_hosts)) {
        values.user_known_hosts.emplace();
        for (const std::string& one : known.directive->values) {
            auto file = path(one, tokens);
            if (!file) return std::unexpected(sections.at(known, "UserKnownHostsFile", file.error()));
            values.user_known_hosts->push_back(std::move(*file));
        }
    }
    // ssh expands nothing in these.
    if (const Applied& known = lines.of(Keyword::global_known_hosts))
        values.global_known_hosts = known.directive->values;
    return {};
}

Status SshConfig::Parsed::add_agent(const Lines& lines, const TokenValues& tokens,
                                    ConfigValues& values) const {
    const Applied& agent = lines.of(Keyword::identity_agent);
    if (!agent || agent.value() == "SSH_AUTH_SOCK") return {};
    if (agent.value() == "none") {
        values.identity_agent = "";
        return {};
    }
    if (agent.value().starts_with('$') && !agent.value().starts_with("${")) {
        const char* socket = std::getenv(agent.value().c_str() + 1);
        values.identity_agent = socket == nullptr ? "" : socket;
        return {};
    }
    auto socket = path(agent.value(), tokens);
    if (!socket) return std::unexpected(sections.at(agent, "IdentityAgent", socket.error()));
    values.identity_agent = std::move(*socket);
    return {};
}

Status SshConfig::Parsed::add_proxy(const Lines& lines, const TokenValues& tokens,
                                    ConfigValues& values) const {
    const Applied& command = lines.of(Keyword::proxy_command);
    const Applied& jump = lines.of(Keyword::proxy_jump);
    const Applied& applied = command ? command : jump;
    if (!applied || in_small_letters(applied.value()) == "none") return {};
    const std::string_view keyword = command ? "ProxyCommand" : "ProxyJump";
    auto expanded = expand_tokens(applied.value(), proxy_tokens, tokens);
    if (!expanded) return std::unexpected(sections.at(applied, keyword, expanded.error()));
    if (!command) {
        values.proxy_jump = std::move(*expanded);
        return {};
    }
    for (const auto& [letter, value] : {std::pair("%h", tokens.host_name),
                                        {"%k", tokens.key_alias},
                                        {"%n", tokens.name},
                                        {"%r", tokens.user}})
        if (applied.value().find(letter) != std::string::npos && !is_safe_for_shell(value))
            return std::unexpected(sections.at(
                applied, keyword,
                {"usage",
                 {},
                 fmt::format("{} is \"{}\", which means something to a shell", letter, printable(value)),
                 "give the host another name or user"}));
    values.proxy_command = std::move(*expanded);
    return {};
}

TokenValues SshConfig::Parsed::tokens_of(const ConfigQuery& query, const ConfigValues& values) const {
    TokenValues tokens = local;
    tokens.host_name = values.host_name;
    tokens.name = query.name;
    tokens.key_alias = values.host_key_alias.value_or(query.name);
    tokens.port = std::to_string(query.port.value_or(values.port.value_or(22)));
    tokens.user = query.user.value_or(values.user.value_or(local_user));
    return tokens;
}

void SshConfig::Parsed::say(const Lines& lines) const {
    if (lines.noted.empty()) return;
    const std::lock_guard lock(mutex);
    for (const Applied& applied : lines.noted)
        said.try_emplace(applied.directive->noted, sections.place(applied));
}

Result<ConfigValues> SshConfig::Parsed::values_for(const ConfigQuery& query) const {
    const auto found = sections.lines_for(query, local_user);
    if (!found) return std::unexpected(found.error());
    const Lines& lines = *found;
    say(lines);
    if (const Applied& refused = lines.of(Keyword::refuse_connection))
        return std::unexpected(
            sections.at(refused, "RefuseConnection", {"usage", {}, printable(refused.value()), {}}));
    ConfigValues values;
    values.host_name = lines.host_name;
    values.user = text(lines.of(Keyword::user));
    if (const Applied& port = lines.of(Keyword::port))
        values.port = static_cast<std::uint16_t>(port.directive->number);
    values.identities_only = flag(lines.of(Keyword::identities_only));
    values.strict_host_key_checking = text(lines.of(Keyword::strict_host_key_checking));
    if (const Applied& alias = lines.of(Keyword::host_key_alias))
        values.host_key_alias = in_small_letters(alias.value());
    values.connect_timeout = time(lines.of(Keyword::connect_timeout));
    values.alive_interval = time(lines.of(Keyword::alive_interval));
    if (const Applied& count = lines.of(Keyword::alive_count_max))
        values.alive_count_max = static_cast<int>(count.directive->number);
    values.pubkey_authentication = flag(lines.of(Keyword::pubkey_authentication));
    values.password_authentication = flag(lines.of(Keyword::password_authentication));
    values.kbd_interactive_authentication = flag(lines.of(Keyword::kbd_interactive_authentication));
    values.preferred_authentications = text(lines.of(Keyword::preferred_authentications));
    values.batch_mode = flag(lines.of(Keyword::batch_mode));
    values.hash_known_hosts = flag(lines.of(Keyword::hash_known_hosts));
    values.address_family = text(lines.of(Keyword::address_family));
    if (const Applied& own = lines.of(Keyword::bind_address)) {
        if (!is_address(own.value()))
            return std::unexpected(sections.at(own, "BindAddress",
                                               {"usage",
                                                {},
                                                "\"" + printable(own.value()) + "\" is no IP address",
                                                "write an address of this machine, not a name"}));
        values.bind_address = own.value();
    }
    const TokenValues tokens = tokens_of(query, values);
    for (const auto add : {&Parsed::add_paths, &Parsed::add_agent, &Parsed::add_proxy})
        if (const auto added = (this->*add)(lines, tokens, values); !added)
            return std::unexpected(added.error());
    return values;
}

SshConfig::SshConfig() = default;

Result<SshConfig> SshConfig::load(const std::vector<std::string>& files, bool must_exist,
                                  const std::string& home, const std::string& local_user) {
    std::vector<ConfigFile> read;
    for (const std::string& file : files) {
        const bool users = file != system_file || must_exist;
        read.push_back({file, users, users && !must_exist, must_exist});
    }
    auto sections = parse_config(read, config_files(), home);
    if (!sections) return std::unexpected(sections.error());
    TokenValues local;
    local.home = home;
    local.uid = std::to_string(::getuid());
    local.local_host = host_name_of_this_machine();
    local.local_host_short = local.local_host.substr(0, local.local_host.find('.'));
    local.local_user = local_user;
    SshConfig config;
    config.parsed_.reset(new Parsed{IndexedSections(std::move(*sections)), local_user, std::move(local)});
    return config;
}

Result<ConfigValues> SshConfig::values_for(const ConfigQuery& query) const {
    if (parsed_) return parsed_->values_for(query);
    // Without files, too, a name is used as ssh uses it.
    static const Parsed nothing{IndexedSections({}), {}, {}};
    return nothing.values_for(query);
}

std::vector<std::string> SshConfig::notes() const {
    std::vector<std::string> notes;
    if (!parsed_) return notes;
    const std::lock_guard lock(parsed_->mutex);
    for (const auto& [noted, place] : parsed_->said)
        notes.push_back(fmt::format("{}: {} is passed over: {}", place, noted->name, noted->but));
    return notes;
}

}  // namespace cleanslate::agentless::ssh
