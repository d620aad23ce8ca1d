#include "tests/fleet/scale/driver_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tests/fleet/gpu_memory.hpp"
#include "tests/fleet/nvidia_smi_cells.hpp"
#include "tests/fleet/nvidia_smi_failures.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

// What each process has on each GPU, as the driver charges it: a CUDA process some MiB everywhere.
std::vector<Allocation> charged(const Host& host, const std::vector<Life>& lives) {
    std::vector<Allocation> all;
    for (std::size_t i = 0; i < host.processes.size(); ++i) {
        const auto& spec = host.processes[i];
        if (lives[i] == Life::gone || spec.devices != Devices::cuda) continue;
        for (const auto& gpu : host.gpus) {
            const auto held =
                std::ranges::find(spec.memory, gpu.index, [](const auto& m) { return m.first; });
            const bool context = held != spec.memory.end();
            all.push_back({gpu.minor, static_cast<pid_t>(pid_of(i)), context ? held->second : 4, context, 0});
        }
    }
    return all;
}

// nvidia-smi's lines under the name of their query.
class Rows {
  public:
    explicit Rows(std::string_view word) : word_(word) {}
    void add(std::string line) {
        while (!line.empty() && line.back() == '\n') line.pop_back();
        if (!line.empty()) out_ += fmt::format("{} {}\n", word_, escaped(line));
    }
    void fail(int status) { status_ = std::max(status_, status); }
    std::string end(const Host& host, std::string_view before_tool = "") const {
        const long status = host.smi_status >= 0 ? host.smi_status : status_;
        return fmt::format("{0}took {1} 2\n{2}tool {1} {3}\n", out_, word_, before_tool, status);
    }

  private:
    std::string_view word_;
    std::string out_;
    int status_ = 0;
};

Rows gpu_rows(const Host& host, const std::vector<Allocation>& memory, std::string_view word,
              const std::vector<std::string>& columns) {
    Rows rows(word);
    for (const auto& gpu : host.gpus) {
        if (!gpu.has_row) continue;
        const auto complaint = complaint_of(gpu);
        rows.add(complaint.text);
        rows.fail(complaint.status);
        std::vector<std::string> cells;
        for (const auto& column : columns)
            cells.push_back(
                gpu_cell(host, gpu, *find_field(gpu_fields(), column), used_mib(gpu, memory), true));
        rows.add(fmt::format("{}", fmt::join(cells, ", ")));
    }
    for (const auto& gpu : host.gpus) {
        const auto warning = warning_of(gpu);
        rows.add(warning);
        if (!warning.empty()) rows.fail(inforom_status);
    }
    return rows;
}

// The driver calls a process by its first argument, and knows nothing of a dead one.
std::string name_of_app(const Host& host, const std::vector<Life>& lives, const Allocation& app) {
    const auto index = static_cast<std::size_t>(app.pid - first_pid);
    const auto& spec = host.processes[index];
    if (lives[index] != Life::alive) return "[Not Found]";
    return spec.argv.empty() ? spec.exe : spec.argv.front();
}

Rows app_rows(const Host& host, const std::vector<Life>& lives, const std::vector<Allocation>& memory,
              const std::vector<std::string>& columns) {
    Rows rows("app");
    for (const auto& gpu : host.gpus) {
        if (gone(gpu) || !gpu.has_row) continue;
        for (const auto& app : memory) {
            if (!app.listed || app.minor != gpu.minor) continue;
            std::vector<std::string> cells;
            for (const auto& column : columns) {
                const Field& field = *find_field(app_fields(), column);
                cells.push_back(field.name == "process_name" ? name_of_app(host, lives, app)
                                                             : app_cell(host, gpu, app, field, true));
            }
            rows.add(fmt::format("{}", fmt::join(cells, ", ")));
        }
    }
    return rows;
}

std::string optional_answer(const Host& host, const std::vector<Allocation>& memory, const Script& survey) {
    std::vector<std::string> columns{"index", "uuid", "pci.bus_id"}, fields;
    std::string unknown;
    for (const auto& name : split(survey.value("optional_columns"), ',')) {
        if (find_field(gpu_fields(), name) != nullptr)
            fields.push_back(name);
        else
            unknown += fmt::format("unknown-field {}\n", name);
    }
    if (fields.empty()) return unknown + "tool opt skipped\n";
    columns.insert(columns.end(), fields.begin(), fields.end());
    return unknown + gpu_rows(host, memory, "opt", columns)
                         .end(host, fmt::format("fields {}\n", fmt::join(fields, ",")));
}

std::string list_answer(const Host& host) {
    Rows rows("list");
    for (const auto& gpu : host.gpus) {
        if (!gpu.is_listed) continue;
        const auto complaint = complaint_of(gpu);
        rows.add(complaint.text);
        rows.fail(complaint.status);
        if (!gone(gpu)) rows.add(fmt::format("GPU {}: {} (UUID: {})", gpu.index, host.model, gpu.uuid));
    }
    return rows.end(host);
}

// What nvidia-smi says instead of rows; empty where it knows all columns and has a GPU.
std::string refusal(const Host& host, const std::vector<Field>& known, std::string_view word,
                    const std::vector<std::string>& columns) {
    Rows rows(word);
    for (const auto& column : columns) {
        if (find_field(known, column) != nullptr) continue;
        rows.add(fmt::format("Field \"{}\" is not a valid field to query.", column));
        rows.fail(2);
        return rows.end(host);
    }
    if (!host.gpus.empty()) return {};
    rows.add("No devices were found");
    rows.fail(6);
    return rows.end(host);
}

}  // namespace

std::string driver_answer(const Host& host, const std::vector<Life>& lives, const Script& survey) {
    const auto memory = charged(host, lives);
    const auto gpu_columns = split(survey.value("gpu_columns"), ',');
    const auto app_columns = split(survey.value("app_columns"), ',');
    auto out = refusal(host, gpu_fields(), "gpu", gpu_columns);
    const bool has_rows = out.empty();
    if (has_rows) out = gpu_rows(host, memory, "gpu", gpu_columns).end(host);
    const auto refused = refusal(host, app_fields(), "app", app_columns);
    out += refused.empty() ? app_rows(host, lives, memory, app_columns).end(host) : refused;
    if (survey.value("optional") == "1")
        out += has_rows ? optional_answer(host, memory, survey) + list_answer(host)
                        : "tool opt skipped\ntool list skipped\n";
    return out + "done queries\n";
}

}  // namespace cleanslate::simulated
