#include "tests/fleet/description.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

// "500ms", "2s" -> milliseconds.
std::optional<long> duration_ms(std::string_view text) {
    long unit = 1;
    if (text.ends_with("ms")) {
        text.remove_suffix(2);
    } else if (text.ends_with("s")) {
        text.remove_suffix(1);
        unit = 1000;
    } else {
        return std::nullopt;
    }
    const auto count = to_number(text);
    if (!count || *count > 86'400'000) return std::nullopt;
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

std::string make_uuid(const std::string& host, int index) {
    std::uint64_t hash = 1469598103934665603U;
    for (const char c : host + "/" + std::to_string(index))
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    char text[64];
    std::snprintf(text, sizeof text, "GPU-%08x-%04x-4%03x-a%03x-%012llx", static_cast<unsigned>(hash >> 32),
                  static_cast<unsigned>(hash >> 16 & 0xffff), static_cast<unsigned>(hash >> 4 & 0xfff),
                  static_cast<unsigned>(hash & 0xfff),
                  static_cast<unsigned long long>(hash & 0xffffffffffffU));
    return text;
}

// Bus ids of an eight-GPU HGX board; more GPUs follow on.
std::string make_bus_id(int index) {
    constexpr std::array buses{0x18, 0x2a, 0x3a, 0x5d, 0x9a, 0xab, 0xba, 0xdb};
    const int bus = index < 8 ? buses[static_cast<std::size_t>(index)] : 0xdc + index - 8;
    char text[32];
    std::snprintf(text, sizeof text, "00000000:%02X:00.0", static_cast<unsigned>(bus));
    return text;
}

struct Line {
    std::string key;
    std::string value;
    bool indented = false;
};

class Reader {
  public:
    Reader(const std::string& file, const std::string& name) : file_(file) { host_.name = name; }

    Result<Host> read(std::string_view text) {
        host_.text = text;
        host_.folder = folder_of(file_);
        while (!text.empty()) {
            const auto end = text.find('\n');
            ++line_;
            if (!take(text.substr(0, end))) return wrong(problem_);
            if (end == std::string_view::npos) break;
            text.remove_prefix(end + 1);
        }
        return finish();
    }

  private:
    std::unexpected<Error> wrong(const std::string& what) const {
        return fail("simhost", file_ + ":" + std::to_string(line_) + ": " + what);
    }
    bool no(const std::string& what) {
        problem_ = what;
        return false;
    }

    bool take(std::string_view raw) {
        const std::string text = trim(raw);
        if (text.empty() || text[0] == '#') return true;
        const auto blank = text.find_first_of(" \t");
        const std::string key = text.substr(0, blank);
        const std::string value =
            blank == std::string::npos ? "" : trim(std::string_view(text).substr(blank));
        if (value.empty()) return no("'" + key + "' has no value");
        const bool indented = raw[0] == ' ' || raw[0] == '\t';
        if (!indented && key == "process") return begin_process(value);
        if (indented && host_.processes.empty()) return no("an indented line belongs under 'process NAME'");
        return indented ? process_key(host_.processes.back(), key, value) : host_key(key, value);
    }

    bool begin_process(const std::string& name) {
        if (host_.find(name) != nullptr) return no("a second process " + name);
        host_.processes.emplace_back().name = name;
        return true;
    }

    template <class T, class U>
    bool set(T& field, const std::optional<U>& value, const std::string& want) {
        if (!value) return no(want + " is wanted");
        field = static_cast<T>(*value);
        return true;
    }

    bool host_key(const std::string& key, const std::string& value) {
        if (key == "name") return host_.name = value, true;
        if (key == "about") return host_.about = value, true;
        if (key == "expect") return host_.expect = value, true;
        if (key == "mention") return host_.mention = value, true;
        if (key == "model") return host_.model = value, true;
        if (key == "shell") return host_.shell = value, true;
        if (key == "bashrc") return host_.bashrc = value, true;
        if (key == "driver") {
            host_.driver = value;
            return one_of(value, {"ok", "hang", "wedged", "not-loaded", "mismatch", "nvml-unknown",
                                  "no-devices", "no-library", "missing"}) ||
                   no("unknown driver state " + value);
        }
        if (key == "total") return set(host_.total_mib, to_number(value), "a number of MiB");
        if (key == "slow") return set(host_.slow_ms, duration_ms(value), "a duration such as 500ms");
        if (key == "release") return set(host_.release_ms, duration_ms(value), "a duration such as 150ms");
        if (key == "container") return set(host_.container, yes_no(value), "yes or no");
        if (key == "unreachable") return set(host_.unreachable, yes_no(value), "yes or no");
        if (key == "gpus") return make_gpus(value);
        if (key == "minors") return set_minors(value);
        if (key == "gpu") return gpu_key(value);
        return no("unknown key " + key);
    }

    bool make_gpus(const std::string& value) {
        const auto count = to_number(value);
        if (!count || *count > 32) return no("a number of GPUs, at most 32, is wanted");
        for (int index = 0; index < *count; ++index) {
            Gpu gpu;
            gpu.index = gpu.minor = index;
            gpu.uuid = make_uuid(host_.name, index);
            gpu.bus_id = make_bus_id(index);
            host_.gpus.push_back(gpu);
        }
        return true;
    }

    bool set_minors(const std::string& value) {
        const auto words = split(value, ' ');
        if (words.size() != host_.gpus.size()) return no("as many minors as GPUs are wanted, after 'gpus'");
        for (std::size_t i = 0; i < words.size(); ++i)
            if (!set(host_.gpus[i].minor, to_number(words[i]), "a number")) return false;
        return true;
    }

    bool gpu_key(const std::string& value) {
        const auto words = split(value, ' ');
        const auto index = words.empty() ? std::nullopt : to_number(words[0]);
        if (words.size() != 3 || !index || *index >= static_cast<long>(host_.gpus.size()))
            return no("'gpu INDEX state|idle|uuid|bus VALUE' is wanted, after 'gpus'");
        Gpu& gpu = host_.gpus[static_cast<std::size_t>(*index)];
        if (words[1] == "idle") return set(gpu.idle_mib, to_number(words[2]), "a number of MiB");
        if (words[1] == "uuid") return gpu.uuid = words[2], true;
        if (words[1] == "bus") return gpu.bus_id = words[2], true;
        gpu.state = words[2];
        return (words[1] == "state" && one_of(gpu.state, {"ok", "requires-reset", "lost", "unknown-error",
                                                          "inforom", "remap-pending"})) ||
               no("unknown GPU state " + words[2]);
    }

    bool process_key(ProcessSpec& process, const std::string& key, const std::string& value) {
        if (key == "exe") return process.exe = value, true;
        if (key == "argv") return process.argv = split(value, ' '), true;
        if (key == "user")
            return process.user = value, find_user(value) != nullptr || no("no such user " + value);
        if (key == "cgroup")
            return process.cgroup = value, value[0] == '/' || no("a cgroup path begins with /");
        if (key == "parent") return parent(process, value);
        if (key == "memory") return memory(process, value);
        if (key == "devices") return devices(process, value);
        if (key == "rename") return process.rename = value, true;
        if (key == "restart") return set(process.restart_ms, duration_ms(value), "a duration such as 500ms");
        if (key == "inherit") return set(process.inherits, yes_no(value), "yes or no");
        if (key == "reaps") return set(process.reaps, yes_no(value), "yes or no");
        if (key == "wedged") return set(process.wedged, yes_no(value), "yes or no");
        if (key == "session")
            return process.own_session = value == "own",
                   one_of(value, {"own", "parent"}) || no("own or parent");
        if (key == "ends")
            return process.ends = value, one_of(value, {"killed", "exit"}) || no("killed or exit");
        if (key == "expect")
            return process.expect = value,
                   one_of(value, {"ended", "same", "returns"}) || no("ended, same or returns");
        if (key != "term") return no("unknown key " + key);
        process.ignores_term = value == "ignore";
        return process.ignores_term || set(process.term_ms, duration_ms(value), "'ignore' or a duration");
    }

    bool parent(ProcessSpec& process, const std::string& value) {
        process.parent = value;
        process.own_session = false;
        return (value != process.name && host_.find(value) != nullptr) ||
               no("no process " + value + " before this one");
    }

    bool memory(ProcessSpec& process, const std::string& value) {
        for (const auto& word : split(value, ' ')) {
            const auto parts = split(word, '=');
            const auto index = parts.size() == 2 ? to_number(parts[0]) : std::nullopt;
            const auto mib = parts.size() == 2 ? to_number(parts[1]) : std::nullopt;
            if (!index || !mib || *index >= static_cast<long>(host_.gpus.size()) || *mib == 0 ||
                *mib > 1'000'000)
                return no("'INDEX=MIB' of a GPU that the host has is wanted");
            process.memory.emplace_back(static_cast<int>(*index), *mib);
        }
        process.devices = Devices::cuda;
        return true;
    }

    bool devices(ProcessSpec& process, const std::string& value) {
        process.devices = value == "cuda"      ? Devices::cuda
                          : value == "monitor" ? Devices::monitor
                          : value == "control" ? Devices::control
                                               : Devices::none;
        return one_of(value, {"cuda", "monitor", "control", "none"}) ||
               no("cuda, monitor, control or none is wanted");
    }

    Result<Host> finish() {
        for (auto& process : host_.processes) {
            if (process.exe.empty() && process.parent.empty())
                return wrong("process " + process.name + " needs an exe or a parent that forks it");
            // As after a login.
            if (process.parent.empty() && process.cgroup.empty())
                process.cgroup = "/user.slice/user-" + std::to_string(find_user(process.user)->uid) +
                                 ".slice/session-1.scope";
            if (!process.plays_a_part() && (process.devices != Devices::none || !process.rename.empty() ||
                                            !process.ends.empty() || process.wedged))
                if (!process.exe.empty())
                    return wrong("process " + process.name +
                                 " plays a part, so its exe lies below /opt, /usr/local/bin or /home");
        }
        return host_;
    }

    std::string file_;
    Host host_;
    int line_ = 0;
    std::string problem_;
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

bool Host::needs_wedge() const {
    for (const auto& process : processes)
        if (process.wedged) return true;
    return driver == "wedged";
}

Result<Host> parse_host(std::string_view text, const std::string& file, const std::string& name) {
    return Reader(file, name).read(text);
}

Host this_host() {
    const std::string file = std::string(host_folder) + "/host";
    errno = 0;
    const auto text = read_file(file);
    need(text.has_value(), "this is no simulated host: " + file);
    auto host = parse_host(*text, file, "unnamed");
    if (!host) die(host.error().message);
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
