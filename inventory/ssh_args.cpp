#include "inventory/ssh_args.hpp"

#include "base/text.hpp"
#include "inventory/jumps.hpp"
#include "inventory/names.hpp"
#include "inventory/ssh_words.hpp"

namespace cleanslate::inventory {
namespace {

using Words = std::vector<std::string>;

Result<std::string> path_in(std::string_view option, std::string_view text) {
    if (text.find('%') != std::string_view::npos)
        return bad_ssh_value(option, text, "write the path out, without % and a letter");
    return expand_path(text);
}

Result<Words> paths_in(std::string_view option, std::string_view text) {
    Words paths;
    for (const std::string_view part : split(text, ' ')) {
        if (trim(part).empty()) continue;
        auto path = path_in(option, trim(part));
        if (!path) return std::unexpected(path.error());
        paths.push_back(std::move(*path));
    }
    if (paths.empty()) return bad_ssh_value(option, text, "name a file");
    return paths;
}

Result<HostKeyTrust> trust_in(std::string_view text) {
    if (text == "yes" || text == "true" || text == "ask") return HostKeyTrust::strict;
    if (text == "no" || text == "false" || text == "off") return HostKeyTrust::off;
    if (text == "accept-new") return HostKeyTrust::accept_new;
    return bad_ssh_value("StrictHostKeyChecking", text, "yes, no, ask or accept-new");
}

class Reader {
  public:
    Result<SshArgs> read(const Words& words) {
        const auto fine = each_ssh_option(
            words,
            {.letter = [this](char option, const std::string& value) { return letter(option, value); },
             .setting = [this](const std::string& key, const std::string& value) { return set(key, value); },
             .plain = [](const std::string& word) -> Status { return unknown_ssh_option(word); }});
        if (!fine) return std::unexpected(fine.error());
        return std::move(args_);
    }

  private:
    Status letter(char option, const std::string& value) {
        switch (option) {
            case 'p':
                return set("port", value);
            case 'l':
                return set("user", value);
            case 'i':
                return set("identityfile", value);
            case 'J':
                return set("proxyjump", value);
            default:
                return unknown_ssh_option(std::string{'-', option});
        }
    }

    Status set(const std::string& key, const std::string& value) {
        if (key == "port") return keep(args_.port, ssh_port(value));
        if (key == "proxyjump") return keep(args_.jump, read_hops(value));
        if (key == "proxycommand")
            return keep(args_.jump,
                        value == "none" ? Result<std::string>(value) : hop_of_proxy_command(value));
        if (key == "stricthostkeychecking") return keep(args_.host_keys, trust_in(value));
        if (key == "userknownhostsfile")
            return keep(args_.known_hosts, paths_in("UserKnownHostsFile", value));
        if (key == "globalknownhostsfile")
            return keep(args_.global_known_hosts, paths_in("GlobalKnownHostsFile", value));
        if (key == "user") return set_user(value);
        if (key == "identityfile") return add_identity(value);
        if (key == "connecttimeout") return set_timeout(value);
        return unknown_ssh_option(key);
    }

    Status set_user(const std::string& value) {
        if (auto fine = check_user(value); !fine) return fine;
        return keep(args_.user, Result<std::string>(value));
    }
    Status add_identity(const std::string& value) {
        auto path = path_in("IdentityFile", value);
        if (!path) return std::unexpected(path.error());
        args_.identity_files.push_back(std::move(*path));
        return {};
    }
    Status set_timeout(const std::string& value) {
        const auto seconds = parse_number(value);
        if (!seconds || *seconds < 1 || *seconds > 86'400)
            return bad_ssh_value("ConnectTimeout", value, "1 to 86400 seconds");
        const auto timeout = Milliseconds{static_cast<Milliseconds::rep>(*seconds) * 1'000};
        return keep(args_.connect_timeout, Result<Milliseconds>(timeout));
    }

    SshArgs args_;
};

}  // namespace

Result<SshArgs> read_ssh_args(std::string_view options) {
    const auto words = shell_words(options, escaped_for_ansible);
    if (!words) return fail("inventory", "a quote has no end");
    return Reader().read(*words);
}

}  // namespace cleanslate::inventory
