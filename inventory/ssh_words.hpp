#pragma once
// The words of ssh's command line. Private to what reads its options. Errors have kind "inventory" and no
// place.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::inventory {

// What a backslash takes its meaning from inside of "...": Ansible splits its options with Python's shlex,
// and what it hands on (ProxyCommand) a shell reads. Before anything else the backslash stays.
constexpr std::string_view escaped_for_ansible = "\"\\", escaped_for_a_shell = "\"\\$`";

// Words as a shell has them: blanks, quotes and backslashes. Nothing where a quote has no end.
std::optional<std::vector<std::string>> shell_words(std::string_view text,
                                                    std::string_view escaped_in_quotes);

std::unexpected<Error> unknown_ssh_option(std::string_view option);
std::unexpected<Error> bad_ssh_value(std::string_view option, std::string_view value,
                                     std::string_view wanted);

// 1 to 65535.
Result<std::uint16_t> ssh_port(std::string_view text);

// Who is told what stands there.
struct SshWords {
    std::function<Status(char option, const std::string& value)> letter;              // -p 22
    std::function<Status(const std::string& key, const std::string& value)> setting;  // -o Port=22: "port"
    std::function<Status(const std::string& word)> plain;                             // without a dash
};

// Goes through the options. What changes nothing here (-C, ControlMaster, LogLevel, ...) is told to nobody;
// letters without a value that might are errors, and so is the first error of `told`.
Status each_ssh_option(const std::vector<std::string>& words, const SshWords& told);

// Puts what was read into the slot, if nothing is there.
template <class T>
Status keep(std::optional<T>& slot, Result<T> read) {
    if (!read) return std::unexpected(read.error());
    if (!slot) slot = std::move(*read);
    return {};
}

}  // namespace cleanslate::inventory
