#include "tests/contract/ssh_config_judge.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "agentless/shared_secret.hpp"
#include "agentless/ssh/host_settings.hpp"
#include "agentless/ssh/ssh_config_tokens.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::contract {
namespace {

struct Caller {
    std::string home, name;
};

Caller caller() {
    const passwd* entry = ::getpwuid(::getuid());
    return entry == nullptr ? Caller{"/root", "root"} : Caller{entry->pw_dir, entry->pw_name};
}

struct Printed {
    int status = -1;
    std::string out;
};

Printed run(const std::string& command) {
    Printed printed;
    FILE* pipe = ::popen((command + " 2>/dev/null </dev/null").c_str(), "re");
    if (pipe == nullptr) return printed;
    std::array<char, 4096> buffer{};
    for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
        printed.out.append(buffer.data(), n);
    printed.status = ::pclose(pipe);
    return printed;
}

std::string quoted(const std::string& text) {
    std::string shell = "'";
    for (const char c : text) shell += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return shell + "'";
}

void add(std::string& list, const std::string& item) { list += (list.empty() ? "" : " ") + item; }

std::string yes_or_no(bool yes) { return yes ? "yes" : "no"; }

std::string seconds(Milliseconds time) { return std::to_string(time.count() / 1000); }

// ssh -G prints these as they are written, and expands them when they are used.
std::string expanded(const std::string& text, const ssh::TokenValues& tokens, bool path) {
    const auto at_home = path ? ssh::expand_tilde(text, tokens.home) : Result<std::string>(text);
    if (!at_home) return at_home.error().message;
    const auto whole = path ? ssh::expand_tokens_and_environment(*at_home, "dhiklLnpru", tokens)
                            : ssh::expand_tokens(*at_home, "hknpr", tokens);
    return whole ? *whole : whole.error().message;
}

// One line of ssh -G: "keyword value".
void take(std::map<std::string, std::string>& decided, const std::string& line) {
    const auto blank = line.find(' ');
    if (blank == std::string::npos) return;
    const std::string keyword = line.substr(0, blank);
    std::string value = line.substr(blank + 1);
    if (keyword == "identityfile" || keyword == "certificatefile") {
        if (value != "none") add(decided[keyword], value);
    } else {
        decided[keyword] = value;
    }
}

ssh::TokenValues tokens_of(const std::map<std::string, std::string>& decided, const Asked& asked) {
    const auto of = [&](const std::string& keyword) {
        const auto found = decided.find(keyword);
        return found == decided.end() ? std::string() : found->second;
    };
    char machine[256] = {};
    ::gethostname(machine, sizeof machine - 1);
    const std::string local = machine, alias = of("hostkeyalias");
    return {caller().home,
            of("hostname"),
            std::to_string(::getuid()),
            alias.empty() ? asked.host : alias,
            local.substr(0, local.find('.')),
            local,
            asked.host,
            of("port"),
            of("user"),
            caller().name};
}

// ssh's words and defaults, as cleanslate's decisions have them.
void normalize(std::map<std::string, std::string>& decided, const Asked& asked) {
    const auto tokens = tokens_of(decided, asked);
    const auto words = [](std::string& text, auto change) {
        std::string out;
        std::istringstream in(text);
        for (std::string word; in >> word;) add(out, change(word));
        text = out;
    };
    const auto path = [&](const std::string& word) { return expanded(word, tokens, true); };
    words(decided["identityfile"], path);
    words(decided["certificatefile"], path);
    for (const char* known : {"userknownhostsfile", "globalknownhostsfile"})
        if (ssh::expand_tilde(decided[known], "").value_or("") == "none") decided[known].clear();
    std::string& agent = decided["identityagent"];
    if (agent == "none") agent = "(none)";
    if (agent == "SSH_AUTH_SOCK") agent.clear();
    if (agent.starts_with('$')) {
        const char* socket = std::getenv(agent.c_str() + 1);
        agent = socket == nullptr ? "(none)" : socket;
    }
    std::string& strict = decided["stricthostkeychecking"];
    if (strict == "true" || strict == "ask") strict = "strict";
    if (strict == "false") strict = "off";
    if (decided["connecttimeout"] == "none" || decided["connecttimeout"] == "0")
        decided["connecttimeout"].clear();
    // Debian's ssh asks for a sign of life every five minutes where it runs in a batch.
    if (decided["batchmode"] == "yes" && decided["serveraliveinterval"] == "300")
        decided["serveraliveinterval"] = "0";
    decided["pubkeyauthentication"] = yes_or_no(decided["pubkeyauthentication"] != "false");
    for (const char* way : {"proxyjump", "proxycommand"}) {
        if (decided[way] == "none") decided[way].clear();
        decided[way] = expanded(decided[way], tokens, false);
    }
}

std::map<std::string, std::string> shown(const ssh::HostSettings& settings, const ssh::ConfigValues& values) {
    std::map<std::string, std::string> decided;
    decided["hostname"] = settings.host_name;
    decided["user"] = settings.user;
    decided["port"] = std::to_string(settings.port);
    if (values.identity_files_given)
        for (const auto& file : settings.identity_files) add(decided["identityfile"], file);
    for (const auto& file : settings.certificate_files) add(decided["certificatefile"], file);
    decided["identitiesonly"] = yes_or_no(settings.identities_only);
    const std::string& agent = settings.agent_socket;
    decided["identityagent"] = agent.empty() ? "(none)" : agent == "(environment)" ? "" : agent;
    for (const auto& file : settings.user_known_hosts) add(decided["userknownhostsfile"], file);
    for (const auto& file : settings.global_known_hosts) add(decided["globalknownhostsfile"], file);
    decided["stricthostkeychecking"] = settings.host_keys == HostKeyPolicy::off          ? "off"
                                       : settings.host_keys == HostKeyPolicy::accept_new ? "accept-new"
                                                                                         : "strict";
    decided["hostkeyalias"] = settings.host_key_alias;
    if (values.connect_timeout && values.connect_timeout->count() > 0)
        decided["connecttimeout"] = seconds(settings.connect_timeout);
    decided["serveraliveinterval"] = values.alive_interval ? seconds(settings.alive_interval) : "0";
    decided["serveralivecountmax"] = std::to_string(settings.alive_count_max);
    for (const auto& hop : settings.proxy_jump)
        decided["proxyjump"] += (decided["proxyjump"].empty() ? "" : ",") + hop;
    decided["proxycommand"] = settings.proxy_command;
    decided["preferredauthentications"] = values.preferred_authentications.value_or("");
    decided["pubkeyauthentication"] = yes_or_no(values.pubkey_authentication.value_or(true));
    decided["passwordauthentication"] = yes_or_no(values.password_authentication.value_or(true));
    decided["kbdinteractiveauthentication"] = yes_or_no(values.kbd_interactive_authentication.value_or(true));
    decided["addressfamily"] = settings.family == ssh::AddressFamily::inet    ? "inet"
                               : settings.family == ssh::AddressFamily::inet6 ? "inet6"
                                                                              : "any";
    decided["bindaddress"] = settings.bind_address;
    decided["batchmode"] = yes_or_no(values.batch_mode.value_or(false));
    decided["hashknownhosts"] = yes_or_no(values.hash_known_hosts.value_or(false));
    return decided;
}

Decided only_compared(std::map<std::string, std::string> decided) {
    std::map<std::string, std::string> kept;
    for (const auto& keyword : compared_keywords()) kept[keyword] = decided[keyword];
    return kept;
}

}  // namespace

