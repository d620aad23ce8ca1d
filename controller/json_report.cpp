#include "controller/json_report.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controller/json_text.hpp"
#include "controller/json_writer.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

// One write_*() a thing of the domain; each writes one value.
void write_finding(JsonWriter& json, const Finding& finding) {
    json.object([&] {
        json.key("severity").text(to_string(finding.severity));
        json.key("code").text(finding.code);
        json.key("text").text(finding.text);
        json.key("remedy").text_or_null(finding.remedy);
    });
}

void write_findings(JsonWriter& json, const std::vector<Finding>& findings) {
    json.list(findings, [&](const Finding& finding) { write_finding(json, finding); });
}

// No process has pid 0: that is a holder whose pid the driver does not say.
void write_pid(JsonWriter& json, const ProcessKey& key) { key.pid == 0 ? json.null() : json.number(key.pid); }

// A text, since not every reader of JSON has whole numbers of 64 bits.
void write_start(JsonWriter& json, const ProcessKey& key) {
    key.pid == 0 ? json.null() : json.text(std::to_string(key.start));
}

// A ghost has no start time: it is not in /proc any more.
void write_start(JsonWriter& json, const Holder& holder) {
    const bool none = holder.key.start == 0 && (holder.ghost || holder.foreign_pid);
    none ? json.null() : write_start(json, holder.key);
}

// Members of an object that go on.
void write_key_members(JsonWriter& json, const ProcessKey& key) {
    write_pid(json.key("pid"), key);
    write_start(json.key("start"), key);
}

void write_keys(JsonWriter& json, const std::vector<ProcessKey>& keys) {
    json.list(keys, [&](const ProcessKey& key) { json.object([&] { write_key_members(json, key); }); });
}

void write_holder(JsonWriter& json, const Holder& holder) {
    json.object([&] {
        write_pid(json.key("pid"), holder.key);
        write_start(json.key("start"), holder);
        json.key("user").text_or_null(holder.user);
        json.key("exe").text_or_null(holder.exe);
        json.key("command").text_or_null(holder.command);
        json.key("state").text_or_null(std::string_view(&holder.state, holder.state == '?' ? 0 : 1));
        json.key("used_mib").mib_or_null(holder.used);
        json.key("protected").boolean(holder.is_protected);
        json.key("protected_by").text_or_null(holder.protected_by);
        json.key("unit").text_or_null(holder.unit);
        json.key("age_seconds").number_or_null(holder.age_s);
        json.key("ghost").boolean(holder.ghost);
        json.key("inherited").boolean(holder.inherited);
        json.key("foreign_pid").boolean(holder.foreign_pid);
        json.key("without_device").boolean(holder.without_device);
    });
}

void write_holders(JsonWriter& json, const std::vector<Holder>& holders) {
    json.list(holders, [&](const Holder& holder) { write_holder(json, holder); });
}

// By column, as printed, the first of a name; null where nothing of it was seen.
void write_optional(JsonWriter& json, const std::vector<OptionalCell>& cells) {
    if (cells.empty()) return json.null();
    json.object([&] {
        for (auto cell = cells.begin(); cell != cells.end(); ++cell) {
            if (std::find_if(cells.begin(), cell, [&](const OptionalCell& before) {
                    return before.column == cell->column;
                }) != cell)
                continue;
            json.foreign_key(cell->column).text(cell->cell);
        }
    });
}

void write_instance(JsonWriter& json, const MigInstance& instance) {
    // Nobody can tell who may use an instance whose capability files are not known.
    const bool told = instance.gpu_instance || !instance.holders.empty();
    json.object([&] {
        json.key("device").number_or_null(instance.device);
        json.key("gpu_instance").number_or_null(instance.gpu_instance);
        json.key("compute_instance").number_or_null(instance.compute_instance);
        json.key("profile").text_or_null(instance.profile);
        json.key("uuid").text_or_null(instance.uuid);
        told ? write_keys(json.key("holders"), instance.holders) : json.key("holders").null();
    });
}

