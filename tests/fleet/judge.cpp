#include "tests/fleet/judge.hpp"

#include <poll.h>

#include <cstdio>

namespace cleanslate::simulated {

namespace {

// Something that is started again is away for its restart delay.
constexpr std::int64_t return_limit_ns = 5'000'000'000;

using Keys = std::vector<std::pair<pid_t, std::uint64_t>>;

Keys alive(const std::vector<Seen>& all, const std::string& host, const std::string& process) {
    Keys keys;
    for (const auto& seen : all)
        if (seen.host == host && seen.process == process && seen.state != 'Z' && seen.state != 'X')
            keys.emplace_back(seen.pid, seen.start);
    return keys;
}

// Empty if the process is as expected.
std::string disappointment(const ProcessSpec& spec, const Keys& before, const Keys& after) {
    if (spec.expect.empty()) return {};
    if (before.empty()) return spec.name + " did not run before";
    if (spec.expect == "ended")
        return after.empty() ? "" : spec.name + " still runs (pid " + std::to_string(after[0].first) + ")";
    if (spec.expect == "same") return after == before ? "" : spec.name + " is not the process that it was";
    if (after.empty()) return spec.name + " did not come back";
    return after == before ? spec.name + " was never ended" : "";
}

// All that is to come back is there, or time is over.
std::vector<Seen> look_when_all_have_returned(const Fleet& fleet) {
    const auto limit = now_ns() + return_limit_ns;
    while (true) {
        auto now = look_at_processes(fleet);
        bool away = false;
        for (const auto& member : fleet.members)
            for (const auto& spec : member.host.processes)
                away = away || (spec.expect == "returns" && alive(now, member.host.name, spec.name).empty());
        if (!away || now_ns() > limit) return now;
        ::poll(nullptr, 0, 20);
    }
}

class HostJudge {
  public:
    explicit HostJudge(const Member& member) : member_(member) {}

    void processes(const std::vector<Seen>& before, const std::vector<Seen>& after) {
        for (const auto& spec : member_.host.processes) {
            const auto was = alive(before, member_.host.name, spec.name);
            const auto is = alive(after, member_.host.name, spec.name);
            const auto problem = disappointment(spec, was, is);
            if (!problem.empty())
                wrong(problem);
            else if (spec.expect == "ended")
                say(spec.name + " ended");
            else if (spec.expect == "same")
                say(spec.name + " alive, same pid and start time");
            else if (spec.expect == "returns")
                say(spec.name + " ended and came back");
        }
    }

    void memory() {
        const auto ran = run_on(
            member_, {"nvidia-smi", "--query-gpu=index,memory.used", "--format=csv,noheader,nounits"}, true);
        bool free = ran.status == 0;
        long most = 0;
        std::string where;
        for (const auto& row : split(ran.out, '\n')) {
            const auto cells = split(row, ',');
            const auto used = cells.size() == 2 ? to_number(trim(cells[1])) : std::nullopt;
            free = free && used && *used <= 100;
            if (used && *used > most) most = *used, where = " (GPU " + cells[0] + ")";
        }
        say("at most " + std::to_string(most) + " MiB in use" + where);
        if (!free && member_.host.expect == "clean") wrong("memory is in use on a host that was to be clean");
    }

    void report(const std::map<std::string, Reported>& all) {
        const auto found = all.find(member_.host.name);
        if (found == all.end()) return wrong("the report does not have this host");
        verdict_ = found->second.verdict;
        if (verdict_ != member_.host.expect)
            wrong("reported as " + verdict_ + ", not as " + member_.host.expect);
        if (found->second.text.find(member_.host.mention) == std::string::npos)
            wrong("the report does not mention " + member_.host.mention);
    }

    // Prints; true if all is as expected.
    bool finish() const {
        std::printf("  %-5s %s%s: %s\n        %s\n", wrong_.empty() ? "ok" : "WRONG",
                    member_.host.name.c_str(), verdict_.empty() ? "" : (" " + verdict_).c_str(),
                    member_.host.about.c_str(), said_.c_str());
        for (const auto& problem : wrong_) std::printf("        NOT AS EXPECTED: %s\n", problem.c_str());
        return wrong_.empty();
    }

    void say(const std::string& what) { said_ += (said_.empty() ? "" : "; ") + what; }

  private:
    void wrong(const std::string& what) { wrong_.push_back(what); }

    const Member& member_;
    std::string verdict_;
    std::string said_;
    std::vector<std::string> wrong_;
};

}  // namespace

bool judge(const Fleet& fleet, const std::vector<Seen>& before,
           const std::map<std::string, Reported>* report) {
    const auto after = look_when_all_have_returned(fleet);
    bool good = true;
    for (const auto& member : fleet.members) {
        HostJudge host(member);
        if (member.init > 0) {
            host.processes(before, after);
            host.memory();
        } else {
            host.say("connections are refused");
        }
        if (report != nullptr) host.report(*report);
        good = host.finish() && good;
    }
    return good;
}

}  // namespace cleanslate::simulated
