// The table that a GPU query prints: header, rows, and the prose between them.

#include "agentless/nvidia_smi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agentless/nvidia_smi_cells.hpp"
#include "agentless/nvidia_smi_lines.hpp"
#include "agentless/nvidia_smi_repair.hpp"
#include "agentless/nvidia_smi_row.hpp"
#include "agentless/nvidia_smi_wrapped.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::size_t most_messages = 256;
constexpr std::size_t most_problems = 256;
constexpr std::size_t most_rows = 1024;
constexpr std::size_t most_cells = 128;
constexpr std::size_t longest_odd_line = 128;

}  // namespace

class GpuTableReader::Rows {
  public:
    explicit Rows(TableOptions options)
        : options_(std::move(options)), lines_([this](const Line& next) { line(next); }) {
        for (const auto& column : options_.columns) table_.columns.push_back(normal_column(column));
    }

    void feed(std::string_view piece) { lines_.feed(piece); }

    std::size_t held() const {
        std::size_t bytes = lines_.held() + fused_.size();
        for (const auto& message : table_.messages) bytes += message.text.size();
        for (const auto& problem : table_.problems) bytes += problem.size();
        for (const auto& row : table_.rows) {
            for (const auto& cell : row.cells) bytes += cell.size();
            for (const auto& cell : row.optional) bytes += cell.cell.size();
            for (const auto& trouble : row.troubles) bytes += trouble.text.size();
        }
        return bytes;
    }

    GpuTable finish() {
        lines_.finish();
        distrust_mixed_units();
        if (options_.repair_fused && repair_fused_row(table_.rows, fused_, options_.expected))
            note_problem(fmt::format("first row: index {} taken out of a row fused to pids",
                                     table_.rows.front().index.value_or(0)));
        if (table_.lines_dropped > 0)
            table_.messages.push_back({Trouble::unreadable,
                                       "output-too-long",
                                       fmt::format("{} more lines were not read", table_.lines_dropped),
                                       {}});
        const auto shows = [&](std::string_view column) {
            return std::ranges::find(table_.columns, column) != table_.columns.end();
        };
        table_.health_shown = shows("temperature.gpu") && shows("pstate");
        return std::move(table_);
    }

  private:
    void line(const Line& line) {
        ++number_;
        const auto text = trim(line.text);
        const auto prose_before = std::exchange(prose_before_, std::nullopt);
        // More rows than any host has: nothing that comes behind them matters any more.
        if (table_.rows.size() >= most_rows && table_.lines_dropped > 0) {
            ++table_.lines_dropped;
            return;
        }
        if (line.cut) return odd_line("line-too-long", text);
        if (text.empty()) return;
        const auto cells = split_cells(text, most_cells);
        if (take_header(cells, text)) return;
        if (take_row(text, line.terminated)) return;
        if (take_broken_row(cells, line.terminated)) return;
        take_prose(text, prose_before);
    }

    // A line of nothing but column names, one of them known. Only the first one counts.
    bool take_header(const std::vector<std::string_view>& cells, std::string_view text) {
        std::vector<std::string> columns;
        bool known = false;
        for (const auto cell : cells) {
            columns.push_back(normal_column(cell));
            const auto& column = columns.back();
            if (column.empty() || column.front() < 'a' || column.front() > 'z') return false;
            if (column.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") != std::string::npos)
                return false;
            known = known || is_known_column(column);
        }
        if (!known) return false;
        if (header_seen_ || !table_.rows.empty()) {
            odd_line("header-repeated", text);
            return true;
        }
        header_seen_ = true;
        table_.columns = std::move(columns);
        return true;
    }

    bool take_row(std::string_view text, bool terminated) {
        if (!table_.columns.empty()) {
            const auto cells = fit_cells(text, table_.columns);
            return !cells.empty() && add_row(cells, terminated);
        }
        for (const auto& columns : default_columns()) {
            const auto cells = fit_cells(text, columns);
            if (cells.empty()) continue;
            table_.columns = columns;
            return add_row(cells, terminated);
        }
        return false;
    }

    bool add_row(const std::vector<std::string_view>& cells, bool terminated) {
        if (full()) return true;
        note_units(cells);
        table_.rows.push_back(read_row(cells, table_.columns, terminated));
        const auto& row = table_.rows.back();
        for (const auto& trouble : row.troubles)
            if (trouble.trouble != Trouble::none) note_problem(trouble.text);
        const auto index = std::ranges::find(table_.columns, "index") - table_.columns.begin();
        if (table_.rows.size() == 1 && index == 0 && !row.index && is_pid_list(cells.front()))
            fused_ = std::string(cells.front());
        return true;
    }

    // Of the row that comes next: how its memory is written.
    void note_units(const std::vector<std::string_view>& cells) {
        Units units;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (!table_.columns[i].starts_with("memory.") || !read_mebibytes(cells[i])) continue;
            (cells[i].ends_with("MiB") ? units.some : units.none) = true;
        }
        units_.resize(table_.rows.size());
        units_.push_back(units);
    }

