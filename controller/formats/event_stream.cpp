#include "controller/formats/event_stream.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "base/text.hpp"
#include "controller/exit_status.hpp"
#include "controller/formats/event_lines.hpp"
#include "controller/json_report.hpp"

namespace cleanslate::controller {

using agentless::HostOutcome;

Status EventStream::add(const FormatRequest& request) {
    if (request.to_stdout()) {
        add(std::make_unique<LiveLines>(STDOUT_FILENO));
        return {};
    }
    auto file = LiveLines::into_file(request.file);
    if (!file) return std::unexpected(with_context(file.error(), "--format jsonl"));
    add(std::move(*file));
    return {};
}

// With the mutex held: the times of the lines ascend.
void EventStream::write(const std::vector<Event>& events) {
    const std::string time = rfc3339_milliseconds(std::chrono::system_clock::now());
    for (const Event& event : events) {
        const std::string line = line_of(event, time, phase_);
        for (const auto& target : targets_) target->write(line);
    }
}

Report EventStream::report_of(agentless::SweepResult result) const {
    Report report = head_;
    report.dry_run = dry_run_;
    report.took = std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - began_);
    report.result = std::move(result);
    report.exit_status = exit_status(report, {});
    return report;
}

void EventStream::sweep_started(std::size_t hosts, bool dry_run) {
    if (targets_.empty()) return;
    const std::lock_guard lock(mutex_);
    for (const auto& target : targets_) target->write(std::exchange(unsaid_end_, {}));
    begun_ = true;
    began_ = std::chrono::steady_clock::now();
    dry_run_ = dry_run;
    phase_ = phase_of(head_.command, dry_run);
    under_way_.clear();
    ended_.clear();
    Report head = head_;
    head.dry_run = dry_run;
    write({sweep_started_event(head, hosts)});
}

void EventStream::sweep_ended(agentless::SweepResult& result) {
    if (targets_.empty()) return;
    Report report = report_of(std::move(result));
    const std::lock_guard lock(mutex_);
    for (const HostOutcome& host : report.result.hosts)
        if (!ended_.contains(host.name)) write({host_finished_event(report, host, raw_)});
    unsaid_end_ =
        line_of(sweep_finished_event(report), rfc3339_milliseconds(std::chrono::system_clock::now()), phase_);
    result = std::move(report.result);
}

void EventStream::host_started(const HostOutcome& host) {
    if (targets_.empty()) return;
    const std::lock_guard lock(mutex_);
    under_way_[host.name];
    write({host_started_event(host)});
}

void EventStream::host_progress(const HostOutcome& host) {
    if (targets_.empty()) return;
    const std::lock_guard lock(mutex_);
    std::vector<Event> events;
    Told& told = under_way_[host.name];
    if (host.doing != told.doing && !host.doing.empty()) events.push_back(step_event(host));
    told.doing = host.doing;
    tell_actions(host, told, false, events);
    write(events);
}

void EventStream::host_finished(const HostOutcome& host) {
    if (targets_.empty()) return;
    Event end = host_finished_event(head_, host, raw_);
    const std::lock_guard lock(mutex_);
    std::vector<Event> events;
    tell_actions(host, under_way_[host.name], true, events);
    events.push_back(std::move(end));
    write(events);
    under_way_.erase(host.name);
    ended_.insert(host.name);
}

// Each action's intent where it is carried out, and its end once.
void EventStream::tell_actions(const HostOutcome& host, Told& told, bool at_the_end,
                               std::vector<Event>& events) const {
    const auto tell = [&](const auto& actions, std::vector<bool>& ends) {
        for (std::size_t i = 0; i < actions.size(); ++i) {
            const bool ended = at_the_end || has_ended(actions[i]);
            const bool is_new = i >= ends.size();
            if (is_new) ends.push_back(false);
            if (is_new && !was_stopped(actions[i])) events.push_back(intent_event(host, actions[i], raw_));
            if (!ended || ends[i]) continue;
            ends[i] = true;
            events.push_back(result_event(host, actions[i], raw_));
        }
    };
    tell(host.signals, told.signals);
    tell(host.commands, told.commands);
}

Status EventStream::finish(const Report& report, Output& out) {
    {
        const std::lock_guard lock(mutex_);
        if (!begun_ && !targets_.empty()) {
            phase_ = phase_of(report.command, report.dry_run);
            write({sweep_started_event(report, report.result.hosts.size())});
            for (const HostOutcome& host : report.result.hosts)
                write({host_finished_event(report, host, raw_)});
        }
        write({sweep_finished_event(report)});
    }
    Status finished;
    for (const auto& target : targets_)
        if (auto done = target->finish(out); !done && finished)
            finished = std::unexpected(with_context(done.error(), "--format jsonl"));
    return finished;
}

void write_events(const Report& report, bool raw_commands, const Sink& sink) {
    const std::string phase = phase_of(report.command, report.dry_run);
    sink(line_of(sweep_started_event(report, report.result.hosts.size()), report.started, phase));
    for (const HostOutcome& host : report.result.hosts)
        sink(line_of(host_finished_event(report, host, raw_commands), "", phase));
    sink(line_of(sweep_finished_event(report), "", phase));
}

}  // namespace cleanslate::controller
