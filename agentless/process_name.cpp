#include "agentless/process_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

constexpr std::size_t comm_length = 15;

const std::vector<std::string_view> shells = {"sh",   "dash", "bash",    "rbash", "zsh",    "rzsh", "fish",
                                              "csh",  "tcsh", "bsd-csh", "ksh",   "ksh93",  "mksh", "lksh",
                                              "yash", "posh", "ash",     "nu",    "elvish", "pwsh", "xonsh",
                                              "rc",   "es",   "busybox", "toybox"};

const std::vector<std::string_view> other_interpreters = {"perl*", "ruby*", "node", "nodejs"};

// Whether a short option cluster such as "-um" takes its value from the next argument. Python's are c and m
// (which end the options) and W and X.
bool value_follows(std::string_view cluster) {
    const auto at = cluster.find_first_of("WXcm", 1);
    return at != std::string_view::npos && at + 1 == cluster.size();
}

}  // namespace

std::string_view base_name(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view name_of(const Process& process) {
    return process.exe ? base_name(*process.exe) : process.comm;
}

std::string title_of(const Process& process) {
    return fmt::format("pid {} ({})", process.key.pid, printable(name_of(process)));
}

std::string owner_of(const Process& process) {
    if (!process.user.empty()) return printable(process.user);
    return process.uid ? fmt::format("uid {}", *process.uid) : "an unknown user";
}

bool fits(std::string_view entry, std::string_view name) {
    if (entry.empty()) return false;
    if (entry.back() == '*') return name.starts_with(entry.substr(0, entry.size() - 1));
    return entry == name;
}

bool fits_any(const std::vector<std::string_view>& entries, std::string_view name) {
    return std::ranges::any_of(entries, [&](std::string_view entry) { return fits(entry, name); });
}

bool fits_comm(std::string_view entry, std::string_view comm) {
    if (entry.size() <= comm_length || comm.size() < comm_length) return fits(entry, comm);
    return entry.substr(0, comm_length) == comm;
}

bool is_python(std::string_view name) {
    for (const std::string_view stem : {"python", "pypy"}) {
        if (!name.starts_with(stem)) continue;
        return name.substr(stem.size()).find_first_not_of("0123456789.td") == std::string_view::npos;
    }
    return false;
}

bool is_slurmstepd(const Process& process) {
    const auto name = name_of(process);
    return name == "slurmstepd" || name == "slurmstepd-wlm";  // Debian's
}

bool is_shell(const Process& process) { return fits_any(shells, name_of(process)); }

bool is_interpreter(const Process& process) {
    const auto name = name_of(process);
    return is_python(name) || fits_any(other_interpreters, name) || is_shell(process);
}

std::optional<std::string_view> python_script(const Process& process) {
    if (!process.argv || !is_python(name_of(process))) return std::nullopt;
    const auto& argv = *process.argv;
    for (std::size_t i = 1; i < argv.size(); ++i) {
        const std::string_view argument = argv[i];
        if (!argument.starts_with('-') || argument == "-") return base_name(argument);
        if (argument == "--check-hash-based-pycs") ++i;
        if (argument.starts_with("--")) continue;
        const auto end_of_options = argument.find_first_of("cm", 1);
        const auto with_value = argument.find_first_of("WX", 1);
        if (end_of_options < with_value) {
            if (argument[end_of_options] == 'c') return std::nullopt;
            if (end_of_options + 1 < argument.size()) return argument.substr(end_of_options + 1);
            return i + 1 < argv.size() ? std::optional<std::string_view>(argv[i + 1]) : std::nullopt;
        }
        if (value_follows(argument)) ++i;
    }
    return std::nullopt;
}

}  // namespace cleanslate::agentless
