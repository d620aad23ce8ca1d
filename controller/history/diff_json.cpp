// cleanslate.diff/1.

#include "base/text.hpp"
#include "controller/history/diff_view.hpp"
#include "controller/history/gpu_change_view.hpp"
#include "controller/history/sweep_json.hpp"
#include "controller/json_writer.hpp"

namespace cleanslate::controller::history {
namespace {

void write_verdict(JsonWriter& json, const std::optional<agentless::Verdict>& verdict) {
    verdict ? json.text(to_string(*verdict)) : json.null();
}

void write_gpu(JsonWriter& json, const StoredGpu& gpu) {
    json.object([&] {
        json.key("index").number_or_null(gpu.index);
        json.key("uuid").text_or_null(gpu.uuid);
        json.key("verdict").text(to_string(gpu.verdict));
        json.key("used_mib").mib_or_null(gpu.used);
        gpu.newly ? json.key("newly").boolean(*gpu.newly) : json.key("newly").null();
    });
}

void write_change(JsonWriter& json, const HostChange& change) {
    json.object([&] {
        json.key("host").text(change.host);
        json.key("verdict").text(to_string(change.verdict));
        write_verdict(json.key("before"), change.before);
        write_time(json.key("dirty_since"), change.dirty_since);
        write_time(json.key("unknown_since"), change.unknown_since);
        json.key("why").text_or_null(change.why);
        json.key("codes").list(change.codes, [&](const std::string& code) { json.text(code); });
        json.key("gpus").list(change.gpus, [&](const StoredGpu& gpu) { write_gpu(json, gpu); });
        json.key("holders").list(change.holders,
                                 [&](const StoredHolder& holder) { write_holder(json, holder); });
    });
}

void write_names(JsonWriter& json, const Diff& diff, const std::vector<std::string>& names) {
    if (!diff.compares_hosts) return json.null();
    json.list(names, [&](const std::string& name) { json.text(name); });
}

}  // namespace

std::string diff_json(const Diff& diff) {
    std::string text;
    JsonWriter json(text);
    const auto changes = [&](std::string_view key, const std::vector<HostChange>& list) {
        json.key(key).list(list, [&](const HostChange& change) { write_change(json, change); });
    };
    const auto gpus = [&](std::string_view key, const std::vector<GpuChange>& list) {
        json.key(key).list(list, [&](const GpuChange& change) {
            json.object([&] { write_gpu_change_members(json, change); });
        });
    };
    json.object([&] {
        json.key("schema").text("cleanslate.diff/1");
        json.key("older");
        diff.older ? write_sweep(json, *diff.older) : json.null();
        write_sweep(json.key("newer"), diff.newer);
        json.key("same_scope").boolean(diff.older && diff.older->scope == diff.newer.scope);
        changes("newly_dirty", diff.newly_dirty);
        changes("newly_clean", diff.newly_clean);
        changes("newly_unknown", diff.newly_unknown);
        changes("still_dirty", diff.still_dirty);
        changes("still_unknown", diff.still_unknown);
        json.key("still_clean").number(diff.still_clean);
        json.key("not_looked_at").number(diff.not_looked_at);
        json.key("not_compared").number(diff.not_compared);
        write_names(json.key("hosts_gone"), diff, diff.hosts_gone);
        write_names(json.key("hosts_new"), diff, diff.hosts_new);
        gpus("gpus_gone", diff.gpus_gone);
        gpus("gpus_new", diff.gpus_new);
        gpus("gpus_swapped", diff.gpus_swapped);
        gpus("gpus_moved", diff.gpus_moved);
    });
    return text + "\n";
}

}  // namespace cleanslate::controller::history
