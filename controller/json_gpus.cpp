// What a survey saw, in the JSON report: GPUs, holders, findings.

#include <set>
#include <string_view>

#include "controller/json_parts.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

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

void write_finding(JsonWriter& json, const Finding& finding) {
    json.object([&] {
        json.key("severity").text(to_string(finding.severity));
        json.key("code").text(finding.code);
        json.key("text").text(finding.text);
        json.key("remedy").text_or_null(finding.remedy);
    });
}

void write_holder(JsonWriter& json, const Holder& holder) {
    json.object([&] {
        write_pid(json.key("pid"), holder.key);
        write_start(json.key("start"), holder);
        write_holder_members(json, holder);
    });
}

// By column, as printed, the first of a name; null where nothing of it was seen.
void write_optional(JsonWriter& json, const std::vector<OptionalCell>& cells) {
    if (cells.empty()) return json.null();
    json.object([&] {
        std::set<std::string_view> written;
        for (const OptionalCell& cell : cells)
            if (written.insert(cell.column).second) json.foreign_key(cell.column).text(cell.cell);
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
        json.key("judged").boolean(gpu.judged);
        json.key("repaired").boolean(gpu.repaired);
        write_findings(json.key("findings"), gpu.findings);
        write_holders(json.key("holders"), gpu.holders);
        write_optional(json.key("optional"), gpu.optional);
        json.key("instances").list(gpu.instances, [&](const auto& instance) {
            write_instance(json, instance);
        });
    });
}

}  // namespace

void write_key_members(JsonWriter& json, const ProcessKey& key) {
    write_pid(json.key("pid"), key);
    write_start(json.key("start"), key);
}

void write_keys(JsonWriter& json, const std::vector<ProcessKey>& keys) {
    json.list(keys, [&](const ProcessKey& key) { json.object([&] { write_key_members(json, key); }); });
}

void write_holder_members(JsonWriter& json, const Holder& holder) {
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
}

void write_holders(JsonWriter& json, const std::vector<Holder>& holders) {
    json.list(holders, [&](const Holder& holder) { write_holder(json, holder); });
}

void write_findings(JsonWriter& json, const std::vector<Finding>& findings) {
    json.list(findings, [&](const Finding& finding) { write_finding(json, finding); });
}

void write_texts(JsonWriter& json, const std::vector<std::string>& texts) {
    json.list(texts, [&](const std::string& text) { json.text(text); });
}

void write_gpus(JsonWriter& json, const std::vector<GpuVerdict>& gpus) {
    json.list(gpus, [&](const GpuVerdict& gpu) { write_gpu(json, gpu); });
}

}  // namespace cleanslate::controller
