#include "controller/report_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "controller/audit_query.hpp"
#include "controller/report_reader_parts.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::string_view schema = "cleanslate.report/1";
constexpr Verdict verdicts[] = {Verdict::clean, Verdict::dirty, Verdict::sick, Verdict::unknown,
                                Verdict::unreachable};

// A host, and what can be judged only when the whole report is known.
struct ReadHost {
    HostOutcome host;
    bool has_verdict = false;
};

std::optional<Error> read_error(const JsonCursor& json) {
    if (json.is_null()) return std::nullopt;
    Error error;
    error.kind = json.member("kind").text();
    error.phase = json.member("phase").text_or_empty();
    error.message = json.member("message").text();
    error.remedy = json.member("remedy").text_or_empty();
    return error;
}

// An older writer does not say whether there was a survey.
bool was_surveyed(const JsonCursor& json, const HostVerdict& last, const HostOutcome& host) {
    if (const auto surveyed = json.known("surveyed")) return surveyed->boolean();
    return !last.gpus.empty() || !last.openers.empty() || (host.started && !host.error);
}

ReadHost read_host(const JsonCursor& json) {
    ReadHost read;
    HostOutcome& host = read.host;
    host.name = json.member("name").text();
    if (host.name.empty()) json.member("name").refuse("it is empty");
    host.address = json.member("address").text_or_empty();
    const auto port = json.member("port").number_or_null<std::uint16_t>(1);
    host.port = port.value_or(0);
    const JsonCursor verdict = json.member("verdict");
    read.has_verdict = !verdict.is_null();
    if (read.has_verdict) host.verdict = verdict.word(verdicts);
    const auto took = json.member("seconds").seconds_or_null();
    host.started = host.finished = took.has_value();
    host.took = took.value_or(host.took);
    if (const auto boot_id = json.known("boot_id")) host.boot_id = boot_id->text_or_empty();
    if (const auto version = json.known("driver_version")) host.driver_version = version->text_or_empty();
    std::vector<Finding> findings = read_findings(json.member("findings"));
    HostVerdict last;
    last.gpus = read_gpus(json.member("gpus"), host.verdict);
    last.openers = read_holders(json.member("openers"));
    host.signals = read_actions(json.member("actions"));
    host.commands = read_commands(json.member("commands"));
    read_spared(json.member("spared"), host);
    host.plan_steps = read_plan(json.member("plan"), host.commands.size());
    host.first_signal_to_clean = json.member("seconds_to_clean").seconds_or_null();
    host.error = read_error(json.member("error"));
    if (was_surveyed(json, last, host)) {
        last.verdict = host.verdict;
        last.findings = std::move(findings);
        host.last = std::move(last);
    } else {
        host.findings = std::move(findings);
        if (!last.gpus.empty()) json.member("gpus").refuse("nothing was surveyed");
        if (!last.openers.empty()) json.member("openers").refuse("nothing was surveyed");
    }
    return read;
}

void read_stopped_by(const JsonCursor& json, SweepResult& result) {
    const std::string word = json.is_null() ? std::string() : json.text();
    result.interrupted = word == "interrupted";
    result.deadline_passed = word == "deadline";
    result.failure_limit_reached = word == "max-failures";
    if (!word.empty() && !result.interrupted && !result.deadline_passed && !result.failure_limit_reached)
        json.refuse("wants null, interrupted, deadline or max-failures");
}

std::optional<Share> read_share(const JsonCursor& json) {
    if (json.is_null()) return std::nullopt;
    Share share;
    share.shard.count = json.member("count").number<int>(1, most_shards);
    share.shard.index = json.member("index").number<int>(1, share.shard.count);
    share.hosts_in_all = json.member("hosts_in_all").number<std::size_t>(1);
    share.selection = json.member("selection").text();
    return share;
}

void read_head(const JsonCursor& json, Report& report) {
    constexpr std::array commands{"check", "clear", "run", "parse"};
    report.command = json.member("command").text();
    if (std::ranges::find(commands, report.command) == commands.end())
        json.member("command").refuse("wants one of check, clear, run, parse");
    report.playbook = json.member("playbook").text_or_empty();
    if (const auto inventory = json.known("inventory")) report.inventory = inventory->text_or_empty();
    if (const auto limit = json.known("limit")) report.limit = limit->text_or_empty();
    if (const auto shard = json.known("shard")) report.share = read_share(*shard);
    report.dry_run = json.member("dry_run").boolean();
    if (const auto declined = json.known("declined")) report.declined = declined->boolean();
    if (const auto local = json.known("local")) report.local = local->boolean();
    report.started = json.member("started").text();
    if (!parse_time(report.started) || !report.started.ends_with('Z'))
        json.member("started").refuse("wants a time in UTC, as in 2026-11-29T12:00:00Z");
    report.took = json.member("seconds").seconds();
    report.result.notes = read_texts(json.member("notes"));
    const auto audit_error = json.known("audit_error");
    report.result.audit_failed = audit_error && !audit_error->is_null();
    if (report.result.audit_failed) report.result.audit_error = audit_error->text();
    const JsonCursor summary = json.member("summary");
    report.exit_status = summary.member("exit_status").number<int>(0, 255);
    read_stopped_by(summary.member("stopped_by"), report.result);
    if (const auto expected = summary.known("expected_hosts"))
        report.expect_hosts = expected->number_or_null<int>(1);
}

