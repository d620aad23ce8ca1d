// The answer of the survey's optional query, put into the GPUs that it is of.

#include <fmt/format.h>

#include <algorithm>

#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "agentless/nvidia_smi_lines.hpp"
#include "agentless/nvidia_smi_optional.hpp"
#include "agentless/nvidia_smi_row.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::size_t most_rows = 1024;
constexpr std::size_t most_problems = 64;

// One row, told by what it shows of the GPU that it is of.
struct OptionalRow {
    std::string line;  // for a problem
    std::optional<int> index;
    std::string uuid, bus_id;
    std::vector<OptionalCell> cells;
};

// Agrees in all that both show, and in something.
bool is_of(const OptionalRow& row, const GpuRow& gpu) {
    bool shared = false, differs = false;
    const auto compare = [&](bool both, bool same) {
        shared = shared || (both && same);
        differs = differs || (both && !same);
    };
    compare(!row.uuid.empty() && !gpu.uuid.empty(), row.uuid == gpu.uuid);
    compare(!row.bus_id.empty() && !gpu.bus_id.empty(), row.bus_id == gpu.bus_id);
    compare(row.index && gpu.index, row.index == gpu.index);
    return shared && !differs;
}

class OptionalReader {
  public:
    OptionalReader(const std::vector<std::string>& columns, std::vector<GpuRow>& gpus) : gpus_(gpus) {
        for (const auto& column : columns) columns_.push_back(normal_column(column));
    }

    void line(const Line& line) {
        const auto text = trim(line.text);
        if (line.cut) return problem(text);
        if (text.empty()) return;
        // Nothing of it holds a comma. A line that no newline ends may go on.
        const auto cells = split_cells(text, columns_.size() + 1);
        if (!line.terminated || cells.size() != columns_.size()) return problem(text);
        if (rows_.size() >= most_rows) {
            flooded_ = true;
            return problem(text);
        }
        OptionalRow row;
        row.line = text.substr(0, longest_problem);
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (!read(row, columns_[i], cells[i])) return problem(text);
        rows_.push_back(std::move(row));
    }

    OptionalTable finish() {
        std::vector<std::vector<OptionalRow*>> rows_of(gpus_.size());
        for (auto& row : rows_) {
            // Above the bound nobody knows any more which rows stand alone.
            const auto gpu = flooded_ ? std::nullopt : only_gpu_of(row);
            if (gpu)
                rows_of[*gpu].push_back(&row);
            else
                problem(row.line);
        }
        for (std::size_t i = 0; i < gpus_.size(); ++i) {
            if (rows_of[i].size() == 1)
                put(*rows_of[i].front(), gpus_[i]);
            else
                for (const auto* row : rows_of[i]) problem(row->line);
        }
        if (dropped_ > 0) table_.problems.push_back(fmt::format("{} more lines were not read", dropped_));
        return std::move(table_);
    }

  private:
    static constexpr std::size_t longest_problem = 512;

    // Whether the cell is a value or a failure text where a value tells which GPU it is.
    static bool read(OptionalRow& row, const std::string& column, std::string_view cell) {
        const bool failed = read_cell(cell).kind != CellKind::plain;
        if (column == "index") {
            row.index = read_index(cell);
            return row.index || failed;
        }
        if (column == "uuid") {
            row.uuid = is_uuid(cell) ? cell : "";
            return !row.uuid.empty() || failed;
        }
        if (column == "pci.bus_id") {
            row.bus_id = is_bus_id_cell(cell) ? normal_bus_id(cell) : "";
            return !row.bus_id.empty() || failed;
        }
        row.cells.push_back({column, bounded(cell)});
        return true;
    }

    std::optional<std::size_t> only_gpu_of(const OptionalRow& row) const {
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < gpus_.size(); ++i) {
            if (!is_of(row, gpus_[i])) continue;
            if (found) return std::nullopt;
            found = i;
        }
        return found;
    }

    static void put(OptionalRow& row, GpuRow& gpu) {
        gpu.optional = std::move(row.cells);
        judge_optional_columns(gpu);
    }

    void problem(std::string_view text) {
        if (table_.problems.size() + 1 < most_problems)
            table_.problems.emplace_back(text.substr(0, longest_problem));
        else
            ++dropped_;
    }

    std::vector<std::string> columns_;
    std::vector<GpuRow>& gpus_;
    std::vector<OptionalRow> rows_;
    OptionalTable table_;
    std::size_t dropped_ = 0;
    bool flooded_ = false;
};

}  // namespace

OptionalTable add_optional_table(std::string_view out, const std::vector<std::string>& columns,
                                 std::vector<GpuRow>& gpus) {
    OptionalReader reader(columns, gpus);
    each_line(out, [&](const Line& line) { reader.line(line); });
    return reader.finish();
}

}  // namespace cleanslate::agentless
