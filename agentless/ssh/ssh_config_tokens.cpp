#include "agentless/ssh/ssh_config_tokens.hpp"

#include <pwd.h>

#include <cstdlib>
#include <vector>

#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

const std::string* value_of(char letter, const TokenValues& values) {
    switch (letter) {
        case 'd':
            return &values.home;
        case 'h':
            return &values.host_name;
        case 'i':
            return &values.uid;
        case 'k':
            return &values.key_alias;
        case 'L':
            return &values.local_host_short;
        case 'l':
            return &values.local_host;
        case 'n':
            return &values.name;
        case 'p':
            return &values.port;
        case 'r':
            return &values.user;
        case 'u':
            return &values.local_user;
        default:
            return nullptr;
    }
}

std::string listed(std::string_view letters) {
    std::string text = "%%";
    for (const char letter : letters) text += std::string(" %") + letter;
    return text;
}

// `at` is that of a percent sign, and moves to the letter.
Status add_token(std::string& out, std::string_view text, std::size_t& at, std::string_view known,
                 const TokenValues& values) {
    const char letter = ++at < text.size() ? text[at] : '\0';
    if (letter == '%') {
        out += '%';
        return {};
    }
    const std::string* value =
        known.find(letter) == std::string_view::npos ? nullptr : value_of(letter, values);
    if (value == nullptr)
        return fail("usage", "unknown token %" + printable(text.substr(at, letter == '\0' ? 0 : 1)),
                    "write %% for a percent sign; here are " + listed(known));
    out += *value;
    return {};
}

// `at` is that of "${", and moves to the "}".
Status add_variable(std::string& out, std::string_view text, std::size_t& at) {
    const auto end = text.find('}', at);
    if (end == std::string_view::npos) return fail("usage", "${ without }");
    const std::string name(text.substr(at + 2, end - at - 2));
    const char* value = std::getenv(name.c_str());
    if (value == nullptr)
        return fail("usage", "the environment variable ${" + printable(name) + "} is not set", "set it");
    out += value;
    at = end;
    return {};
}

Result<std::string> expand(std::string_view text, std::string_view known, const TokenValues& values,
                           bool environment) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        Status added;
        if (text[at] == '%')
            added = add_token(out, text, at, known, values);
        else if (environment && text.substr(at).starts_with("${"))
            added = add_variable(out, text, at);
        else
            out += text[at];
        if (!added) return std::unexpected(added.error());
    }
    return out;
}

Result<std::string> home_of(const std::string& user) {
    std::vector<char> buffer(1 << 14);
    passwd entry{}, *found = nullptr;
    if (::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
        return fail("usage", "there is no user " + printable(user) + " whose home directory is asked for");
    return std::string(found->pw_dir);
}

}  // namespace

Result<std::string> expand_tokens(std::string_view text, std::string_view known, const TokenValues& values) {
    return expand(text, known, values, false);
}

Result<std::string> expand_tokens_and_environment(std::string_view text, std::string_view known,
                                                  const TokenValues& values) {
    return expand(text, known, values, true);
}

Result<std::string> expand_tilde(std::string_view path, const std::string& home) {
    if (!path.starts_with('~')) return std::string(path);
    const auto slash = path.find('/');
    const std::string user(path.substr(1, slash == std::string_view::npos ? slash : slash - 1));
    Result<std::string> folder = user.empty() ? Result<std::string>(home) : home_of(user);
    if (!folder) return folder;
    const std::string_view rest =
        slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    return *folder + (folder->ends_with('/') ? "" : "/") + std::string(rest);
}

bool is_safe_for_shell(std::string_view text) {
    if (text.empty() || text.front() == '-' || text.back() == '\\') return false;
    for (const char c : text)
        if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f ||
            std::string_view("'`\"$;&<>|(){}*?!#\n").find(c) != std::string_view::npos)
            return false;
    return true;
}

}  // namespace cleanslate::agentless::ssh