    // nvidia-smi prints units everywhere or nowhere. A number without one beside others that have it was cut.
    void distrust_mixed_units() {
        const bool some = std::ranges::any_of(units_, &Units::some);
        for (std::size_t i = 0; some && i < units_.size(); ++i) {
            if (!units_[i].none) continue;
            auto& row = table_.rows[i];
            row.used.reset();
            row.total.reset();
            row.troubles.push_back({Trouble::unreadable,
                                    "cell-unreadable",
                                    "memory without a unit, which other cells of the table have",
                                    {}});
        }
    }

    // A line that begins like a row and has the wrong number of cells, or the wrong things in them: kept as a
    // row of which nothing but the index may be read.
    bool take_broken_row(const std::vector<std::string_view>& cells, bool terminated) {
        const auto first = cells.front();
        const bool number = is_pid_list(first);
        const bool begins_like_row = number || is_uuid(first) || first.starts_with('[');
        const bool cut_number = !terminated && number && first.find_first_of(" \t") == std::string_view::npos;
        if (!begins_like_row || (cells.size() == 1 && !cut_number)) return false;
        if (full()) return true;
        GpuRow row;
        for (const auto cell : cells) row.cells.push_back(bounded(cell));
        const bool index_first = table_.columns.empty() || table_.columns.front() == "index";
        if (index_first && cells.size() > 1) row.index = read_index(first);
        const std::string_view code = !terminated              ? "row-truncated"
                                      : table_.columns.empty() ? "columns-unknown"
                                                               : "row-malformed";
        row.troubles.push_back({Trouble::unreadable, std::string(code), misfit(cells, table_.columns), {}});
        note_problem(row.troubles.back().text);
        table_.rows.push_back(std::move(row));
        return true;
    }

    void take_prose(std::string_view text, std::optional<std::size_t> before) {
        if (before) {
            if (const auto both = joined_message(table_.messages[*before].text, text)) {
                table_.messages[*before] = classify_line(*both);
                prose_before_ = before;
                return;
            }
        }
        if (messages_full()) {
            ++table_.lines_dropped;
            return;
        }
        auto message = classify_line(text);
        const bool goes_on = before && table_.messages[*before].trouble != Trouble::none;
        if (message.code == "continued" && !goes_on) {
            message.trouble = Trouble::unreadable;
            message.code = "unrecognised-line";
        }
        if (add_message(std::move(message))) prose_before_ = table_.messages.size() - 1;
    }

    void odd_line(std::string_view code, std::string_view text) {
        add_message(
            {Trouble::unreadable, std::string(code), std::string(text.substr(0, longest_odd_line)), {}});
    }

    // One place is kept for the message that says how many more there were.
    bool messages_full() const { return table_.messages.size() + 1 >= most_messages; }

    bool add_message(DriverMessage message) {
        if (messages_full()) {
            ++table_.lines_dropped;
            return false;
        }
        if (message.trouble == Trouble::unreadable) note_problem(message.text);
        table_.messages.push_back(std::move(message));
        return true;
    }

    bool full() {
        if (table_.rows.size() < most_rows) return false;
        ++table_.lines_dropped;
        return true;
    }

    void note_problem(std::string_view what) {
        if (table_.problems.size() < most_problems)
            table_.problems.push_back(fmt::format("line {}: {}", number_, what));
    }

    struct Units {
        bool some = false;  // has memory with its unit
        bool none = false;  // has memory without
    };

    TableOptions options_;
    LineReader lines_;
    GpuTable table_;
    std::vector<Units> units_;  // by row; broken rows have neither
    std::size_t number_ = 0;
    bool header_seen_ = false;
    std::string fused_;                        // the first row's index cell, where it is pids and digits
    std::optional<std::size_t> prose_before_;  // the message that the line before made
};

GpuTableReader::GpuTableReader(TableOptions options) : rows_(std::make_unique<Rows>(std::move(options))) {}
GpuTableReader::GpuTableReader(GpuTableReader&&) noexcept = default;
GpuTableReader& GpuTableReader::operator=(GpuTableReader&&) noexcept = default;
GpuTableReader::~GpuTableReader() = default;
void GpuTableReader::feed(std::string_view piece) { rows_->feed(piece); }
GpuTable GpuTableReader::finish() { return rows_->finish(); }
std::size_t GpuTableReader::held() const { return rows_->held(); }

GpuTable read_gpu_table(std::string_view out, const TableOptions& options) {
    GpuTableReader reader(options);
    reader.feed(out);
    return reader.finish();
}

}  // namespace cleanslate::agentless
