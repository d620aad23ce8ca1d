#include "inventory/names.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_length = 255;

std::string quote(std::string_view text) { return fmt::format("\"{}\"", ellipsize(printable(text), 60)); }

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

bool is_blank_or_control(char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7F; }

std::string remedy_for(std::string_view text) {
    if (text.find("{{") != std::string_view::npos)
        return "templates are not evaluated here: write the value out";
    if (text.find('@') != std::string_view::npos) return "the user has its own variable: ansible_user";
    if (text.find(':') != std::string_view::npos) return "the port has its own variable: ansible_port";
    return "letters, digits, dots, dashes and underscores, beginning with a letter, a digit or an underscore";
}

Status check_word(std::string_view text, std::string_view what) {
    if (text.empty()) return fail("inventory", fmt::format("an empty {}", what));
    if (text.size() > max_length) {
        return fail("inventory",
                    fmt::format("{} is a {} of more than {} bytes", quote(text), what, max_length));
    }
    const bool first = is_word(text.front()) && text.front() != '-' && text.front() != '.';
    if (first && std::ranges::all_of(text, is_word)) return {};
    return fail("inventory", fmt::format("{} is no {}", quote(text), what), remedy_for(text));
}

}  // namespace

bool is_ipv6(std::string_view text) {
    if (text.size() > max_length || text.find(':') == std::string_view::npos) return false;
    const auto percent = text.find('%');
    if (percent != std::string_view::npos) {
        const auto scope = text.substr(percent + 1);
        if (scope.empty() || !std::ranges::all_of(scope, is_word)) return false;
    }
    const std::string address(text.substr(0, percent));
    in6_addr parsed{};
    return address.find('\0') == std::string::npos && inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

std::string_view without_brackets(std::string_view text) {
    const bool brackets = text.size() > 2 && text.front() == '[' && text.back() == ']';
    return brackets && is_ipv6(text.substr(1, text.size() - 2)) ? text.substr(1, text.size() - 2) : text;
}

Status check_host_name(std::string_view name) {
    return is_ipv6(name) ? Status() : check_word(name, "host name");
}

Status check_group_name(std::string_view name) { return check_word(name, "group name"); }

Status check_address(std::string_view address) {
    return is_ipv6(address) ? Status() : check_word(address, "host name or address");
}

Status check_user(std::string_view user) {
    if (user.empty()) return fail("inventory", "an empty user name");
    const bool fine = user.size() <= max_length && user.front() != '-' &&
                      user.find("{{") == std::string_view::npos &&
                      std::ranges::none_of(user, is_blank_or_control);
    if (fine) return {};
    return fail("inventory", fmt::format("{} is no user name", quote(user)),
                user.find("{{") != std::string_view::npos
                    ? remedy_for(user)
                    : "no blanks, no control bytes, no dash in front, at most 255 bytes");
}

Result<std::string> expand_path(std::string_view path) {
    const bool control =
        std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
    if (path.empty() || control || path.find("{{") != std::string_view::npos) {
        return fail("inventory", fmt::format("{} is no path", quote(path)),
                    path.find("{{") != std::string_view::npos ? remedy_for(path) : "");
    }
    if (path.front() != '~') return std::string(path);
    const char* home = std::getenv("HOME");
    if (path.size() > 1 && path[1] != '/') {
        return fail("inventory", fmt::format("{}: the home folder of another user", quote(path)),
                    "write the path out; only ~ and ~/... are expanded");
    }
    if (home == nullptr || *home == '\0') {
        return fail("inventory", fmt::format("{}: HOME is not set", quote(path)), "write the path out");
    }
    return std::string(home).append(path.substr(1));
}

}  // namespace cleanslate::inventory
