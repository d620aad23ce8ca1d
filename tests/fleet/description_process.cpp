#include "tests/fleet/description_words.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

std::string take_parent(const Host& host, ProcessSpec& process, const std::string& value) {
    process.parent = value;
    process.own_session = false;
    if (value == process.name || host.find(value) == nullptr)
        return "no process " + value + " before this one";
    return {};
}

std::string take_memory(const Host& host, ProcessSpec& process, const std::string& value) {
    for (const auto& word : split(value, ' ')) {
        const auto parts = split(word, '=');
        const auto index = parts.size() == 2 ? to_number(parts[0]) : std::nullopt;
        const auto mib = parts.size() == 2 ? to_number(parts[1]) : std::nullopt;
        if (!index || !mib || *index >= static_cast<long>(host.gpus.size()) || *mib == 0 || *mib > 1'000'000)
            return "'INDEX=MIB' of a GPU that the host has is wanted";
        process.memory.emplace_back(static_cast<int>(*index), *mib);
    }
    process.devices = Devices::cuda;
    return {};
}

std::string take_devices(ProcessSpec& process, const std::string& value) {
    process.devices = value == "cuda"      ? Devices::cuda
                      : value == "monitor" ? Devices::monitor
                      : value == "control" ? Devices::control
                                           : Devices::none;
    if (!one_of(value, {"cuda", "monitor", "control", "none"}))
        return "cuda, monitor, control or none is wanted";
    return {};
}

std::string take_instance(const Host& host, ProcessSpec& process, const std::string& value) {
    const auto parts = split(value, ':');
    const auto index = parts.size() == 2 ? to_number(parts[0]) : std::nullopt;
    const auto device = parts.size() == 2 ? to_number(parts[1]) : std::nullopt;
    if (!index || !device || *index >= static_cast<long>(host.gpus.size()) ||
        *device >= static_cast<long>(host.gpus[static_cast<std::size_t>(*index)].instances.size()))
        return "'GPU:DEVICE' of a MIG instance that the host has is wanted";
    process.instances.emplace_back(static_cast<int>(*index), static_cast<int>(*device));
    return {};
}

std::string take_words(ProcessSpec& process, const std::string& value) {
    process.argv.clear();
    for (const auto& word : split(value, ' ')) process.argv.push_back(unescape(word));
    return {};
}

std::string take_term(ProcessSpec& process, const std::string& value) {
    const auto words = split(value, ' ');
    if (words.size() == 2 && words[0] == "move") return process.moves_on_term = words[1], "";
    process.ignores_term = value == "ignore";
    process.forks_on_term = value == "fork";
    if (process.ignores_term || process.forks_on_term) return {};
    return set(process.term_ms, duration_ms(value), "'ignore', 'fork', 'move CGROUP' or a duration");
}

std::string take_refill(ProcessSpec& process, const std::string& value) {
    const auto count = to_number(value);
    if (!count || *count < 1 || *count > 40) return "1 to 40 is wanted";
    process.refill = *count;
    return {};
}

// What keeps a process from ending, or from being found.
std::string take_misdeed(const Host& host, ProcessSpec& process, const std::string& key,
                         const std::string& value) {
    if (key == "nohup") return set(process.ignores_hangup, yes_no(value), "yes or no");
    if (key == "tty") return set(process.has_tty, yes_no(value), "yes or no");
    if (key == "mps") return set(process.mps, yes_no(value), "yes or no");
    if (key == "frozen") return set(process.frozen, yes_no(value), "yes or no");
    if (key == "teardown") return set(process.teardown_ms, duration_ms(value), "a duration such as 3s");
    if (key == "refill") return take_refill(process, value);
    if (key == "moves") return process.moves = value, value[0] == '/' ? "" : "a cgroup path begins with /";
    if (key == "padding") return set(process.padding, to_number(value), "a number of bytes");
    if (key == "only") return process.only_mapped = true, value == "mapped" ? "" : "'mapped' is wanted";
    if (key != "passes-to") return "unknown key " + key;
    process.passes_to = value;
    return host.find(value) != nullptr ? "" : "no process " + value + " before this one";
}

std::string take_word(std::string& field, const std::string& value,
                      std::initializer_list<std::string_view> words, const std::string& want) {
    field = value;
    return one_of(value, words) ? "" : want + " is wanted";
}

}  // namespace

std::string take_process_key(const Host& host, ProcessSpec& process, const std::string& key,
                             const std::string& value) {
    if (key == "exe") return process.exe = value, "";
    if (key == "argv") return take_words(process, value);
    if (key == "rename") return process.rename = unescape(value), "";
    if (key == "user")
        return process.user = value, find_user(value) != nullptr ? "" : "no such user " + value;
    if (key == "cgroup") return process.cgroup = value, value[0] == '/' ? "" : "a cgroup path begins with /";
    if (key == "parent") return take_parent(host, process, value);
    if (key == "memory") return take_memory(host, process, value);
    if (key == "devices") return take_devices(process, value);
    if (key == "instance") return take_instance(host, process, value);
    if (key == "restart") return set(process.restart_ms, duration_ms(value), "a duration such as 500ms");
    if (key == "inherit") return set(process.inherits, yes_no(value), "yes or no");
    if (key == "reaps") return set(process.reaps, yes_no(value), "yes or no");
    if (key == "wedged") return set(process.wedged, yes_no(value), "yes or no");
    if (key == "session") {
        process.own_session = value == "own";
        return one_of(value, {"own", "parent"}) ? "" : "own or parent is wanted";
    }
    if (key == "unreadable")
        return take_word(process.unreadable, value, {"maps", "cmdline"}, "maps or cmdline");
    if (key == "readers") {
        process.freezes_readers = true;
        return value == "frozen" && !process.unreadable.empty() ? ""
                                                                : "'frozen' is wanted, after 'unreadable'";
    }
    if (key == "ends") return take_word(process.ends, value, {"killed", "exit"}, "killed or exit");
    if (key == "expect")
        return take_word(process.expect, value, {"ended", "same", "returns"}, "ended, same or returns");
    if (key == "term") return take_term(process, value);
    return take_misdeed(host, process, key, value);
}

std::string finish_process(ProcessSpec& process) {
    if (process.exe.empty() && process.parent.empty())
        return "process " + process.name + " needs an exe or a parent that forks it";
    // As after a login.
    if (process.parent.empty() && process.cgroup.empty())
        process.cgroup =
            "/user.slice/user-" + std::to_string(find_user(process.user)->uid) + ".slice/session-1.scope";
    const bool does_something = process.devices != Devices::none || !process.rename.empty() ||
                                !process.ends.empty() || process.wedged || !process.unreadable.empty() ||
                                process.teardown_ms > 0 || process.frozen || process.refill > 0 ||
                                process.forks_on_term || !process.moves_on_term.empty() ||
                                !process.moves.empty() || !process.passes_to.empty();
    if (!process.plays_a_part() && !process.exe.empty() && does_something)
        return "process " + process.name +
               " plays a part, so its exe lies below /opt, /usr/local/bin or /home";
    if (process.exe.empty() && !process.unreadable.empty())
        return "process " + process.name + " is unreadable, so it needs an exe";
    return {};
}

}  // namespace cleanslate::simulated
