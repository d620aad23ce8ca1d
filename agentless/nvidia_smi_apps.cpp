// The table that a compute-apps query prints.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "agentless/nvidia_smi_lines.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::size_t most_apps = 65'536;
constexpr std::size_t most_problems = 64;
constexpr std::size_t longest_name = 4096;
constexpr std::size_t longest_rest = 512;
constexpr std::uint64_t most_pid = 4'194'304;

std::vector<std::string> columns_of(std::string_view names) {
    std::vector<std::string> columns;
    for (const auto name : split(names, ',')) columns.push_back(normal_column(name));
    return columns;
}

// A header is column names and nothing else, the pid among them: a row may have a process in it whose file is
// called "x,pid".
bool is_header(const std::vector<std::string>& columns) {
    constexpr std::string_view name_bytes = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    return std::ranges::find(columns, "pid") != columns.end() &&
           std::ranges::all_of(columns, [&](const std::string& column) {
               return !column.empty() && column.front() >= 'a' && column.front() <= 'z' &&
                      column.find_first_not_of(name_bytes) == std::string::npos;
           });
}

// Absent for [N/A] and the like, and for what is no pid; `ok` tells the two apart.
std::optional<Pid> read_pid(std::string_view cell, bool& ok) {
    const auto number = parse_number(cell);
    if (number && *number > 0 && *number <= most_pid) return static_cast<Pid>(*number);
    ok = read_cell(cell).kind != CellKind::plain;
    return std::nullopt;
}

// A line that says nothing that is known, and is no part of a row: neither a row that was cut, nor a forged
// one that lacks something.
bool may_be_rest_of_name(std::string_view text) {
    const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
    if (has("GPU-") || has("MIG-") || has("MiB") || text.front() == '[') return false;
    const auto first = split_cells(text, 2).front();
    if (!first.empty() && first.find_first_not_of("0123456789") == std::string_view::npos) return false;
    return classify_line(text).code == "unrecognised-line";
}

class AppReader {
  public:
    void line(const Line& line) {
        const auto text = trim(line.text);
        if (text.empty() && !line.cut) return;
        const bool goes_on = std::exchange(name_goes_on_, false);
        if (line.cut) return problem(text);
        if (table_.apps.size() >= most_apps) return problem(text);
        if (first_ && take_header(text, line.terminated)) return;
        if (take_app(text, line.terminated)) {
            name_goes_on_ = line.terminated && name_is_last();
        } else if (goes_on && may_be_rest_of_name(text) && table_.name_rests.size() < most_problems) {
            table_.name_rests.push_back({table_.apps.back().pid, std::string(text.substr(0, longest_rest))});
            name_goes_on_ = line.terminated;
        } else {
            problem(text);
        }
    }

    AppTable finish() {
        if (dropped_ > 0) table_.problems.push_back(fmt::format("{} more lines were not read", dropped_));
        return std::move(table_);
    }

  private:
    bool take_header(std::string_view text, bool terminated) {
        first_ = false;
        auto columns = columns_of(text);
        if (!terminated || !is_header(columns)) {
            // Without a header the order is the project's own, or, where a uuid comes first, the usual other
            // one.
            columns_ =
                columns_of(is_uuid(split_cells(text, 2).front()) ? "uuid,pid,used_memory,name" : app_columns);
            return false;
        }
        columns_ = std::move(columns);
        return true;
    }

    bool name_is_last() const { return columns_.back() == "process_name" || columns_.back() == "name"; }

    bool take_app(std::string_view text, bool terminated) {
        const auto cells = split_cells(text, columns_.size() + (name_is_last() ? 0 : 1));
        if (cells.size() != columns_.size()) return false;
        ComputeApp app;
        bool ok = true;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (columns_[i] == "pid")
                app.pid = read_pid(cells[i], ok);
            else if (columns_[i] == "uuid")
                ok = ok && (is_uuid(cells[i]) || read_cell(cells[i]).kind != CellKind::plain);
            if (columns_[i] == "uuid" && is_uuid(cells[i])) app.uuid = std::string(cells[i]);
            if (columns_[i] == "used_gpu_memory") app.used = read_mebibytes(cells[i]);
            if (columns_[i] == "process_name" || columns_[i] == "name")
                app.name = std::string(cells[i].substr(0, longest_name));
        }
        // A number that ends the output without a newline may be the beginning of a longer one.
        if (!terminated && columns_.back() == "used_gpu_memory" && !cells.back().ends_with("MiB"))
            app.used.reset();
        if (!terminated && columns_.back() == "pid") return false;
        if (ok) table_.apps.push_back(std::move(app));
        return ok;
    }

    void problem(std::string_view text) {
        if (table_.problems.size() + 1 < most_problems)
            table_.problems.emplace_back(text.substr(0, 512));
        else
            ++dropped_;
    }

    AppTable table_;
    std::vector<std::string> columns_;
    bool first_ = true;
    bool name_goes_on_ = false;  // the line above ends with a name, or with the rest of one
    std::size_t dropped_ = 0;
};

}  // namespace

AppTable read_app_table(std::string_view out) {
    AppReader reader;
    each_line(out, [&](const Line& line) { reader.line(line); });
    return reader.finish();
}

}  // namespace cleanslate::agentless
