#include "agentless/nvidia_smi_row.hpp"

#include <fmt/format.h>

#include <map>

#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "agentless/nvidia_smi_optional.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

bool failed(std::string_view cell) { return read_cell(cell).kind != CellKind::plain; }

bool acceptable(std::string_view column, std::string_view cell) {
    if (column == "index") return is_pid_list(cell) || failed(cell);
    if (column == "memory.used") return read_mebibytes(cell).has_value() || failed(cell);
    if (column == "uuid") return is_uuid(cell) || failed(cell);
    if (column == "pci.bus_id") return is_bus_id_cell(cell) || failed(cell);
    return true;
}

void add(GpuRow& row, Trouble trouble, std::string_view code, std::string text) {
    row.troubles.push_back({trouble, std::string(code), std::move(text), {}});
}

// What nvidia-smi never prints: no text at all, a failure text not known here, bytes that are no text.
bool is_damaged(std::string_view cell) {
    return read_cell(cell).kind == CellKind::other_failure || printable(cell) != cell;
}

void refuse(GpuRow& row, std::string_view column, std::string_view cell,
            std::string_view code = "cell-unreadable") {
    add(row, Trouble::unreadable, code,
        fmt::format("{} is {}", column, cell.empty() ? "empty" : ellipsize(bounded(cell), 60)));
}

// Whether a cell that no newline ends is there to its end: by its unit, its bracket or its shape.
bool is_whole(std::string_view column, std::string_view cell) {
    if (column == "uuid") return is_uuid(cell);
    if (column == "pci.bus_id") return is_bus_id_cell(cell);
    return cell.ends_with("MiB") || cell.ends_with(']') || cell == "ERR!";
}

void read_index_cell(GpuRow& row, std::string_view cell) {
    row.index = read_index(cell);
    if (!row.index && is_pid_list(cell))
        add(row, Trouble::unreadable, "row-fused",
            fmt::format("no GPU index: {}", ellipsize(bounded(cell), 60)));
    // That it is sick or refused is judged from the cell itself.
    const auto kind = read_cell(cell).kind;
    if (kind == CellKind::not_supported || kind == CellKind::other_failure)
        refuse(row, "index", cell, "index-unreadable");
}

// The failure texts known here are judged from the cell itself.
void read_used_cell(GpuRow& row, std::string_view cell) {
    row.used = read_mebibytes(cell);
    if (read_cell(cell).kind == CellKind::other_failure)
        refuse(row, "memory.used", cell, "memory-unreadable");
}

// Its failure texts alone are judged from the cell itself.
void read_total_cell(GpuRow& row, std::string_view column, std::string_view cell) {
    row.total = read_mebibytes(cell);
    // No GPU has none at all.
    if (row.total == Mebibytes{0}) row.total.reset();
    if (!row.total && !failed(cell)) refuse(row, column, cell);
}

// The last cell of an output that no newline ends: what it shows may be the beginning of something else.
void distrust(GpuRow& row, std::string_view column, std::string_view cell) {
    add(row, Trouble::unreadable, "row-truncated",
        fmt::format("the output ends at {} without a newline: it may go on", ellipsize(bounded(cell), 60)));
    if (column == "index") row.index.reset();
    if (column == "memory.used") row.used.reset();
    if (column == "memory.total") row.total.reset();
}

// Whether the cell leaves nothing open about health: a plain value, or no column of health at all.
bool read_health_cell(GpuRow& row, std::string_view column, std::string_view cell) {
    if (column != "temperature.gpu" && column != "pstate") return true;
    const bool value = column == "pstate" ? is_performance_state(cell) : parse_number(cell).has_value();
    const auto kind = read_cell(cell).kind;
    if (!value && (kind == CellKind::plain || kind == CellKind::other_failure))
        add(row, Trouble::unreadable, "health-unreadable", fmt::format("{} is {}", column, bounded(cell)));
    return value || kind == CellKind::sick;  // that it is sick is health enough shown
}