void write_gpu(JsonWriter& json, const GpuVerdict& gpu) {
    json.object([&] {
        json.key("index").number_or_null(gpu.index);
        json.key("uuid").text_or_null(gpu.uuid);
        json.key("bus_id").text_or_null(gpu.bus_id);
        json.key("name").text_or_null(gpu.name);
        json.key("used_mib").mib_or_null(gpu.used);
        json.key("total_mib").mib_or_null(gpu.total);
        json.key("limit_mib").mib_or_null(gpu.limit);
        json.key("verdict").text(to_string(gpu.verdict));
        json.key("repaired").boolean(gpu.repaired);
        write_findings(json.key("findings"), gpu.findings);
        write_holders(json.key("holders"), gpu.holders);
        write_optional(json.key("optional"), gpu.optional);
        json.key("instances").list(gpu.instances, [&](const auto& instance) {
            write_instance(json, instance);
        });
    });
}

void write_signal(JsonWriter& json, const SignalAction& action) {
    json.object([&] {
        json.key("step").number(action.step);
        json.key("signal").text(action.signal);
        write_key_members(json, action.process.key);
        json.key("user").text_or_null(action.process.user);
        json.key("command").text_or_null(action.process.command);
        json.key("rule").text_or_null(action.rule);
        const bool said = action.result != SignalResult::sent;  // otherwise its result never came
        json.key("result").text_or_null(said ? to_string(action.result) : std::string_view());
        json.key("seconds").seconds_or_null(action.took);
    });
}

void write_stream(JsonWriter& json, const std::string& out, bool ran) { ran ? json.lines(out) : json.null(); }

void write_command(JsonWriter& json, const CommandAction& action, bool raw) {
    const bool ran = !action.planned && !action.withheld && !was_not_sent(action);
    json.object([&] {
        json.key("step").number(action.step);
        json.key("kind").text(to_string(action.kind));
        json.key("command").text(shown_command(action.command, raw));
        json.key("about").text_or_null(action.about);
        json.key("bytes").number_or_null(action.bytes);
        json.key("withheld").boolean(action.withheld);
        json.key("conditional").boolean(action.conditional);
        json.key("result").text(command_word(action));
        json.key("exit_status").number_or_null(action.exit_status);
        json.key("exit_signal").text_or_null(action.exit_signal);
        write_stream(json.key("stdout"), action.out, ran);
        write_stream(json.key("stderr"), action.err, ran);
        json.key("seconds").seconds_or_null(action.took);
    });
}

void write_spared(JsonWriter& json, const HostOutcome& host) {
    json.list(host.spared, [&, i = std::size_t{0}](const Spared& spared) mutable {
        const Holder* const who = i < host.spared_holders.size() ? &host.spared_holders[i] : nullptr;
        ++i;
        json.object([&] {
            write_key_members(json, spared.key);
            json.key("user").text_or_null(who == nullptr ? std::string() : who->user);
            json.key("command").text_or_null(who == nullptr ? std::nullopt : who->command);
            json.key("code").text(spared.code);
            json.key("why").text(spared.why);
        });
    });
}

void write_notes(JsonWriter& json, const std::vector<std::string>& notes) {
    json.list(notes, [&](const std::string& note) { json.text(note); });
}

void write_planned(JsonWriter& json, const PlannedStep& step) {
    json.object([&] {
        json.key("step").number(step.step);
        json.key("name").text(step.name);
        write_keys(json.key("targets"), step.targets);
        json.key("spared").list(step.spared, [&](const Spared& spared) {
            json.object([&] {
                write_key_members(json, spared.key);
                json.key("code").text(spared.code);
                json.key("why").text(spared.why);
            });
        });
        json.key("commands").list(step.commands, [&](std::size_t place) { json.number(place); });
        write_notes(json.key("notes"), step.notes);
    });
}

// What each step of the playbook would choose; null where nothing was planned.
void write_plan(JsonWriter& json, const std::vector<PlannedStep>& steps) {
    if (steps.empty()) return json.null();
    json.list(steps, [&](const PlannedStep& step) { write_planned(json, step); });
}

void write_error(JsonWriter& json, const std::optional<Error>& error) {
    if (!error) return json.null();
    json.object([&] {
        json.key("kind").text(error->kind);
        json.key("phase").text_or_null(error->phase);
        json.key("message").text(error->message);
        json.key("remedy").text_or_null(error->remedy);
    });
}

