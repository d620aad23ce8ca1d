#include "agentless/command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "remote_scripts.hpp"

namespace cleanslate::agentless {

namespace {

// One word for sh, whatever is in it; a NUL ends a value there anyhow.
std::string quoted(std::string_view value) {
    std::string word = "'";
    for (const char c : value.substr(0, value.find('\0'))) {
        if (c == '\'')
            word += "'\\''";
        else
            word += c;
    }
    return word + "'";
}

}  // namespace

std::string command_script(std::string_view command, Milliseconds timeout, std::string_view nonce,
                           const Environment& environment) {
    const auto seconds = std::max<long long>(1, (timeout.count() + 999) / 1000);
    std::string exports;
    for (const auto& [name, value] : environment)
        exports += fmt::format("{0}={1}\nexport {0}\n", name, quoted(value));
    return fmt::format("{}\n{}cleanslate_command() {{\n:\n{}\n}}\ncleanslate_run {} {}\n",
                       scripts::command_sh, exports, command, seconds, nonce);
}

CommandOutput read_command(std::string out, std::string_view nonce) {
    const auto mark = fmt::format("\nend {} ", nonce);
    const auto at = out.rfind(mark);
    if (at == std::string::npos) return {std::move(out), std::nullopt};
    const auto line_end = out.find('\n', at + 1);
    if (line_end == std::string::npos) return {std::move(out), std::nullopt};
    const auto status =
        parse_number(std::string_view(out).substr(at + mark.size(), line_end - at - mark.size()));
    if (!status || *status > 255) return {std::move(out), std::nullopt};
    // What a child left in the background printed after the end record stays.
    out.erase(at, line_end + 1 - at);
    return {std::move(out), static_cast<int>(*status)};
}

}  // namespace cleanslate::agentless
