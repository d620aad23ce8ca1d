#include "controller/history/host_rows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/text.hpp"
#include "controller/json_text.hpp"
#include "controller/json_writer.hpp"

namespace cleanslate::controller::history {
namespace {

using namespace agentless;

constexpr std::size_t why_shown = 300;  // code points

// Unknown for one of these, a host has still shown which GPUs it has. What is not listed here may have cut
// the list of them.
constexpr std::array<std::string_view, 22> doubts_no_gpu = {"count-mismatch",
                                                            "count-unproven",
                                                            "gpu-not-everywhere",
                                                            "gpu-without-driver",
                                                            "no-row",
                                                            "memory-unreadable",
                                                            "memory-not-shown",
                                                            "health-unreadable",
                                                            "apps-unreadable",
                                                            "holder-without-pid",
                                                            "holder-not-placed",
                                                            "app-name-broken",
                                                            "holders-not-visible",
                                                            "holders-unreadable",
                                                            "driver-interrupt",
                                                            "permission-refused",
                                                            "not-settled",
                                                            "host-busy",
                                                            "daemon-not-restarted",
                                                            "gpu-not-found",
                                                            "reboot-failed",
                                                            "index-unexpected"};

bool shows_its_gpus(const HostVerdict& verdict) {
    if (verdict.gpus.empty()) return false;
    return std::ranges::all_of(verdict.findings, [](const Finding& finding) {
        return finding.severity != Severity::unknown ||
               std::ranges::find(doubts_no_gpu, finding.code) != doubts_no_gpu.end();
    });
}

bool is_bad(int state) {
    return state == static_cast<int>(Verdict::dirty) || state == static_cast<int>(Verdict::sick);
}

bool is_dark(int state) {
    return state == static_cast<int>(Verdict::unknown) || state == static_cast<int>(Verdict::unreachable);
}

int flags_of(const Holder& holder) {
    return (holder.is_protected ? 1 : 0) | (holder.ghost ? 2 : 0) | (holder.inherited ? 4 : 0) |
           (holder.foreign_pid ? 8 : 0) | (holder.without_device ? 16 : 0);
}

// No process has pid 0, and none in /proc the start time 0.
std::optional<std::int64_t> pid_of(const ProcessKey& key) {
    return key.pid == 0 ? std::nullopt : std::optional<std::int64_t>(key.pid);
}
std::optional<std::int64_t> start_of(const ProcessKey& key) {
    return key.start == 0 ? std::nullopt : std::optional(static_cast<std::int64_t>(key.start));
}

std::optional<std::int64_t> mib_of(const std::optional<Mebibytes>& size) {
    return size ? std::optional<std::int64_t>(size->count) : std::nullopt;
}

std::optional<std::int64_t> ms_of(const std::optional<Milliseconds>& duration) {
    return duration ? std::optional<std::int64_t>(duration->count()) : std::nullopt;
}

std::string text_of(const Finding& finding) { return finding.code + ": " + finding.text; }

const Finding* first_of(const std::vector<Finding>& findings, Severity severity) {
    const auto found = std::ranges::find(findings, severity, &Finding::severity);
    return found == findings.end() ? nullptr : &*found;
}

// Nothing to compare: it was not begun, the sweep's own end (its deadline, Ctrl-C) cut it before it was seen,
// or only some of its GPUs were judged.
bool is_not_looked_at(const HostOutcome& outcome) {
    if (not_tried(outcome) || is_clean_in_part(outcome)) return true;
    return outcome.error && is_dark(static_cast<int>(outcome.verdict)) &&
           (outcome.error->kind == "deadline" || outcome.error->kind == "cancelled");
}

}  // namespace

std::string gpu_set_of(const HostOutcome& host) {
    if (!host.last || !shows_its_gpus(*host.last)) return {};
    std::string text;
    JsonWriter json(text);
    json.list(host.last->gpus, [&](const GpuVerdict& gpu) {
        const auto member = [&](int part) {
            if (part == 0) return json.number_or_null(gpu.index);
            json.text(part == 1 ? gpu.uuid : part == 2 ? gpu.bus_id : gpu.name);
        };
        json.list(std::array{0, 1, 2, 3}, member);
    });
    return text;
}

std::string why_of(const HostOutcome& host) {
    if (host.verdict == Verdict::clean || host.verdict == Verdict::dirty) return {};
    if (host.error) {
        const std::string phase = host.error->phase.empty() ? "" : host.error->phase + ": ";
        return ellipsize(phase + host.error->message, why_shown);
    }
    const Severity severity = host.verdict == Verdict::sick ? Severity::sick : Severity::unknown;
    const auto findings = findings_of(host);
    if (const Finding* of_host = first_of(findings, severity)) return ellipsize(text_of(*of_host), why_shown);
    if (!host.last) return {};
    for (const GpuVerdict& gpu : host.last->gpus) {
        const Finding* const of_gpu = first_of(gpu.findings, severity);
        if (of_gpu == nullptr) continue;
        const std::string where = gpu.index ? "GPU " + std::to_string(*gpu.index) + ": " : std::string{};
        return ellipsize(where + text_of(*of_gpu), why_shown);
    }
    return {};
}

HostRows::HostRows(Database& database, SweepId sweep, std::int64_t started, std::optional<SweepId> before)
    : database_(database),
      sweep_(sweep),
      started_(started),
      words_(database),
      find_host_(database, "SELECT id FROM hosts WHERE name = ?"),
      insert_host_(database, "INSERT INTO hosts(name) VALUES(?)"),
      find_set_(database, "SELECT id FROM gpu_sets WHERE gpus = ?"),
      insert_set_(database, "INSERT INTO gpu_sets(gpus) VALUES(?)"),
      insert_result_(database, "INSERT INTO host_results VALUES(?, ?, ?, ?, ?, ?, ?, ?)"),
      insert_gpu_(database, "INSERT INTO gpu_results VALUES(?, ?, ?, ?, ?, ?, ?)"),
      insert_holder_(database, "INSERT INTO holders VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      insert_finding_(database, "INSERT INTO findings VALUES(?, ?, ?, ?, ?)"),
      insert_action_(database, "INSERT INTO actions VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") {
    if (!before) return;
    Statement rows(database,
                   "SELECT host, gpu_set, dirty_since, unknown_since FROM host_results WHERE sweep = ?");
    for (rows.start(*before); rows.step();)
        before_[rows.integer(0)] = {rows.integer_or_nothing(1), rows.integer_or_nothing(2),
                                    rows.integer_or_nothing(3)};
}

std::int64_t HostRows::host_id(const std::string& name) {
    find_host_.start(name);
    if (find_host_.step()) return find_host_.integer(0);
    insert_host_.run(name);
    return database_.last_row();
}

std::optional<std::int64_t> HostRows::gpu_set_id(const std::string& gpus) {
    if (gpus.empty()) return std::nullopt;
    find_set_.start(gpus);
    if (find_set_.step()) return find_set_.integer(0);
    insert_set_.run(gpus);
    return database_.last_row();
}

// What of the sweep before goes on.
HostRows::Carried HostRows::carry(std::int64_t host, int state) const {
    const auto found = before_.find(host);
    Carried carried = found == before_.end() ? Carried{} : found->second;
    if (state == static_cast<int>(Verdict::clean)) carried.dirty_since.reset();
    if (is_bad(state) && !carried.dirty_since) carried.dirty_since = started_;
    if (is_dark(state) && !carried.unknown_since) carried.unknown_since = started_;
    if (state != not_begun && !is_dark(state)) carried.unknown_since.reset();
    return carried;
}

void HostRows::add(const HostOutcome& outcome) {
    const std::int64_t host = host_id(printable(outcome.name));
    const int state = is_not_looked_at(outcome) ? not_begun : static_cast<int>(outcome.verdict);
    Carried carried = carry(host, state);
    if (const auto seen = gpu_set_id(gpu_set_of(outcome))) carried.gpu_set = seen;
    insert_result_.run(sweep_, host, place_++, state, carried.gpu_set, carried.dirty_since,
                       carried.unknown_since,
                       state == not_begun ? std::nullopt : words_.id_of(why_of(outcome)));
    holder_place_ = 0;
    if (outcome.last) add_gpus(host, *outcome.last);
    add_findings(host, outcome);
    add_actions(host, outcome);
}

std::optional<std::int64_t> HostRows::command_id(const std::optional<std::string>& command) {
    return command ? words_.id_of(shown_command(*command, false)) : std::nullopt;
}

void HostRows::add_gpus(std::int64_t host, const HostVerdict& verdict) {
    int place = -1;
    for (const GpuVerdict& gpu : verdict.gpus) {
        ++place;
        if (gpu.verdict != Verdict::clean)
            insert_gpu_.run(sweep_, host, place, gpu.index, words_.id_of(printable(gpu.uuid)),
                            static_cast<int>(gpu.verdict), mib_of(gpu.used));
        for (const Holder& holder : gpu.holders)
            if (!holder.is_protected || gpu.verdict != Verdict::clean)
                add_holder(host, holder, place, gpu.index);
    }
    for (const Holder& opener : verdict.openers)
        if (!opener.is_protected) add_holder(host, opener, std::nullopt, std::nullopt);
}

void HostRows::add_holder(std::int64_t host, const Holder& holder, std::optional<int> gpu_place,
                          std::optional<int> gpu) {
    insert_holder_.run(sweep_, host, holder_place_++, gpu_place, gpu, pid_of(holder.key),
                       start_of(holder.key), words_.id_of(printable(holder.user)), words_.id_of(holder.exe),
                       command_id(holder.command), words_.id_of(holder.unit), mib_of(holder.used),
                       holder.age_s, flags_of(holder));
}

// Each code once, with the worst severity that it has there; notes are in the report alone.
void HostRows::add_findings(std::int64_t host, const HostOutcome& outcome) {
    struct Said {
        Severity severity = Severity::note;
        int gpus = 0;
    };
    std::map<std::string, Said> said;
    const auto add = [&](const Finding& finding, int gpus) {
        if (finding.severity == Severity::note) return;
        Said& code = said[finding.code];
        code.severity = std::max(code.severity, finding.severity);
        code.gpus += gpus;
    };
    for (const Finding& finding : findings_of(outcome)) add(finding, 0);
    if (outcome.last)
        for (const GpuVerdict& gpu : outcome.last->gpus)
            for (const Finding& finding : gpu.findings) add(finding, 1);
    for (const auto& [code, how] : said)
        insert_finding_.run(sweep_, host, words_.id_of(code), static_cast<int>(how.severity), how.gpus);
}

void HostRows::add_actions(std::int64_t host, const HostOutcome& outcome) {
    int place = 0;
    for (const SignalAction& action : outcome.signals) {
        const bool told = action.result != SignalResult::sent;
        insert_action_.run(sweep_, host, place++, action.step, words_.id_of(printable(action.signal)),
                           pid_of(action.process.key), start_of(action.process.key),
                           words_.id_of(printable(action.process.user)), command_id(action.process.command),
                           words_.id_of(told ? std::string(to_string(action.result)) : std::string{}),
                           ms_of(action.took));
    }
    for (const CommandAction& action : outcome.commands)
        insert_action_.run(sweep_, host, place++, action.step,
                           words_.id_of(std::string(to_string(action.kind))), nullptr, nullptr, nullptr,
                           command_id(action.command), words_.id_of(std::string(command_word(action))),
                           ms_of(action.took));
}

}  // namespace cleanslate::controller::history