void read_column(GpuRow& row, std::string_view column, std::string_view cell) {
    if (column == "index")
        read_index_cell(row, cell);
    else if (column == "memory.used")
        read_used_cell(row, cell);
    else if (column == "memory.total")
        read_total_cell(row, column, cell);
    else if (column == "uuid")
        row.uuid = is_uuid(cell) ? std::string(cell) : std::string();
    else if (column == "pci.bus_id")
        row.bus_id = normal_bus_id(cell);
    else if (column == "name" && !failed(cell))
        row.name = bounded(cell);
}

// What two columns of one name can not differ in.
bool is_fixed(std::string_view column) {
    return column == "index" || column == "uuid" || column == "pci.bus_id" || column == "memory.used" ||
           column == "memory.total";
}

}  // namespace

const std::vector<std::vector<std::string>>& default_columns() {
    static const std::vector<std::vector<std::string>> columns = [] {
        std::vector<std::vector<std::string>> both{{"index", "memory.used"}, {}};
        for (const auto column : split(core_columns, ',')) both[1].emplace_back(column);
        return both;
    }();
    return columns;
}

std::vector<std::string_view> fit_cells(std::string_view line, const std::vector<std::string>& columns) {
    const bool text_last = !columns.empty() && columns.back() == "name";
    // One more than there are columns shows a surplus without splitting all of it.
    auto cells = split_cells(line, columns.size() + (text_last ? 0 : 1));
    if (cells.size() != columns.size()) return {};
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (!acceptable(columns[i], cells[i])) return {};
    return cells;
}

std::string misfit(const std::vector<std::string_view>& cells, const std::vector<std::string>& columns) {
    const auto of = [&](const std::vector<std::string>& some) -> std::string {
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (!acceptable(some[i], cells[i]))
                return fmt::format("{} is {}", some[i],
                                   cells[i].empty() ? "empty" : ellipsize(bounded(cells[i]), 60));
        return "the cells do not fit";
    };
    if (!columns.empty())
        return cells.size() == columns.size()
                   ? of(columns)
                   : fmt::format("{} cells where {} were expected", cells.size(), columns.size());
    for (const auto& some : default_columns())
        if (some.size() == cells.size())
            return fmt::format("taken for {} columns as there is no header, {}", cells.size(), of(some));
    return fmt::format("{} cells where 2 or 8 were expected", cells.size());
}

GpuRow read_row(const std::vector<std::string_view>& cells, const std::vector<std::string>& columns,
                bool terminated) {
    GpuRow row;
    std::map<std::string_view, std::string_view> read;  // a column asked for twice is read once
    bool health = true;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string_view column = columns[i], cell = cells[i];
        if (is_optional_column(column)) {
            if (cell.empty() || printable(cell) != cell) refuse(row, column, cell);
            if (read_cell(cell).kind == CellKind::refused)
                add(row, Trouble::refused, "permission-refused",
                    fmt::format("{} is {}", column, bounded(cell)));
            row.optional.push_back({columns[i], bounded(cell)});
            continue;
        }
        row.cells.push_back(bounded(cell));
        const auto [first, fresh] = read.emplace(column, cell);
        if (!fresh) {
            if (is_fixed(column) && first->second != cell) refuse(row, column, cell);
            continue;
        }
        const bool is_health = column == "temperature.gpu" || column == "pstate";
        // The verdict has words of its own for these.
        if (is_damaged(cell) && !is_health && column != "index" && column != "memory.used")
            refuse(row, column, cell);
        read_column(row, column, cell);
        health = read_health_cell(row, column, cell) && health;
    }
    if (!read.contains("index")) add(row, Trouble::unreadable, "index-unreadable", "the query has no index");
    if (!read.contains("memory.used"))
        add(row, Trouble::unreadable, "memory-unreadable", "the query has no memory.used");
    if (!terminated && !is_whole(columns.back(), cells.back())) distrust(row, columns.back(), cells.back());
    if (!health || !read.contains("temperature.gpu") || !read.contains("pstate"))
        add(row, Trouble::none, "health-not-shown", "temperature.gpu and pstate were not shown");
    judge_optional_columns(row);
    return row;
}

std::string bounded(std::string_view cell) { return std::string(cell.substr(0, 256)); }

}  // namespace cleanslate::agentless
