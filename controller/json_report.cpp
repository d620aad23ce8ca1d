#include "controller/json_report.hpp"

#include "controller/json_parts.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

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
    const bool has_port = !report.local && report.command != "parse" && host.port != 0;
    const HostVerdict none;
    const HostVerdict& last = host.last ? *host.last : none;
    json.object([&] {
        json.key("name").text(host.name);
        json.key("address").text_or_null(host.address);
        has_port ? json.key("port").number(host.port) : json.key("port").null();
        write_verdict(json.key("verdict"), verdict_of(report, host));
        json.key("seconds").seconds_or_null(host.started ? std::optional(host.took) : std::nullopt);
        json.key("boot_id").text_or_null(host.boot_id);
        json.key("driver_version").text_or_null(host.driver_version);
        write_findings(json.key("findings"), findings_of(host));
        json.key("surveyed").boolean(host.last.has_value());
        write_gpus(json.key("gpus"), last.gpus);
        write_holders(json.key("openers"), last.openers);
        write_actions(json.key("actions"), host.signals);
        write_commands(json.key("commands"), host.commands, raw);
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
        json.key("expected_hosts").number_or_null(report.expect_hosts);
        if (!report.is_run()) return;
        json.key("commands").object([&] {
            json.key("ok").number(summary.asked[static_cast<std::size_t>(Asked::ok)]);
            json.key("failed").number(summary.asked[static_cast<std::size_t>(Asked::failed)]);
            json.key("not_asked").number(summary.asked[static_cast<std::size_t>(Asked::not_asked)]);
        });
    });
}

void write_share(JsonWriter& json, const std::optional<Share>& share) {
    if (!share) return json.null();
    json.object([&] {
        json.key("index").number(share->shard.index);
        json.key("count").number(share->shard.count);
        json.key("hosts_in_all").number(share->hosts_in_all);
        json.key("selection").text(share->selection);
    });
}

void write_head(JsonWriter& json, const Report& report) {
    json.object([&] {
        json.key("schema").text("cleanslate.report/1");
        json.key("command").text(report.command);
        json.key("playbook").text_or_null(report.playbook);
        json.key("inventory").text_or_null(report.inventory);
        json.key("limit").text_or_null(report.limit);
        write_share(json.key("shard"), report.share);
        json.key("dry_run").boolean(report.dry_run);
        json.key("declined").boolean(report.declined);
        json.key("local").boolean(report.local);
        json.key("started").text(report.started);
        json.key("seconds").seconds(report.took);
        write_texts(json.key("notes"), report.result.notes);
        const bool audited = !report.result.audit_failed;
        audited ? json.key("audit_error").null() : json.key("audit_error").text(report.result.audit_error);
        write_summary_value(json.key("summary"), report);
    });
}

}  // namespace

std::string json_of_host(const Report& report, const HostOutcome& host, bool raw_commands) {
    std::string text;
    JsonWriter json(text);
    write_host(json, report, host, raw_commands);
    return text;
}

std::string json_of_summary(const Report& report) {
    std::string text;
    JsonWriter json(text);
    write_summary_value(json, report);
    return text;
}

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
