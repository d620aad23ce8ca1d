#include "controller/sweep_runner.hpp"

#include <fmt/core.h>

#include <csignal>

#include "controller/observers.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::size_t names_shown = 20;

std::string_view name_of(int signal) {
    return signal == SIGINT ? "interrupted" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

void on_stop(agentless::Sweep& sweep, Progress& progress, int signal, int count) {
    if (count == 1) progress.say(interrupt_text(sweep.unfinished(), signal));
    if (count == 2) progress.say("again: everything under way is cut; the report follows");
    if (count > 2) progress.say("the report follows");
    if (count <= 2) sweep.stop();
}

// Tells no more of signals to a sweep that is gone.
struct HandlerScope {
    StopSignals& signals;
    ~HandlerScope() { signals.set_handler(nullptr); }
};

}  // namespace

std::string interrupt_text(const std::vector<std::pair<std::string, std::string>>& unfinished, int signal) {
    std::string text = fmt::format("{}: {} under way", name_of(signal), count_of(unfinished.size(), "host"));
    std::string_view separator = ": ";
    for (std::size_t i = 0; i < unfinished.size() && i < names_shown; ++i) {
        const auto& [host, doing] = unfinished[i];
        text += fmt::format("{}{}{}", separator, host, doing.empty() ? "" : " (" + doing + ")");
        separator = ", ";
    }
    if (unfinished.size() > names_shown) text += fmt::format(" and {} more", unfinished.size() - names_shown);
    return text + "; no new host is begun, steps under way report; once more to cut them";
}

Sweeper fleet_sweeper(const agentless::Reach& reach, Progress& progress, agentless::Audit& audit,
                      StopSignals& signals, EventStream* events) {
    return [&, events](std::vector<agentless::HostTask> tasks, agentless::Job job,
                       agentless::SweepLimits limits) -> Result<agentless::SweepResult> {
        const std::size_t hosts = tasks.size();
        const bool verdicts = job.kind != agentless::Job::Kind::run;
        std::vector<agentless::Observer*> told{&progress};
        if (events != nullptr) {
            told.push_back(events);
            events->sweep_started(hosts, job.dry_run);
        }
        Observers observers(std::move(told));
        agentless::Sweep sweep(std::move(tasks), std::move(job), reach, limits, observers, audit);
        const HandlerScope scope{signals};
        signals.set_handler([&](int signal, int count) { on_stop(sweep, progress, signal, count); });
        progress.begin(hosts, verdicts);
        auto result = sweep.run();
        progress.end();
        if (result && events != nullptr) events->sweep_ended(*result);
        return result;
    };
}

}  // namespace cleanslate::controller
