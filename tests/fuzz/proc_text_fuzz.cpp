// Properties of what is read out of /proc, each against a naive second reader of the same text. A stat line
// that is accepted says just what stands in it, one that is not leaves the process as it was, and no name a
// process gives itself changes another field. A cgroup path is one of the lines'. Arguments put together
// again are the text. Device files are the numbers that stand in the list, once each.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/proc_text.hpp"

namespace {

using namespace cleanslate::agentless;

void expect(bool holds) {
    if (!holds) std::abort();
}

std::vector<std::string> pieces(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

bool digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Digits, as the shortest text of the same number.
std::string plain(std::string text) {
    while (text.size() > 1 && text.front() == '0') text.erase(text.begin());
    return text;
}

// --- /proc/PID/stat ---------------------------------------------------------------------------------------

bool same(const Process& a, const Process& b) {
    return a.key == b.key && a.parent == b.parent && a.session == b.session && a.state == b.state &&
           a.kernel_thread == b.kernel_thread && a.comm == b.comm;
}

void check_stat(std::string_view text) {
    Process before;
    before.key = {77, 88};
    before.parent = 99;
    before.session = 66;
    before.state = 'q';
    before.comm = "before";
    Process process = before;
    if (!read_stat(text, process)) return expect(same(process, before));
    // The text again, from what was read: everything in front of the state, byte for byte.
    const auto close = text.rfind(')');
    const auto open = text.find(" (");
    expect(close != std::string_view::npos && open < close);
    expect(plain(std::string(text.substr(0, open))) == std::to_string(process.key.pid));
    expect(process.key.pid > 0);
    expect(text.substr(open + 2, close - open - 2) == process.comm);
    std::string rest(text.substr(close + 1));
    while (!rest.empty() &&
           (rest.back() == '\n' || rest.back() == ' ' || rest.back() == '\r' || rest.back() == '\t'))
        rest.pop_back();
    rest.erase(0, rest.find_first_not_of(" \t\r\n"));
    const auto fields = pieces(rest, ' ');
    expect(fields.size() >= 20 && fields[0].size() == 1);
    expect(process.state == fields[0][0] || (process.state == '?' && fields[0][0] == 'Z'));
    expect(plain(fields[1]) == std::to_string(process.parent));
    expect(plain(fields[3]) == std::to_string(process.session) || process.session == 0);
    expect(digits(fields[6]));
    expect(plain(fields[19]) == std::to_string(process.key.start));
}

// A process that calls itself `comm` is read as what it is.
void check_stat_with(std::string_view comm) {
    for (const char state : {'R', 'Z'}) {
        const std::string line = "4194304 (" + std::string(comm) + ") " + std::string(1, state) +
                                 " 812 813 814 0 -1 2097216 1 2 3 4 5 6 7 8 20 0 1 0 18446744073709551615 "
                                 "11 12\n";
        Process process;
        expect(read_stat(line, process));
        expect(process.key == ProcessKey{4194304, 18446744073709551615U} && process.parent == 812);
        expect(process.session == 814 && process.state == state && process.kernel_thread);
        expect(process.comm == comm);
    }
}

// --- /proc/PID/cgroup -------------------------------------------------------------------------------------

void check_cgroup(std::string_view text) {
    std::vector<std::string> paths;
    for (const auto& line : pieces(text, '\n')) {
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second != std::string::npos && line.substr(second + 1).starts_with('/'))
            paths.push_back(line.substr(second + 1));
    }
    const auto best = best_cgroup(text);
    expect(best.has_value() == !paths.empty());
    if (best) expect(std::find(paths.begin(), paths.end(), *best) != paths.end());
}

// Whatever stands in the lines of other controllers, as long as that is no job, pod or container, the v2 line
// with a path of its own is the best.
void check_cgroup_with(std::string_view text) {
    std::string path;
    for (const char c : text)
        if (c != '\n') path += c;
    if (path.empty()) return;
    expect(best_cgroup("12:devices:/" + std::string(300, 'x') + "\n0::/" + path + "\n") == "/" + path);
    expect(best_cgroup("5:name=systemd:/" + path + "\n0::/\n3:cpu,cpuacct:/" + path + "/!\n") == "/" + path);
    expect(best_cgroup("3:cpu,cpuacct:/" + path + "\n1:devices:/\n0::/\n") == "/" + path);
}

// --- /proc/PID/cmdline ------------------------------------------------------------------------------------

void check_arguments(std::string_view text) {
    const auto arguments = split_arguments(text);
    expect(arguments.size() <= text.size());
    std::string together;
    for (const auto& argument : arguments) {
        expect(argument.find('\0') == std::string::npos);
        together += argument;
        together += '\0';
    }
    expect(arguments.empty() || !arguments.back().empty());
    // What was dropped are NULs at the end and nothing else.
    if (!together.empty()) together.pop_back();
    expect(text.starts_with(together));
    expect(text.substr(together.size()).find_first_not_of('\0') == std::string_view::npos);
}

void check_arguments_with(std::string_view text) {
    std::string joined;
    auto wanted = pieces(text, '\x01');
    for (auto& argument : wanted) {
        std::erase(argument, '\0');
        joined += argument;
        joined += '\0';
    }
    while (!wanted.empty() && wanted.back().empty()) wanted.pop_back();
    expect(split_arguments(joined) == wanted);
}

// --- lists of device files --------------------------------------------------------------------------------

// A number that may be one of a device file, up to 1000000.
bool is_device_number(const std::string& text) {
    return digits(text) && (plain(text).size() <= 6 || plain(text) == "1000000");
}

void expect_same(const std::vector<int>& numbers, const std::set<std::string>& wanted) {
    expect(numbers.size() == wanted.size() && std::is_sorted(numbers.begin(), numbers.end()));
    for (const int number : numbers) expect(wanted.contains(std::to_string(number)));
}

void check_device_files(std::string_view text) {
    std::set<std::string> minors, caps;
    bool control = false, known = true;
    for (const auto& part : pieces(text, ',')) {
        const bool cap = part.starts_with("cap") && is_device_number(part.substr(3));
        if (cap)
            caps.insert(plain(part.substr(3)));
        else if (is_device_number(part))
            minors.insert(plain(part));
        else
            known = known && part == "c";
        control = control || part == "c" || cap;
    }
    const auto files = read_device_files(text);
    expect(files.has_value() == known);
    if (!files) return;
    expect(files->control == control);
    expect_same(files->minors, minors);
    expect_same(files->caps, caps);
}

// --- the driver's version ---------------------------------------------------------------------------------

void check_version(std::string_view text) {
    for (const auto& line : {std::string(text), "NVRM version: " + std::string(text)}) {
        const auto version = driver_version_in(line);
        if (version.empty()) continue;
        const auto words = pieces(line, ' ');
        expect(line.starts_with("NVRM version:"));
        expect(std::find(words.begin(), words.end(), version) != words.end());
        const auto parts = pieces(version, '.');
        expect(parts.size() >= 2 && parts.size() <= 4);
        for (const auto& part : parts) expect(digits(part));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_stat(text);
    check_stat_with(text);
    check_cgroup(text);
    check_cgroup_with(text);
    check_arguments(text);
    check_arguments_with(text);
    check_device_files(text);
    check_version(text);
    return 0;
}
