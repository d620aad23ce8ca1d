// What a survey saw, read back: the other side of json_gpus.cpp.

#include "controller/report_reader_parts.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr Verdict verdicts[] = {Verdict::clean, Verdict::dirty, Verdict::sick, Verdict::unknown};
constexpr Severity severities[] = {Severity::note, Severity::dirty, Severity::sick, Severity::unknown};

std::uint64_t read_start(const JsonCursor& json) {
    if (json.is_null()) return 0;
    const auto start = parse_number(json.text());
    if (!start) json.refuse("wants a decimal number in a text");
    return start.value_or(0);
}

std::vector<OptionalCell> read_optional(const JsonCursor& json) {
    std::vector<OptionalCell> cells;
    if (json.is_null()) return cells;
    json.each_member([&](const std::string& column, const JsonCursor& cell) {
        cells.push_back({printable(column), cell.text()});
    });
    return cells;
}

std::vector<ProcessKey> read_keys(const JsonCursor& json) {
    std::vector<ProcessKey> keys;
    json.each([&](const JsonCursor& key) { keys.push_back(read_key(key)); });
    return keys;
}

MigInstance read_instance(const JsonCursor& json) {
    MigInstance instance;
    instance.device = json.member("device").number_or_null<int>(0);
    instance.gpu_instance = json.member("gpu_instance").number_or_null<int>(0);
    instance.compute_instance = json.member("compute_instance").number_or_null<int>(0);
    instance.profile = json.member("profile").text_or_empty();
    instance.uuid = json.member("uuid").text_or_empty();
    const JsonCursor holders = json.member("holders");
    if (!holders.is_null()) instance.holders = read_keys(holders);
    return instance;
}

GpuVerdict read_gpu(const JsonCursor& json, Verdict of_host) {
    GpuVerdict gpu;
    gpu.index = json.member("index").number_or_null<int>(0);
    gpu.uuid = json.member("uuid").text_or_empty();
    gpu.bus_id = json.member("bus_id").text_or_empty();
    gpu.name = json.member("name").text_or_empty();
    gpu.used = json.member("used_mib").mib_or_null();
    gpu.total = json.member("total_mib").mib_or_null();
    gpu.limit = json.member("limit_mib").mib_or_null();
    gpu.verdict = json.member("verdict").word(verdicts);
    // An older writer does not say so: beside a clean host only those that were not can be other than clean.
    const auto judged = json.known("judged");
    gpu.judged = judged ? judged->boolean() : of_host != Verdict::clean || gpu.verdict == Verdict::clean;
    gpu.repaired = json.member("repaired").boolean();
    gpu.findings = read_findings(json.member("findings"));
    gpu.holders = read_holders(json.member("holders"));
    gpu.optional = read_optional(json.member("optional"));
    json.member("instances").each([&](const JsonCursor& instance) {
        gpu.instances.push_back(read_instance(instance));
    });
    return gpu;
}

// What of a partly known holder may be missing.
void read_rest(const JsonCursor& json, Holder& holder) {
    holder.state = json.member("state").letter_or_mark();
    holder.used = json.member("used_mib").mib_or_null();
    holder.is_protected = json.member("protected").boolean();
    holder.protected_by = json.member("protected_by").text_or_empty();
    holder.unit = json.member("unit").text_or_null();
    holder.age_s = json.member("age_seconds").number_or_null<std::uint64_t>();
    holder.ghost = json.member("ghost").boolean();
    holder.inherited = json.member("inherited").boolean();
    holder.foreign_pid = json.member("foreign_pid").boolean();
    holder.without_device = json.member("without_device").boolean();
}

}  // namespace

ProcessKey read_key(const JsonCursor& json) {
    ProcessKey key;
    key.pid = json.member("pid").number_or_null<Pid>(1).value_or(0);
    key.start = read_start(json.member("start"));
    return key;
}

Holder read_holder(const JsonCursor& json, bool partly) {
    Holder holder;
    holder.key = read_key(json);
    holder.user = json.member("user").text_or_empty();
    const bool whole = !partly || json.known("exe");
    if (whole) holder.exe = json.member("exe").text_or_null();
    holder.command = json.member("command").text_or_null();
    if (whole) read_rest(json, holder);
    return holder;
}

std::vector<Holder> read_holders(const JsonCursor& json) {
    std::vector<Holder> holders;
    json.each([&](const JsonCursor& holder) { holders.push_back(read_holder(holder)); });
    return holders;
}

std::vector<Finding> read_findings(const JsonCursor& json) {
    std::vector<Finding> findings;
    json.each([&](const JsonCursor& finding) {
        Finding& read = findings.emplace_back();
        read.severity = finding.member("severity").word(severities);
        read.code = finding.member("code").text();
        read.text = finding.member("text").text();
        read.remedy = finding.member("remedy").text_or_empty();
    });
    return findings;
}

std::vector<GpuVerdict> read_gpus(const JsonCursor& json, Verdict of_host) {
    std::vector<GpuVerdict> gpus;
    json.each([&](const JsonCursor& gpu) { gpus.push_back(read_gpu(gpu, of_host)); });
    return gpus;
}

std::vector<std::string> read_texts(const JsonCursor& json) {
    std::vector<std::string> texts;
    json.each([&](const JsonCursor& text) { texts.push_back(text.text()); });
    return texts;
}

}  // namespace cleanslate::controller