const std::vector<std::string>& compared_keywords() {
    static const std::vector<std::string> keywords{"hostname",
                                                   "user",
                                                   "port",
                                                   "identityfile",
                                                   "certificatefile",
                                                   "identitiesonly",
                                                   "identityagent",
                                                   "userknownhostsfile",
                                                   "globalknownhostsfile",
                                                   "stricthostkeychecking",
                                                   "hostkeyalias",
                                                   "connecttimeout",
                                                   "serveraliveinterval",
                                                   "serveralivecountmax",
                                                   "proxyjump",
                                                   "proxycommand",
                                                   "preferredauthentications",
                                                   "pubkeyauthentication",
                                                   "passwordauthentication",
                                                   "kbdinteractiveauthentication",
                                                   "addressfamily",
                                                   "bindaddress",
                                                   "batchmode",
                                                   "hashknownhosts"};
    return keywords;
}

std::string no_ssh_here() {
    const Printed printed = run("ssh -G -F none host");
    return printed.status == 0 && printed.out.find("hostname host\n") != std::string::npos
               ? ""
               : "ssh -G does not run here (openssh-client)";
}

Decided decided_by_ssh(const std::string& file, const Asked& asked) {
    std::string command = "ssh -G -F " + quoted(file);
    if (!asked.user.empty()) command += " -l " + quoted(asked.user);
    if (asked.port != 0) command += " -p " + std::to_string(asked.port);
    const Printed printed = run(command + " " + quoted(asked.host));
    if (printed.status != 0) return std::nullopt;
    std::map<std::string, std::string> decided;
    // Where the configuration names no file, ssh prints its defaults, which newer versions have changed.
    std::istringstream lines(printed.out);
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("identityfile ~/.ssh/id_")) take(decided, line);
    normalize(decided, asked);
    return only_compared(std::move(decided));
}

Decided decided_by_cleanslate(const std::string& file, const Asked& asked, std::string& why) {
    const Caller me = caller();
    const auto config = ssh::SshConfig::load({file}, true, me.home, me.name);
    if (!config) {
        why = config.error().message;
        return std::nullopt;
    }
    SshOptions options;
    options.home = me.home;
    options.local_user = me.name;
    options.agent_socket = "(environment)";
    Endpoint endpoint{.name = asked.host, .address = asked.host, .user = asked.user, .identity_file = {}};
    ssh::ConfigQuery query{asked.host};
    if (!asked.user.empty()) query.user = asked.user;
    if (asked.port != 0) endpoint.port = query.port = asked.port;
    const auto values = config->values_for(query);
    const auto settings = ssh::settings_for(endpoint, options, *config);
    if (!values || !settings) {
        why = settings ? values.error().message : settings.error().message;
        return std::nullopt;
    }
    return only_compared(shown(*settings, *values));
}

}  // namespace cleanslate::agentless::contract
