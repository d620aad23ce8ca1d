// The table that a GPU query prints: header, rows, and the prose between them.

#include "agentless/nvidia_smi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agentless/nvidia_smi_cells.hpp"
#include "agentless/nvidia_smi_repair.hpp"
#include "agentless/nvidia_smi_row.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::size_t most_messages = 256;
constexpr std::size_t most_problems = 256;
constexpr std::size_t most_rows = 1024;
constexpr std::size_t most_cells = 128;
constexpr std::size_t longest_line = 64 * 1024;

// "Unable to determine the device handle for GPU <bus id>: <one of the reasons known>", nothing before or
// after: what two halves of a wrapped line must make together.
bool is_whole_sentence(std::string_view text) {
    if (text.size() > 512) return false;
    const std::string low = single_blanks(lowered(text));
    constexpr std::string_view begin = "unable to determine the device handle for gpu";
    if (!low.starts_with(begin)) return false;
    const std::string bus = find_bus_id(low);
    const auto tail = bus.empty() ? std::string::npos : low.find(": ", begin.size());
    if (tail == std::string::npos) return false;
    if (normal_bus_id(trim(std::string_view(low).substr(begin.size(), tail - begin.size()))) != bus)
        return false;
    constexpr std::array<std::string_view, 5> reasons{"unknown error", "gpu is lost", "gpu requires reset",
                                                      "gpu is lost. reboot the system to recover this gpu",
                                                      "insufficient permissions"};
    std::string_view reason = std::string_view(low).substr(tail + 2);
    if (reason.ends_with('.')) reason.remove_suffix(1);
    return std::ranges::find(reasons, reason) != reasons.end();
}

class TableReader {
  public:
    explicit TableReader(const TableOptions& options) : options_(options) {
        for (const auto& column : options.columns) table_.columns.push_back(normal_column(column));
    }

    void line(std::string_view text, bool terminated) {
        ++number_;
        text = trim(text);
        const auto prose_before = std::exchange(prose_before_, std::nullopt);
        if (text.empty()) return;
        if (text.size() > longest_line) return odd_line("line-too-long", text);
        const auto cells = split_cells(text, most_cells);
        if (take_header(cells, text)) return;
        if (take_row(text, terminated)) return;
        if (take_broken_row(cells, terminated)) return;
        take_prose(text, prose_before);
    }

    GpuTable finish() {
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
        table_.rows.push_back(read_row(cells, table_.columns, terminated));
        const auto& row = table_.rows.back();
        for (const auto& trouble : row.troubles)
            if (trouble.trouble != Trouble::none) note_problem(trouble.text);
        const auto index = std::ranges::find(table_.columns, "index") - table_.columns.begin();
        if (table_.rows.size() == 1 && index == 0 && !row.index && is_pid_list(cells.front()))
            fused_ = std::string(cells.front());
        return true;
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
        row.troubles.push_back(
            {Trouble::unreadable,
             std::string(code),
             fmt::format("{} cells where {} were expected", cells.size(),
                         table_.columns.empty() ? "2 or 8" : std::to_string(table_.columns.size())),
             {}});
        note_problem(row.troubles.back().text);
        table_.rows.push_back(std::move(row));
        return true;
    }

    void take_prose(std::string_view text, std::optional<std::size_t> before) {
        if (before) {
            const std::string_view first_half = table_.messages[*before].text;
            for (const std::string_view joint : {" ", ""}) {
                const std::string both = fmt::format("{}{}{}", first_half, joint, text.substr(0, 512));
                if (!is_whole_sentence(both)) continue;
                table_.messages[*before] = classify_line(both);
                prose_before_ = before;
                return;
            }
        }
        if (add_message(classify_line(text))) prose_before_ = table_.messages.size() - 1;
    }

    void odd_line(std::string_view code, std::string_view text) {
        add_message({Trouble::unreadable, std::string(code), std::string(text.substr(0, 128)), {}});
    }

    // One place is kept for the message that says how many more there were.
    bool add_message(DriverMessage message) {
        if (table_.messages.size() + 1 >= most_messages) {
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

    const TableOptions& options_;
    GpuTable table_;
    std::size_t number_ = 0;
    bool header_seen_ = false;
    std::string fused_;                        // the first row's index cell, where it is pids and digits
    std::optional<std::size_t> prose_before_;  // the message that the line before made
};

}  // namespace

void each_line(std::string_view text, const std::function<void(std::string_view, bool)>& use) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    while (!text.empty()) {
        const auto end = text.find('\n');
        use(text.substr(0, end), end != std::string_view::npos);
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

GpuTable read_gpu_table(std::string_view out, const TableOptions& options) {
    TableReader reader(options);
    each_line(out, [&](std::string_view line, bool terminated) { reader.line(line, terminated); });
    return reader.finish();
}

}  // namespace cleanslate::agentless