void write_verdict(JsonWriter& json, const std::optional<Verdict>& verdict) {
    verdict ? json.text(to_string(*verdict)) : json.null();
}

void write_host(JsonWriter& json, const Report& report, const HostOutcome& host, bool raw) {
    const bool has_port = !report.local && report.command != "parse";
    const HostVerdict none;
    const HostVerdict& last = host.last ? *host.last : none;
    json.object([&] {
        json.key("name").text(host.name);
        json.key("address").text_or_null(host.address);
        has_port ? json.key("port").number(host.port) : json.key("port").null();
        write_verdict(json.key("verdict"), verdict_of(report, host));
        json.key("seconds").seconds_or_null(host.started ? std::optional(host.took) : std::nullopt);
        write_findings(json.key("findings"), findings_of(host));
        json.key("gpus").list(last.gpus, [&](const GpuVerdict& gpu) { write_gpu(json, gpu); });
        write_holders(json.key("openers"), last.openers);
        json.key("actions").list(host.signals,
                                 [&](const SignalAction& action) { write_signal(json, action); });
        json.key("commands").list(host.commands, [&](const CommandAction& action) {
            write_command(json, action, raw);
        });
        write_spared(json.key("spared"), host);
        write_plan(json.key("plan"), host.plan_steps);
        json.key("seconds_to_clean").seconds_or_null(host.first_signal_to_clean);
        write_error(json.key("error"), host.error);
    });
}

void write_counts(JsonWriter& json, const std::array<std::size_t, 5>& counts, Verdict worst) {
    json.object([&] {
        for (std::size_t i = 0; i <= static_cast<std::size_t>(worst); ++i)
            json.key(to_string(static_cast<Verdict>(i))).number(counts[i]);
    });
}

std::string_view stopped_by(const agentless::SweepResult& result) {
    return result.interrupted             ? "interrupted"
           : result.deadline_passed       ? "deadline"
           : result.failure_limit_reached ? "max-failures"
                                          : "";
}

void write_summary_value(JsonWriter& json, const Report& report) {
    const Summary summary = summarize(report);
    json.object([&] {
        write_verdict(json.key("verdict"), summary.verdict);
        json.key("exit_status").number(report.exit_status);
        write_counts(json.key("hosts"), summary.hosts, Verdict::unreachable);
        write_counts(json.key("gpus"), summary.gpus, Verdict::unknown);
        json.key("stopped_by").text_or_null(stopped_by(report.result));
        if (!report.is_run()) return;
        json.key("commands").object([&] {
            json.key("ok").number(summary.asked[static_cast<std::size_t>(Asked::ok)]);
            json.key("failed").number(summary.asked[static_cast<std::size_t>(Asked::failed)]);
            json.key("not_asked").number(summary.asked[static_cast<std::size_t>(Asked::not_asked)]);
        });
    });
}

void write_head(JsonWriter& json, const Report& report) {
    json.object([&] {
        json.key("schema").text("cleanslate.report/1");
        json.key("command").text(report.command);
        json.key("playbook").text_or_null(report.playbook);
        json.key("inventory").text_or_null(report.inventory);
        json.key("limit").text_or_null(report.limit);
        json.key("dry_run").boolean(report.dry_run);
        json.key("started").text(report.started);
        json.key("seconds").seconds(report.took);
        write_notes(json.key("notes"), report.result.notes);
        write_summary_value(json.key("summary"), report);
    });
}

}  // namespace

void write_json(const Report& report, bool raw_commands, const Sink& sink) {
    std::string text;  // of one piece; its memory serves them all
    JsonWriter head(text);
    write_head(head, report);
    text.pop_back();  // the object goes on with its hosts
    text += ",\n\"hosts\":[";
    sink(text);
    std::string_view separator = "\n";
    for (const HostOutcome& host : report.result.hosts) {
        text = separator;
        JsonWriter json(text);
        write_host(json, report, host, raw_commands);
        sink(text);
        separator = ",\n";
    }
    sink("\n]}\n");
}

}  // namespace cleanslate::controller
