#include "inventory/become.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

// Ansible's older words, which it still follows, begin with ansible_sudo.
constexpr std::array<std::string_view, 3> families{"ansible_become", "ansible_sudo", "become"};

// "user" of "ansible_become_user"; empty for `become` itself; nothing: it is about something else.
std::optional<std::string_view> topic(std::string_view name) {
    for (const auto family : families) {
        if (!name.starts_with(family)) continue;
        name.remove_prefix(family.size());
        if (name.empty()) return name;
        if (name[0] == '_') return name.substr(1);
    }
    return std::nullopt;
}

std::optional<bool> truth(std::string word) {
    constexpr std::array<std::string_view, 6> yes{"true", "yes", "on", "y", "1", "t"};
    constexpr std::array<std::string_view, 7> no{"", "false", "no", "off", "n", "0", "f"};
    for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (std::ranges::find(yes, word) != yes.end()) return true;
    if (std::ranges::find(no, word) != no.end()) return false;
    return std::nullopt;
}

std::unexpected<Error> wrong(std::string_view file, yaml::Mark mark, std::string_view name,
                             std::string_view problem, std::string_view remedy) {
    return fail("inventory", fmt::format("{}: {}: {}", yaml::place(file, mark), printable(name), problem),
                std::string(remedy));
}

}  // namespace

bool is_about_become(std::string_view name) { return topic(name).has_value(); }

bool is_become_password(std::string_view name) {
    const auto about = topic(name);
    return about == "pass" || about == "password";
}

Result<std::optional<bool>> read_become(std::string_view file, const yaml::Node& key,
                                        const yaml::Node& value) {
    const std::string_view name = key.text();
    const auto about = topic(name).value_or("");
    if (value.is_null()) return std::nullopt;
    const auto text = std::string(value.is_scalar() && value.tag().empty() ? value.text() : "?");
    if (text.find("{{") != std::string::npos)
        return wrong(file, value.mark, name, "templates are not evaluated here", "write the value out");
    if (about.empty()) {
        if (const auto said = truth(text)) return said;
        return wrong(file, value.mark, name, "found neither true nor false",
                     "write true (run as root through sudo) or false");
    }
    if (about == "user") {
        if (text == "root" || text.empty()) return std::nullopt;
        return wrong(file, value.mark, name, "becoming another user than root does not exist",
                     "write root, which sees and signals everybody's processes; or log in as that user");
    }
    if (about == "method") {
        if (text == "sudo" || text == "ansible.builtin.sudo" || text.empty()) return std::nullopt;
        return wrong(file, value.mark, name, "only sudo is used here",
                     "write sudo, or log in as root where a host has none");
    }
    return wrong(file, key.mark, name, "sudo is called in one way here",
                 "leave it out; `become: true` is sudo to root, without options of one's own");
}

}  // namespace cleanslate::inventory
