// Keys of a description that are about a host around its GPUs.

#include <cerrno>
#include <cstdlib>

#include "tests/fleet/description_words.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

// "4096", "3MiB", "2GiB" -> bytes.
std::optional<long> byte_count(std::string text) {
    long unit = 1;
    if (text.ends_with("MiB")) unit = 1 << 20;
    if (text.ends_with("GiB")) unit = 1 << 30;
    if (unit > 1) text.resize(text.size() - 3);
    const auto count = to_number(text);
    if (!count) return std::nullopt;
    return *count * unit;
}

std::string take_shm(Host& host, const std::string& value) {
    const auto words = split(value, ' ');
    const bool used = words.size() == 6 && one_of(words[4], {"open", "mapped"});
    if (words.size() != 4 && !used) return "'shm NAME SIZE OWNER AGE [open|mapped PROCESS]' is wanted";
    const auto bytes = byte_count(words[1]);
    const auto age = duration_ms(words[3]);
    if (!bytes || !age || find_user(words[2]) == nullptr)
        return "a size such as 3MiB, a user and an age such as 2h are wanted";
    host.shm.push_back({unescape(words[0]), *bytes, words[2], *age / 1000, used ? words[5] : "",
                        used && words[4] == "mapped"});
    return {};
}

// What a login by ssh leaves in a process list.
void add_login(Host& host, const SessionSpec& session) {
    const std::string scope = "/user.slice/user-" + std::to_string(find_user(session.user)->uid) +
                              ".slice/session-" + session.id + ".scope";
    ProcessSpec monitor;
    monitor.name = "login-" + session.id;
    monitor.exe = "/usr/local/bin/sshd";
    monitor.argv = {"sshd: " + session.user + " [priv]"};
    monitor.cgroup = scope;
    monitor.expect = "same";
    ProcessSpec server = monitor;
    server.name += "-server";
    server.parent = monitor.name;
    server.argv = {"sshd: " + session.user + "@pts/0"};
    server.user = session.user;
    server.own_session = false;
    server.cgroup.clear();
    ProcessSpec shell = server;
    shell.name = "shell-" + session.id;
    shell.exe = "/usr/local/bin/bash";
    shell.argv = {"-bash"};
    shell.parent = server.name;
    shell.own_session = true;
    shell.has_tty = true;
    for (auto& spec : {monitor, server, shell}) host.processes.push_back(spec);
}

std::string take_session(Host& host, const std::string& value) {
    const auto words = split(value, ' ');
    if (words.size() != 3 || find_user(words[1]) == nullptr || !one_of(words[2], {"alive", "closing"}))
        return "'login-session ID USER alive|closing' is wanted";
    host.sessions.push_back({words[0], words[1], words[2] == "alive"});
    if (host.sessions.back().alive) add_login(host, host.sessions.back());
    return {};
}

std::string take_managed(Host& host, const std::string& value) {
    const auto words = split(value, ' ');
    if (words.size() != 2 || !one_of(words[1], {"stop-fails", "stop-hangs", "start-fails"}))
        return "'unit NAME stop-fails|stop-hangs|start-fails' is wanted";
    host.managed[words[0]] = words[1];
    return {};
}

}  // namespace

std::string unescape(const std::string& text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
        if (next == '\0') {
            bytes += text[i];
            continue;
        }
        ++i;
        if (next == 'x' && i + 2 < text.size()) {
            bytes += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
            i += 2;
        } else {
            bytes += next == 'n'   ? '\n'
                     : next == 't' ? '\t'
                     : next == 'e' ? '\x1b'
                     : next == 's' ? ' '
                                   : next;
        }
    }
    return bytes;
}

std::string take_site_key(Host& host, const std::string& key, const std::string& value) {
    if (key == "shm") return take_shm(host, value);
    if (key == "login-session") return take_session(host, value);
    if (key == "unit") return take_managed(host, value);
    if (key == "sshd") {
        if (split(value, ' ').size() < 2) return "'sshd OPTION VALUE' is wanted";
        host.sshd.push_back(value);
        return {};
    }
    if (key == "nvswitch") return set(host.nvswitch, yes_no(value), "yes or no");
    if (key == "systemd") return set(host.systemd, yes_no(value), "yes or no");
    if (key == "reboot-time") return set(host.reboot_ms, duration_ms(value), "a duration such as 300ms");
    if (key != "reboot") return "unknown key " + key;
    host.reboot = value;
    return one_of(value, {"ok", "never", "same", "fails"}) ? "" : "ok, never, same or fails is wanted";
}

}  // namespace cleanslate::simulated
