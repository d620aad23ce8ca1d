#pragma once
// Reports of a seeded generator: whatever a sweep could leave behind, likely or not.

#include <random>
#include <utility>

#include "base/text.hpp"
#include "golden_report.hpp"

namespace cleanslate::controller::testing {

class RandomReports {
  public:
    explicit RandomReports(std::uint64_t seed) : random_(seed) {}

    Report next() {
        constexpr const char* commands[] = {"check", "clear", "clear", "run", "parse"};
        Report report = report_of({}, commands[below(5)]);
        if (chance(2)) report.inventory = text();
        if (chance(2)) report.limit = text();
        if (chance(4)) report.share = Share{{2, 3}, 1 + below(9), "gpu[1-9]"};
        report.took = milliseconds();
        report.local = report.command != "parse" && chance(8);
        report.dry_run = report.command == "clear" && chance(2);
        report.declined = report.dry_run && chance(4);
        report.result.interrupted = chance(20);
        report.result.audit_failed = chance(20);
        if (report.result.audit_failed) report.result.audit_error = text();
        report.result.notes = some<std::string>(3, [&] { return text(); });
        report.exit_status = static_cast<int>(below(6));
        const std::size_t hosts = below(6);
        for (std::size_t i = 0; i < hosts; ++i) report.result.hosts.push_back(host(report, i));
        return report;
    }

  private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    bool chance(std::uint64_t in) { return below(in) == 0; }
    template <class Value>
    std::vector<Value> some(std::size_t most, auto&& make) {
        std::vector<Value> values(below(most + 1));
        for (Value& value : values) value = make();
        return values;
    }
    template <class Value>
    Value any_of(std::initializer_list<Value> values) {
        return values.begin()[below(values.size())];
    }

