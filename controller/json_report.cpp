#include "controller/json_report.hpp"

#include "base/text.hpp"
#include "controller/json_text.hpp"

namespace cleanslate::controller {
namespace {

using Json = nlohmann::ordered_json;
using namespace agentless;

Json findings_json(const std::vector<Finding>& findings) {
    Json list = Json::array();
    for (const Finding& finding : findings) {
        list.push_back({{"severity", to_string(finding.severity)},
                        {"code", printable(finding.code)},
                        {"text", printable(finding.text)},
                        {"remedy", text_or_null(finding.remedy)}});
    }
    return list;
}

// No process has pid 0: that is a holder whose pid the driver does not say.
Json pid_json(const ProcessKey& key) { return key.pid == 0 ? Json(nullptr) : Json(key.pid); }

Json start_json(const ProcessKey& key) {
    return key.pid == 0 ? Json(nullptr) : Json(std::to_string(key.start));
}

// A ghost has no start time: it is not in /proc any more.
Json start_json(const Holder& holder) {
    if (holder.key.start == 0 && (holder.ghost || holder.foreign_pid)) return nullptr;
    return start_json(holder.key);
}

Json holder_json(const Holder& holder) {
    return {{"pid", pid_json(holder.key)},
            {"start", start_json(holder)},
            {"user", text_or_null(holder.user)},
            {"exe", text_or_null(holder.exe)},
            {"command", text_or_null(holder.command)},
            {"state", holder.state == '?' ? Json(nullptr) : Json(printable(std::string(1, holder.state)))},
            {"used_mib", mib_or_null(holder.used)},
            {"protected", holder.is_protected},
            {"protected_by", text_or_null(holder.protected_by)},
            {"unit", text_or_null(holder.unit)},
            {"age_seconds", number_or_null(holder.age_s)},
            {"ghost", holder.ghost},
            {"inherited", holder.inherited},
            {"foreign_pid", holder.foreign_pid},
            {"without_device", holder.without_device}};
}

Json holders_json(const std::vector<Holder>& holders) {
    Json list = Json::array();
    for (const Holder& holder : holders) list.push_back(holder_json(holder));
    return list;
}

// By column, as printed; null where nothing of it was seen.
Json optional_json(const std::vector<OptionalCell>& cells) {
    if (cells.empty()) return nullptr;
    Json json = Json::object();
    for (const OptionalCell& cell : cells) json.emplace(printable(cell.column), printable(cell.cell));
    return json;
}

Json instances_json(const std::vector<MigInstance>& instances) {
    Json list = Json::array();
    for (const MigInstance& instance : instances) {
        Json holders = Json::array();
        for (const ProcessKey& key : instance.holders)
            holders.push_back({{"pid", pid_json(key)}, {"start", start_json(key)}});
        // Nobody can tell who may use an instance whose capability files are not known.
        const bool told = instance.gpu_instance || !instance.holders.empty();
        list.push_back({{"device", number_or_null(instance.device)},
                        {"gpu_instance", number_or_null(instance.gpu_instance)},
                        {"compute_instance", number_or_null(instance.compute_instance)},
                        {"profile", text_or_null(instance.profile)},
                        {"uuid", text_or_null(instance.uuid)},
                        {"holders", told ? std::move(holders) : Json(nullptr)}});
    }
    return list;
}

Json gpu_json(const GpuVerdict& gpu) {
    return {{"index", number_or_null(gpu.index)},
            {"uuid", text_or_null(gpu.uuid)},
            {"bus_id", text_or_null(gpu.bus_id)},
            {"name", text_or_null(gpu.name)},
            {"used_mib", mib_or_null(gpu.used)},
            {"total_mib", mib_or_null(gpu.total)},
            {"limit_mib", mib_or_null(gpu.limit)},
            {"verdict", to_string(gpu.verdict)},
            {"repaired", gpu.repaired},
            {"findings", findings_json(gpu.findings)},
            {"holders", holders_json(gpu.holders)},
            {"optional", optional_json(gpu.optional)},
            {"instances", instances_json(gpu.instances)}};
}

Json signal_json(const SignalAction& action) {
    return {{"step", action.step},
            {"signal", printable(action.signal)},
            {"pid", pid_json(action.process.key)},
            {"start", start_json(action.process.key)},
            {"user", text_or_null(action.process.user)},
            {"command", text_or_null(action.process.command)},
            {"rule", text_or_null(action.rule)},
            {"result", result_word(action.result)},
            {"seconds", seconds_or_null(action.took)}};
}

Json command_json(const CommandAction& action, bool raw) {
    const bool ran = !action.planned && !action.withheld && !was_not_sent(action);
    return {{"step", action.step},
            {"kind", to_string(action.kind)},
            {"command", shown_command(action.command, raw)},
            {"about", text_or_null(action.about)},
            {"bytes", number_or_null(action.bytes)},
            {"withheld", action.withheld},
            {"conditional", action.conditional},
            {"result", command_word(action)},
            {"exit_status", number_or_null(action.exit_status)},
            {"exit_signal", text_or_null(action.exit_signal)},
            {"stdout", ran ? Json(printable_lines(action.out)) : Json(nullptr)},
            {"stderr", ran ? Json(printable_lines(action.err)) : Json(nullptr)},
            {"seconds", seconds_or_null(action.took)}};
}

Json spared_json(const HostOutcome& host) {
    Json list = Json::array();
    for (std::size_t i = 0; i < host.spared.size(); ++i) {
        const Spared& spared = host.spared[i];
        Json json = {{"pid", pid_json(spared.key)}, {"start", start_json(spared.key)}};
        const bool known = i < host.spared_holders.size();
        json["user"] = known ? text_or_null(host.spared_holders[i].user) : Json(nullptr);
        json["command"] = known ? text_or_null(host.spared_holders[i].command) : Json(nullptr);
        json["code"] = printable(spared.code);
        json["why"] = printable(spared.why);
        list.push_back(std::move(json));
    }
    return list;
}

Json notes_json(const std::vector<std::string>& notes) {
    Json list = Json::array();
    for (const std::string& note : notes) list.push_back(printable(note));
    return list;
}

// What each step of the playbook would choose; null where nothing was planned.
Json plan_json(const HostOutcome& host) {
    if (host.plan_steps.empty()) return nullptr;
    Json steps = Json::array();
    for (const PlannedStep& step : host.plan_steps) {
        Json targets = Json::array(), spared = Json::array();
        for (const ProcessKey& key : step.targets)
            targets.push_back({{"pid", pid_json(key)}, {"start", start_json(key)}});
        for (const Spared& one : step.spared)
            spared.push_back({{"pid", pid_json(one.key)},
                              {"start", start_json(one.key)},
                              {"code", printable(one.code)},
                              {"why", printable(one.why)}});
        steps.push_back({{"step", step.step},
                         {"name", printable(step.name)},
                         {"targets", std::move(targets)},
                         {"spared", std::move(spared)},
                         {"commands", step.commands},
                         {"notes", notes_json(step.notes)}});
    }
    return steps;
}

Json error_json(const std::optional<Error>& error) {
    if (!error) return nullptr;
    return {{"kind", printable(error->kind)},
            {"phase", text_or_null(error->phase)},
            {"message", printable(error->message)},
            {"remedy", text_or_null(error->remedy)}};
}

Json verdict_json(const std::optional<Verdict>& verdict) {
    return verdict ? Json(to_string(*verdict)) : Json(nullptr);
}

Json host_json(const Report& report, const HostOutcome& host, bool raw) {
    Json gpus = Json::array();
    Json actions = Json::array();
    Json commands = Json::array();
    if (host.last)
        for (const GpuVerdict& gpu : host.last->gpus) gpus.push_back(gpu_json(gpu));
    for (const SignalAction& action : host.signals) actions.push_back(signal_json(action));
    for (const CommandAction& action : host.commands) commands.push_back(command_json(action, raw));
    return {{"name", printable(host.name)},
            {"address", text_or_null(host.address)},
            {"port", report.local || report.command == "parse" ? Json(nullptr) : Json(host.port)},
            {"verdict", verdict_json(verdict_of(report, host))},
            {"seconds", host.started ? seconds_or_null(host.took) : Json(nullptr)},
            {"findings", findings_json(findings_of(host))},
            {"gpus", std::move(gpus)},
            {"openers", host.last ? holders_json(host.last->openers) : Json::array()},
            {"actions", std::move(actions)},
            {"commands", std::move(commands)},
            {"spared", spared_json(host)},
            {"plan", plan_json(host)},
            {"seconds_to_clean", seconds_or_null(host.first_signal_to_clean)},
            {"error", error_json(host.error)}};
}

Json counts_json(const std::array<std::size_t, 5>& counts, Verdict worst) {
    Json json = Json::object();
    for (std::size_t i = 0; i <= static_cast<std::size_t>(worst); ++i)
        json[std::string(to_string(static_cast<Verdict>(i)))] = counts[i];
    return json;
}

Json summary_json(const Report& report) {
    const Summary summary = summarize(report);
    Json stopped = nullptr;
    if (report.result.failure_limit_reached) stopped = "max-failures";
    if (report.result.deadline_passed) stopped = "deadline";
    if (report.result.interrupted) stopped = "interrupted";
    Json json = {{"verdict", verdict_json(summary.verdict)},
                 {"exit_status", report.exit_status},
                 {"hosts", counts_json(summary.hosts, Verdict::unreachable)},
                 {"gpus", counts_json(summary.gpus, Verdict::unknown)},
                 {"stopped_by", stopped}};
    if (report.is_run())
        json["commands"] = {{"ok", summary.asked[static_cast<std::size_t>(Asked::ok)]},
                            {"failed", summary.asked[static_cast<std::size_t>(Asked::failed)]},
                            {"not_asked", summary.asked[static_cast<std::size_t>(Asked::not_asked)]}};
    return json;
}

}  // namespace

void write_json(const Report& report, bool raw_commands, const Sink& sink) {
    const Json head = {{"schema", "cleanslate.report/1"},
                       {"command", report.command},
                       {"playbook", text_or_null(report.playbook)},
                       {"dry_run", report.dry_run},
                       {"started", report.started},
                       {"seconds", seconds_or_null(report.took)},
                       {"notes", notes_json(report.result.notes)},
                       {"summary", summary_json(report)}};
    std::string text = dump(head);
    text.pop_back();  // the object goes on with its hosts
    sink(text + ",\n\"hosts\":[");
    std::string_view separator = "\n";
    for (const HostOutcome& host : report.result.hosts) {
        sink(std::string(separator) + dump(host_json(report, host, raw_commands)));
        separator = ",\n";
    }
    sink("\n]}\n");
}

}  // namespace cleanslate::controller
