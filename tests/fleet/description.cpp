#include "tests/fleet/description.hpp"

#include <algorithm>
#include <cerrno>

#include "tests/fleet/description_words.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

// "500ms", "2s", "3h" -> milliseconds; a week at most.
std::optional<long> duration_ms(std::string_view text) {
    long unit = 1;
    if (text.ends_with("ms")) {
        text.remove_suffix(2);
    } else if (text.ends_with("s")) {
        text.remove_suffix(1);
        unit = 1000;
    } else if (text.ends_with("h")) {
        text.remove_suffix(1);
        unit = 3'600'000;
    } else {
        return std::nullopt;
    }
    const auto count = to_number(text);
    if (!count || *count > 604'800'000 / unit) return std::nullopt;
    return *count * unit;
}

std::optional<bool> yes_no(std::string_view text) {
    if (text == "yes") return true;
    if (text == "no") return false;
    return std::nullopt;
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    for (const auto known : words)
        if (word == known) return true;
    return false;
}

namespace {

class Reader {
  public:
    Reader(const std::string& file, const std::string& name) : file_(file) { host_.name = name; }

    Result<Host> read(std::string_view text) {
        host_.text = text;
        host_.folder = folder_of(file_);
        while (!text.empty()) {
            const auto end = text.find('\n');
            ++line_;
            if (const auto problem = take(text.substr(0, end)); !problem.empty()) return wrong(problem);
            if (end == std::string_view::npos) break;
            text.remove_prefix(end + 1);
        }
        return finish();
    }

  private:
    std::unexpected<Error> wrong(const std::string& what) const {
        return fail("simhost", file_ + ":" + std::to_string(line_) + ": " + what);
    }

    std::string take(std::string_view raw) {
        const std::string text = trim(raw);
        if (text.empty() || text[0] == '#') return {};
        const auto blank = text.find_first_of(" \t");
        const std::string key = text.substr(0, blank);
        const std::string value =
            blank == std::string::npos ? "" : trim(std::string_view(text).substr(blank));
        if (value.empty()) return "'" + key + "' has no value";
        const bool indented = raw[0] == ' ' || raw[0] == '\t';
        if (!indented && key == "process") return begin_process(value);
        if (indented && host_.processes.empty()) return "an indented line belongs under 'process NAME'";
        return indented ? take_process_key(host_, host_.processes.back(), key, value) : host_key(key, value);
    }

    std::string begin_process(const std::string& name) {
        if (host_.find(name) != nullptr) return "a second process " + name;
        host_.processes.emplace_back().name = name;
        return {};
    }

    std::string host_key(const std::string& key, const std::string& value) {
        if (key == "name") return host_.name = value, "";
        if (key == "about") return host_.about = value, "";
        if (key == "expect") return host_.expect = value, "";
        if (key == "mention") return host_.mention = value, "";
        if (key == "model") return host_.model = value, "";
        if (key == "shell") return host_.shell = value, "";
        if (key == "bashrc") return host_.bashrc = value, "";
        if (key == "driver") {
            host_.driver = value;
            return one_of(value, {"ok", "hang", "wedged", "frozen", "not-loaded", "mismatch", "nvml-unknown",
                                  "no-permission", "no-devices", "no-library", "not-runnable", "missing"})
                       ? ""
                       : "unknown driver state " + value;
        }
        if (key == "driver-version") return host_.driver_version = value, "";
        if (key == "smi-lacks") return take_lacks(host_, value);
        if (key == "smi-status") return set(host_.smi_status, to_number(value), "an exit status");
        if (key == "hang-on") return host_.hang_on = value, "";
        if (key == "total") return set(host_.total_mib, to_number(value), "a number of MiB");
        if (key == "slow") return set(host_.slow_ms, duration_ms(value), "a duration such as 500ms");
        if (key == "release") return set(host_.release_ms, duration_ms(value), "a duration such as 150ms");
        if (key == "container") return set(host_.container, yes_no(value), "yes or no");
        if (key == "unreachable") return set(host_.unreachable, yes_no(value), "yes or no");
        if (key == "gpus") return take_gpus(host_, value);
        if (key == "minors") return take_minors(host_, value);
        if (key == "gpu") return take_gpu(host_, value);
        if (key == "pci-extra") return take_pci_extra(host_, value);
        if (key != "inventory") return take_site_key(host_, key, value);
        const auto words = split(value, ' ');
        if (words.size() != 2) return "'inventory KEY VALUE' is wanted";
        host_.inventory[words[0]] = words[1];
        return {};
    }

    Result<Host> finish() {
        for (auto& process : host_.processes)
            if (const auto problem = finish_process(process); !problem.empty()) return wrong(problem);
        return host_;
    }

    std::string file_;
    Host host_;
    int line_ = 0;
};

}  // namespace

bool ProcessSpec::plays_a_part() const {
    return exe.starts_with("/opt/") || exe.starts_with("/usr/local/bin/") || exe.starts_with("/home/");
}

const ProcessSpec* Host::find(std::string_view process) const {
    for (const auto& spec : processes)
        if (spec.name == process) return &spec;
    return nullptr;
}

long Host::clock_ahead_s() const {
    long ahead = 0;
    for (const auto& file : shm) ahead = std::max(ahead, file.age_s);
    return ahead;
}

bool Host::needs_wedge() const {
    for (const auto& process : processes)
        if (process.wedged || !process.unreadable.empty() || process.teardown_ms > 0) return true;
    return driver == "wedged";
}

bool Host::needs_freezer() const {
    for (const auto& process : processes)
        if (process.freezes_readers || process.frozen) return true;
    return driver == "frozen";
}

Result<Host> parse_host(std::string_view text, const std::string& file, const std::string& name) {
    return Reader(file, name).read(text);
}

std::string reset_file() { return std::string(host_folder) + "/reset"; }

Host this_host() {
    const std::string file = std::string(host_folder) + "/host";
    errno = 0;
    const auto text = read_file(file);
    need(text.has_value(), "this is no simulated host: " + file);
    auto host = parse_host(*text, file, "unnamed");
    if (!host) die(host.error().message);
    // What was reset since, or came up again with the machine.
    for (const auto& line : split(read_file(reset_file()).value_or(""), '\n'))
        for (auto& gpu : host->gpus)
            if (line == std::to_string(gpu.index)) gpu.state = "ok", gpu.idle_mib = 0;
    errno = 0;
    return *host;
}

const std::vector<User>& users() {
    static const std::vector<User> all{{"root", 0},      {"sshd", 101},   {"nvidia-persistenced", 120},
                                       {"slurm", 64030}, {"alice", 1001}, {"bob", 1002},
                                       {"carol", 1003},  {"dave", 1004},  {"nobody", 65534}};
    return all;
}

const User* find_user(std::string_view name) {
    for (const auto& user : users())
        if (name == user.name) return &user;
    return nullptr;
}

}  // namespace cleanslate::simulated