    // As a host may print it: of any bytes.
    std::string text() {
        constexpr std::string_view parts[] = {"a",
                                              "python3 train.py",
                                              " ",
                                              "  ",
                                              "\"",
                                              "\\",
                                              "</script>",
                                              ",",
                                              "'",
                                              "\xc3\xb6",
                                              "\xe6\xa9\x9f",
                                              "\xf0\x9f\x94\xa5",
                                              "\x1b[2J",
                                              "\xff",
                                              "\xe2\x80\xae",
                                              "\x7f",
                                              "--token=geheim-4711",
                                              "***",
                                              "\\x1B",
                                              "{}",
                                              "null",
                                              "-",
                                              "=1+1",
                                              "[1-3]",
                                              "https://u:p@h/"};
        std::string out;
        for (auto count = below(6); count > 0; --count) out += parts[below(std::size(parts))];
        return out;
    }
    std::string shown() { return printable(text()); }
    std::string lines() {
        std::string out;
        for (auto count = below(4); count > 0; --count)
            out += text() + any_of({"\n", "\r\n", "\t", "\n\n", "\r", ""});
        return out;
    }
    Milliseconds milliseconds() { return Milliseconds{static_cast<std::int64_t>(below(100'000'000))}; }
    template <class Value>
    std::optional<Value> perhaps(Value value) {
        return chance(3) ? std::nullopt : std::optional(std::move(value));
    }
    std::optional<Mebibytes> mib() { return perhaps(Mebibytes{static_cast<std::int64_t>(below(200'000))}); }
    ProcessKey key() { return {static_cast<Pid>(below(30)), chance(4) ? random_() : below(50)}; }

    Finding finding() {
        Finding finding;
        finding.severity = static_cast<Severity>(below(4));
        finding.code = any_of({"memory-in-use", "held", "host-busy", "vetoed", "driver-slow", "mig-mode"});
        finding.text = shown();
        finding.remedy = shown();
        return finding;
    }
    Holder process() {
        Holder process = holder(0, shown(), shown());
        do process.key = key();
        while (process.key.pid == 0);
        process.exe = perhaps(shown());
        process.command = perhaps(shown());
        process.state = any_of({'S', 'R', 'D', '?'});
        process.is_protected = chance(4);
        if (process.is_protected) process.protected_by = shown();
        process.unit = perhaps(shown());
        process.age_s = perhaps(chance(9) ? random_() : below(1'000'000));
        process.without_device = chance(6);
        return process;
    }
    Holder any_holder() {
        Holder holder = process();
        holder.used = mib();
        holder.inherited = chance(5);
        if (chance(6)) holder.key = {};
        if (chance(6)) {
            (chance(2) ? holder.ghost : holder.foreign_pid) = true;
            holder.key.start = 0;
        }
        return holder;
    }
    MigInstance instance(const std::vector<Holder>& holders) {
        MigInstance instance;
        instance.device = perhaps(static_cast<int>(below(7)));
        instance.gpu_instance = perhaps(static_cast<int>(below(14)));
        instance.compute_instance = perhaps(static_cast<int>(below(2)));
        instance.profile = shown();
        instance.uuid = shown();
        for (const Holder& holder : holders)
            if (chance(2))
                instance.holders.push_back({holder.key.pid, holder.key.pid == 0 ? 0 : holder.key.start});
        return instance;
    }
    GpuVerdict any_gpu(int index) {
        GpuVerdict one = gpu(index, static_cast<Verdict>(below(4)), 0);
        if (chance(8)) one.index.reset();
        if (chance(8)) one.uuid = shown();
        if (chance(4)) one.name = shown();
        one.used = mib();
        one.total = mib();
        one.limit = mib();
        one.judged = !chance(5);
        one.repaired = chance(9);
        one.findings = some<Finding>(3, [&] { return finding(); });
        one.holders = some<Holder>(3, [&] { return any_holder(); });
        one.optional = some<OptionalCell>(3, [&] { return OptionalCell{shown(), shown()}; });
        one.instances = some<MigInstance>(2, [&] { return instance(one.holders); });
        return one;
    }
    SignalAction action(bool dry_run) {
        SignalAction action;
        action.step = static_cast<int>(1 + below(3));
        action.signal = any_of({"TERM", "KILL"});
        action.process = process();
        action.rule = shown();
        action.result = dry_run ? SignalResult::planned : static_cast<SignalResult>(below(8));
        action.took = perhaps(milliseconds());
        action.state = any_of({'?', 'D', 'Z'});
        return action;
    }
    CommandAction command(bool dry_run) {
        CommandAction action =
            act(static_cast<CommandAction::Kind>(below(7)), static_cast<int>(below(4)), text());
        action.about = shown();
        action.bytes = perhaps(chance(5) ? random_() : below(1'000'000));
        action.conditional = chance(4);
        action.exit_status = perhaps(static_cast<int>(below(256)));
        action.took = perhaps(milliseconds());
        const auto fate = below(dry_run ? 2 : 6);
        action.withheld = fate == 0;
        action.planned = fate == 1;
        action.not_sent = !dry_run && fate == 2;
        if (action.withheld || action.planned || action.not_sent) return action;
        action.ran_to_end = fate > 3;
        action.ok = fate == 5;
        if (chance(3)) action.exit_signal = "KILL";
        action.out = lines();
        action.err = lines();
        return action;
    }
    PlannedStep step(const HostOutcome& host, int number) {
        PlannedStep step;
        step.step = number;
        step.name = shown();
        for (const SignalAction& action : host.signals)
            if (action.step == number) step.targets.push_back(action.process.key);
        if (chance(3)) {
            step.target_holders.push_back(process());
            step.targets.push_back(step.target_holders.back().key);
        }
        step.spared = some<Spared>(2, [&] { return spared(); });
        for (std::size_t i = 0; i < host.commands.size(); ++i)
            if (host.commands[i].step == number) step.commands.push_back(i);
        step.notes = some<std::string>(2, [&] { return shown(); });
        return step;
    }
    Spared spared() {
        Spared spared;
        spared.key = process().key;
        spared.code = any_of({"protected", "scheduled-job", "not-permitted"});
        spared.why = shown();
        return spared;
    }
    void survey(HostOutcome& host) {
        host.last.emplace();
        host.last->verdict = host.verdict;
        const int gpus = static_cast<int>(below(10));
        for (int i = 0; i < gpus; ++i)
            host.last->gpus.push_back(chance(2) ? gpu(i, Verdict::clean, 0) : any_gpu(i));
        for (GpuVerdict& gpu : host.last->gpus)  // a clean host's others were not judged
            if (host.verdict == Verdict::clean && gpu.verdict != Verdict::clean) gpu.judged = false;
        host.last->openers = some<Holder>(2, [&] { return process(); });
        host.last->findings = some<Finding>(3, [&] { return finding(); });
        host.driver_version = text();
        host.boot_id = shown();
    }
    HostOutcome host(const Report& report, std::size_t number) {
        HostOutcome host;
        host.name = chance(6) ? printable(text()) + std::to_string(number) : "gpu0" + std::to_string(number);
        host.address = shown();
        if (!report.local && report.command != "parse")
            host.port = static_cast<std::uint16_t>(1 + below(65'535));
        host.started = host.finished = !chance(9);
        if (!host.started) {
            host.error = Error{"not_tried", "", shown(), ""};
            return host;
        }
        host.took = milliseconds();
        host.verdict = static_cast<Verdict>(below(5));
        if (report.is_run()) host.verdict = chance(4) ? Verdict::unreachable : Verdict::unknown;
        if (host.verdict == Verdict::unreachable || (host.verdict != Verdict::clean && chance(8)))
            host.error = Error{"timeout", shown(), shown(), shown()};
        if (!report.is_run() && host.verdict != Verdict::unreachable) survey(host);
        if (chance(3)) host.findings = some<Finding>(2, [&] { return finding(); });
        if (host.verdict == Verdict::unreachable) return host;
        host.commands = some<CommandAction>(report.is_run() ? 1 : 3, [&] { return command(report.dry_run); });
        if (report.is_run()) return host;
        host.signals = some<SignalAction>(4, [&] { return action(report.dry_run); });
        host.spared = some<Spared>(2, [&] { return spared(); });
        for (const Spared& spared : host.spared) {
            host.spared_holders.push_back(process());
            host.spared_holders.back().key = spared.key;
        }
        host.first_signal_to_clean = perhaps(milliseconds());
        for (int place = 1; report.dry_run && place <= 3; ++place)
            host.plan_steps.push_back(step(host, place));
        return host;
    }

    std::mt19937_64 random_;
};

}  // namespace cleanslate::controller::testing
