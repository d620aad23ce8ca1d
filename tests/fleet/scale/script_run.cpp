#include "tests/fleet/scale/script_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

// How long signal.sh sleeps before its next look, after so much sleep: looks are close together at first.
Moment signal_nap(Moment napped) {
    return napped < Moment(200) ? Moment(20) : Moment(napped < Moment(2000) ? 50 : 100);
}

constexpr Moment doze{50};  // of the scripts that act

// PID:START of a list's entry.
struct Key {
    long pid = 0;
    std::uint64_t start = 0;
};

std::optional<Key> read_key(const std::string& text) {
    const auto parts = split(text, ':');
    if (parts.size() != 2) return std::nullopt;
    const auto pid = to_number(parts[0]), start = to_number(parts[1]);
    if (!pid || !start) return std::nullopt;
    return Key{*pid, static_cast<std::uint64_t>(*start)};
}

}  // namespace

std::string ScriptRun::framed(const std::string& records) const {
    return fmt::format("\nbegin {0} 1\n{1}end {0}\n", script_.value("nonce"), records);
}

ScriptRun::Step ScriptRun::step(Moment now) {
    const bool first = !began_;
    if (first) began_ = now;
    switch (script_.kind) {
        case ScriptKind::survey:
            return {.out = host_->survey(script_, now), .err = {}, .over = true};
        case ScriptKind::signal:
            return first ? send_signals(now) : watch(now);
        case ScriptKind::take_lock:
            return take_lock(now);
        case ScriptKind::release_lock:
            return release_lock(now);
        case ScriptKind::command:
            return run_command();
        default:
            return refuse();
    }
}

ScriptRun::Step ScriptRun::send_signals(Moment now) {
    const auto& host = host_->host();
    const bool same_boot = script_.value("boot") == host_->boot_id();
    std::string out = fmt::format("\nbegin {} 1\n", script_.value("nonce"));
    for (const auto& text : split(script_.value("targets"), ' ')) {
        const auto key = read_key(text);
        if (!key) continue;
        const auto who = fmt::format("{} {}", key->pid, key->start);
        const auto index = static_cast<std::size_t>(key->pid - first_pid);
        const bool ours = key->pid == init_pid || key->pid == sshd_pid(host) || key->pid == login_pid(host) ||
                          key->pid == shell_pid(host);
        if (!same_boot)
            out += fmt::format("reply {} changed - - -\n", who);
        else if (ours)
            out += fmt::format("reply {} refused - - -\n", who);
        else if (key->pid < first_pid || index >= host.processes.size() ||
                 host_->life(index, now) != Life::alive)
            out += fmt::format("reply {} ended - - -\n", who);
        else if (key->start != start_of(index))
            out += fmt::format("reply {} changed - S -\n", who);
        else {
            host_->signal(index, script_.value("signal"), now);
            waiting_.push_back({index, who, now});
            out += fmt::format("sent {}\n", who);
        }
    }
    if (!waiting_.empty()) return {.out = std::move(out), .err = {}, .again = now + signal_nap(Moment(0))};
    return {.out = out + fmt::format("end {}\n", script_.value("nonce")), .err = {}, .over = true};
}

ScriptRun::Step ScriptRun::watch(Moment now) {
    Step step;
    std::erase_if(waiting_, [&](const Target& target) {
        if (host_->life(target.process, now) == Life::alive) return false;
        step.out += fmt::format("reply {} ended {} - -\n", target.text, (now - target.sent).count());
        return true;
    });
    step.over = waiting_.empty() || now - *began_ >= Moment(script_.number("wait_ms"));
    step.again = now + signal_nap(now - *began_);
    if (!step.over) return step;
    for (const auto& target : waiting_)
        step.out += fmt::format("reply {} alive - S {}\n", target.text, init_pid);
    step.out += fmt::format("end {}\n", script_.value("nonce"));
    return step;
}

ScriptRun::Step ScriptRun::take_lock(Moment now) {
    const Moment waited = now - *began_;
    const auto* held = host_->lock(now);
    if (held == nullptr) {
        const auto& lock = host_->take_lock(script_.value("who"), connection_,
                                            now + Moment(script_.number("keep_ms", 1000)));
        const auto start = first_start + static_cast<std::uint64_t>(now.count()) / 10;
        return {.out = framed(fmt::format("lock taken {} {} {}\n", lock.keeper, start, waited.count())),
                .err = {},
                .over = true};
    }
    if (waited > Moment(script_.number("wait_ms")))
        return {.out = framed(fmt::format("lock busy {} {}\n", held->who, waited.count())),
                .err = {},
                .over = true};
    return {.out = {}, .err = {}, .again = now + doze};
}

ScriptRun::Step ScriptRun::release_lock(Moment now) {
    const auto key = read_key(script_.value("keeper"));
    const bool released = key && host_->release_lock(key->pid, now);
    return {.out = framed(released ? "release released\n" : "release gone\n"), .err = {}, .over = true};
}

ScriptRun::Step ScriptRun::run_command() {
    const auto answer = shell_answer(script_.command, host_->host().name);
    if (!answer) return refuse();
    return {.out = fmt::format("{}\nend {} {}\n", answer->out, script_.value("nonce"), answer->status),
            .err = {},
            .over = true,
            .status = answer->status};
}

ScriptRun::Step ScriptRun::refuse() const {
    return {.out = {},
            .err = fmt::format("simfleet: the model has no {}\n", name_of(script_.kind)),
            .over = true,
            .status = 127};
}

std::optional<ShellAnswer> shell_answer(std::string_view command, const std::string& host_name) {
    const auto text = trim(command);
    const auto words = split(text, ' ');
    if (words.empty() || words[0] == "true" || words[0] == ":") return ShellAnswer{};
    if (words[0] == "false") return ShellAnswer{.out = {}, .status = 1};
    if (words[0] == "hostname") return ShellAnswer{.out = host_name + "\n"};
    if (words[0] == "echo") return ShellAnswer{.out = trim(text.substr(4)) + "\n"};
    const long number = words.size() == 2 ? to_number(words[1]).value_or(-1) : -1;
    if (words[0] == "exit" && number >= 0)
        return ShellAnswer{.out = {}, .status = static_cast<int>(number & 255)};
    if (words[0] == "sleep" && number >= 0) return ShellAnswer{.out = {}, .after = Moment(number * 1000)};
    return std::nullopt;
}

}  // namespace cleanslate::simulated
