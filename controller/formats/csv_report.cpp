#include "controller/formats/csv_report.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "controller/host_block.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

constexpr std::string_view columns =
    "host,host_verdict,gpu,uuid,bus_id,name,verdict,used_mib,total_mib,limit_mib,holders,pids,users,findings,"
    "host_findings,error\n";

// A spreadsheet would take it for a formula. The last four are the wide forms of = + - and @.
bool begins_formula(std::string_view text) {
    if (text == "-") return false;
    for (const std::string_view sign : {"=", "+", "-", "@", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"})
        if (text.starts_with(sign)) return true;
    return false;
}

// Some spreadsheets begin a cell at each semicolon, too.
std::string cell_of(std::string_view text) {
    std::string safe = printable(text);
    if (begins_formula(safe)) safe.insert(0, "'");
    for (auto at = safe.find(';'); at != std::string::npos; at = safe.find(';', at + 1))
        if (begins_formula(std::string_view(safe).substr(at + 1))) safe.insert(at + 1, "'");
    if (safe.find_first_of(",\"") == std::string::npos) return safe;
    std::string quoted = "\"";
    for (const char c : safe) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + '"';
}

template <class Number>
std::string cell_of(const std::optional<Number>& number) {
    return number ? std::to_string(*number) : std::string();
}

std::string cell_of(const std::optional<Mebibytes>& size) {
    return size ? std::to_string(size->count) : std::string();
}

// Each once, in the order of their first place.
std::string list_of(const std::vector<std::string>& texts) {
    std::set<std::string> seen;
    std::string list;
    for (const std::string& text : texts) {
        if (text.empty() || !seen.insert(text).second) continue;
        list += (list.empty() ? "" : ";") + text;
    }
    return list;
}

std::string codes_of(const std::vector<Finding>& findings) {
    std::vector<std::string> codes;
    for (const Finding& finding : findings) codes.push_back(finding.code);
    return list_of(codes);
}

std::string holder_cells(const GpuVerdict& gpu) {
    std::vector<std::string> pids, users;
    for (const Holder& holder : gpu.holders) {
        pids.push_back(holder.key.pid == 0 ? "?" : std::to_string(holder.key.pid));
        users.push_back(holder.user);
    }
    return std::to_string(gpu.holders.size()) + ',' + cell_of(list_of(pids)) + ',' + cell_of(list_of(users));
}

// `parse` sees rows alone.
std::string gpu_cells(const GpuVerdict& gpu, bool knows_holders) {
    std::string cells;
    const auto add = [&](const std::string& cell) { cells += cell + ','; };
    add(cell_of(gpu.index));
    add(cell_of(gpu.uuid));
    add(cell_of(gpu.bus_id));
    add(cell_of(gpu.name));
    add(std::string(to_string(gpu.verdict)));
    add(cell_of(gpu.used));
    add(cell_of(gpu.total));
    add(cell_of(gpu.limit));
    add(knows_holders ? holder_cells(gpu) : ",,");
    return cells + cell_of(codes_of(gpu.findings));
}

}  // namespace

void write_csv(const Report& report, const Sink& sink) {
    constexpr std::string_view no_gpu = ",,,,,,,,,,,";
    sink(columns);
    for (const HostOutcome& host : report.result.hosts) {
        const auto verdict = verdict_of(report, host);
        const std::string front =
            cell_of(host.name) + ',' + std::string(verdict ? to_string(*verdict) : "") + ',';
        const std::string back = ',' + cell_of(codes_of(findings_of(host))) + ',' +
                                 (host.error ? cell_of(error_text(*host.error)) : "") + '\n';
        std::string rows;
        if (host.last)
            for (const GpuVerdict& gpu : host.last->gpus)
                rows += front + gpu_cells(gpu, report.command != "parse") + back;
        if (rows.empty()) rows = front + std::string(no_gpu) + back;
        sink(rows);
    }
}

}  // namespace cleanslate::controller