// What stands against the host's being clean; empty: nothing. A report says clean only of what was proven.
std::string contradiction_of(const HostOutcome& host) {
    if (host.verdict != Verdict::clean) return {};
    if (!host.last) return "clean, and nothing was surveyed";
    if (host.error) return "clean, and it did not come to its end";
    const auto is_not_clean = [](const GpuVerdict& gpu) {
        return gpu.judged && gpu.verdict != Verdict::clean;
    };
    const auto gpu = std::ranges::find_if(host.last->gpus, is_not_clean);
    if (gpu == host.last->gpus.end()) return {};
    return fmt::format("clean, and gpus[{}] is {}", gpu - host.last->gpus.begin(), to_string(gpu->verdict));
}

// Nothing was run, so that nothing can have come of it.
bool has_run_something(const HostOutcome& host) {
    return std::ranges::any_of(host.commands, [](const CommandAction& action) {
        return !action.planned && !action.withheld && !action.not_sent;
    });
}

// The elements of `hosts`, one after the other.
class HostsReader {
  public:
    explicit HostsReader(JsonTrouble& trouble) : trouble_(trouble) {}

    // After the first trouble the rest is not looked at: what is wrong with the whole is said first.
    void read(JsonValue& value) {
        if (trouble_) return;
        const JsonCursor json(value, trouble_, "hosts", hosts_.size());
        hosts_.push_back(read_host(json));
        if (!names_.insert(hosts_.back().host.name).second)
            json.member("name").refuse(fmt::format("'{}' stands twice", hosts_.back().host.name));
    }

    // What a host says has to go with what the report is of.
    void finish(bool says_local, Report& report) {
        const auto has_port = [](const ReadHost& read) { return read.host.port != 0; };
        const bool is_parse = report.command == "parse";
        if (!says_local)
            report.local = !is_parse && !hosts_.empty() && std::ranges::none_of(hosts_, has_port);
        for (std::size_t i = 0; i < hosts_.size(); ++i) {
            ReadHost& read = hosts_[i];
            if (has_port(read) && (report.local || is_parse))
                trouble_.note(fmt::format("hosts[{}].port: wants null: there was no SSH", i));
            if (!read.has_verdict && !report.is_run())
                trouble_.note(fmt::format("hosts[{}].verdict: wants a verdict", i));
            if (const std::string contradiction = contradiction_of(read.host);
                read.has_verdict && !contradiction.empty())
                trouble_.note(fmt::format("hosts[{}].verdict: {}", i, contradiction));
            if (report.dry_run && has_run_something(read.host))
                trouble_.note(
                    fmt::format("hosts[{}].commands: one was run, and the report is of a dry run", i));
            report.result.hosts.push_back(std::move(read.host));
        }
    }

  private:
    JsonTrouble& trouble_;
    std::vector<ReadHost> hosts_;
    std::unordered_set<std::string> names_;
};

std::unexpected<Error> refused(const std::string& where, const std::string& what) {
    return fail("report", fmt::format("{}: {}", where, what), "give a report of --format json, unchanged");
}

}  // namespace

Result<Report> read_report(std::string_view json, const std::string& where) {
    if (json.size() > most_report_bytes)
        return refused(where, fmt::format("larger than {} MiB", most_report_bytes >> 20));
    JsonTrouble in_hosts, trouble;
    HostsReader hosts(in_hosts);
    const auto use = [&](JsonValue& host) -> Status {
        hosts.read(host);
        return {};
    };
    auto tree = read_json_object(json, "hosts", use, {});
    if (!tree) return refused(where, tree.error().message);
    const JsonCursor head(*tree, trouble);
    if (const std::string found = head.member("schema").text(); !trouble && found != schema)
        head.member("schema").refuse(fmt::format("wants {}, not '{}'", schema, ellipsize(found, 60)));
    if (trouble) return refused(where, trouble.first());
    if (in_hosts) return refused(where, in_hosts.first());
    Report report;
    read_head(head, report);
    head.member("hosts").each([](const JsonCursor&) {});
    if (!trouble) hosts.finish(head.known("local").has_value(), report);
    if (trouble) return refused(where, trouble.first());
    if (in_hosts) return refused(where, in_hosts.first());
    return report;
}

}  // namespace cleanslate::controller
