#include "tests/unit/agentless/mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace cleanslate::agentless::testing {
namespace {

// docs/nvidia-smi.md: cells that mean sick or refused, wherever they stand.
constexpr std::array failures{
    "[Unknown Error]", "[GPU requires reset]", "[GPU is lost]", "ERR!", "[Insufficient Permissions]",
    "Unknown Error"};
// "Not supported here": unknown in the index and in the used memory, harmless elsewhere.
constexpr std::array not_supported{"[N/A]", "N/A", "[Not Supported]",
                                   "[Requested functionality has been deprecated]", "[Function Not Found]"};
// Numbers that are none, and more that no cell holds.
constexpr std::array no_values{"-1 MiB", "0.5 MiB",  "1,024 MiB", "99999999999999999999 MiB", "0x0", "0 GiB",
                               "[",      "\xff\xfe", "\x1b[0m"};
constexpr std::array whole_failures{
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
    "NVIDIA driver is installed and running.\n",
    "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.159\n",
    "Failed to initialize NVML: Driver/library version mismatch\n",
    "Failed to initialize NVML: Unknown Error\n",
    "Failed to initialize NVML: Insufficient Permissions\n",
    "Failed to initialize NVML: Driver Not Loaded\n",
    "Failed to initialize NVML: GPU access blocked by the operating system\n",
    "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA "
    "Display Driver is properly installed and present in your system.\nPlease also try adding directory "
    "that contains libnvidia-ml.so to your system PATH.\n",
    "No devices were found\n",
    "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n",
    "Field \"no.such.field\" is not a valid field to query.\n\n",
    "Unable to determine the device handle for GPU 0000:19:00.0: Unknown Error\n",
    "Unable to determine the device handle for gpu 0000:3B:00.0: Unknown Error\n",
    "Unable to determine the device handle for GPU0000:5D:00.0: Unknown Error\n",
    "Unable to determine the device handle for GPU2: 0000:4C:00.0: Unknown Error\n",
    "Unable to determine the device handle for GPU 0000:19:00.0: GPU is lost.  Reboot the system to recover "
    "this GPU\n",
    "Unable to determine the device handle for GPU 0000:19:00.0: GPU is lost.  Reboot\n the system to "
    "recover "
    "this GPU\n",
    "Unable to determine the device handle for GPU 0000:FF:00.0: Not Found\n",
    "Unable to determine the device handle for GPU 0000:19:00.0: Unable to communicate with GPU because it "
    "is insufficiently powered.\nThis may be because not all required external power cables are\nattached, "
    "or the attached cables are not seated properly.\n",
    "WARNING: infoROM is corrupted at gpu 0000:19:00.0\n",
    "Segmentation fault\n",
};

std::vector<std::string> cut(std::string_view text, std::string_view separator) {
    std::vector<std::string> parts;
    for (;;) {
        const auto at = text.find(separator);
        parts.emplace_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + separator.size());
    }
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) text.append(i == 0 ? "" : separator).append(parts[i]);
    return text;
}

class Mutator {
  public:
    Mutator(const Capture& capture, std::mt19937& random, const std::function<void(const Mutant&)>& use)
        : capture_(capture), random_(random), use_(use), lines_(cut(capture.text, "\n")) {
        lines_.pop_back();
        first_row_ = lines_.front().find("index") == std::string::npos ? 0 : 1;
        // A mutated header says that other columns are there; the rows have these.
        columns_ = capture.columns;
        if (first_row_ == 1) columns_ = cut(lines_.front(), ", ");
        for (auto& column : columns_) column = column.substr(0, column.find(" ["));
    }

    void all() {
        rows();
        cells();
        whole_command();
        cuts();
        bytes();
    }

  private:
    using Fate = Mutant::Fate;

    void emit(const char* kind, std::string text, Fate fate = Fate::not_clean) {
        if (text != capture_.text) use_({kind, std::move(text), fate});
    }
    void emit_lines(const char* kind, const std::vector<std::string>& lines, Fate fate = Fate::not_clean) {
        emit(kind, joined(lines, "\n") + "\n", fate);
    }
    std::size_t below(std::size_t limit) { return random_() % limit; }
    // Of a long text not every byte and bit has its turn.
    bool is_long() const { return capture_.text.size() > 150; }
    std::size_t stride() { return is_long() ? 1 + below(7) : 1; }

    void rows() {
        for (std::size_t i = first_row_; i < lines_.size(); ++i) {
            auto lines = lines_;
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
            emit_lines("row dropped", lines);
            for (std::size_t k = first_row_; k <= lines_.size(); ++k) {
                lines = lines_;
                lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(k), lines_[i]);
                emit_lines("row doubled", lines);
            }
            for (std::size_t k = i + 1; k < lines_.size(); ++k) {
                lines = lines_;
                std::swap(lines[i], lines[k]);
                emit_lines("rows swapped", lines, Fate::clean);
                lines = lines_;
                lines[i] = lines[k];
                emit_lines("row in place of another", lines);
                lines[i] = lines_[i] + lines_[k];
                lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(k));
                emit_lines("rows joined", lines);
            }
        }
    }

    void with_cell(const char* kind, std::size_t row, std::size_t cell, const std::string& value,
                   Fate fate = Fate::not_clean) {
        auto lines = lines_;
        auto cells = cut(lines[row], ", ");
        cells[cell] = value + (lines[row].ends_with('\r') && cell + 1 == cells.size() ? "\r" : "");
        lines[row] = joined(cells, ", ");
        emit_lines(kind, lines, fate);
    }

    // Failure texts in each cell; of a long text, the rest in some rows only.
    void cells() {
        for (std::size_t row = first_row_; row < lines_.size(); ++row) {
            const auto cells = cut(lines_[row], ", ");
            const bool sampled = !is_long() || row + 1 == lines_.size() || row % 3 == first_row_;
            for (std::size_t i = 0; i < cells.size(); ++i) {
                put_failures(row, i);
                if (!sampled) continue;
                put_no_values(row, i);
                move_cells(row, i, cells);
            }
        }
    }

    // Of a name with commas a part may be gone, or be anything, unseen.
    bool is_name(std::size_t cell) const {
        return cell >= columns_.size() || (cell + 1 == columns_.size() && columns_.back() == "name");
    }
    bool is_one_of(std::size_t cell, std::initializer_list<std::string_view> columns) const {
        return cell < columns_.size() && std::ranges::find(columns, columns_[cell]) != columns.end();
    }

    void put_failures(std::size_t row, std::size_t cell) {
        for (const auto* token : failures)
            with_cell("failure in a cell", row, cell, token,
                      is_name(cell) ? Fate::by_reader : Fate::not_clean);
        for (const auto* token : not_supported)
            if (is_one_of(cell, {"index", "memory.used"}))
                with_cell("not supported, where needed", row, cell, token);
    }

    void put_no_values(std::size_t row, std::size_t cell) {
        with_cell("cell emptied", row, cell, "", is_name(cell) ? Fate::by_reader : Fate::not_clean);
        for (const auto* value : no_values)
            if (is_one_of(cell, {"index", "memory.used", "memory.total", "uuid", "pci.bus_id",
                                 "temperature.gpu", "pstate"}))
                with_cell("no value in a cell", row, cell, value);
    }

    void move_cells(std::size_t row, std::size_t cell, const std::vector<std::string>& cells) {
        auto lines = lines_;
        auto changed = cells;
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(cell));
        lines[row] = joined(changed, ", ");
        const bool seen = cell + 1 < columns_.size() || !is_name(cell);
        emit_lines("cell dropped", lines, seen ? Fate::not_clean : Fate::by_reader);
        for (std::size_t other = cell + 1; other < cells.size(); ++other) {
            changed = cells;
            std::swap(changed[cell], changed[other]);
            lines[row] = joined(changed, ", ");
            emit_lines("cells moved", lines, Fate::by_reader);
        }
    }

    void whole_command() {
        for (const auto* message : whole_failures)
            for (std::size_t at = 0; at <= lines_.size(); ++at) {
                std::string text;
                for (std::size_t i = 0; i < lines_.size(); ++i) {
                    if (i == at) text += message;
                    text += lines_[i] + "\n";
                }
                if (at == lines_.size()) text += message;
                const char* kind = at == 0               ? "failure before the rows"
                                   : at == lines_.size() ? "failure behind the rows"
                                                         : "failure between the rows";
                emit(kind, text);
            }
    }

    void cuts() {
        for (std::size_t length = 0; length < capture_.text.size(); length += stride())
            emit("output cut", capture_.text.substr(0, length), Fate::by_reader);
        for (std::size_t row = first_row_; row < lines_.size(); ++row)
            for (std::size_t length = 0; length < lines_[row].size(); length += stride()) {
                auto lines = lines_;
                lines[row].resize(length);
                emit_lines("row cut", lines, Fate::by_reader);
            }
    }

    void bytes() {
        const std::size_t size = capture_.text.size();
        for (std::size_t at = 0; at < size; ++at)
            for (int bit = 0; bit < 8; ++bit) {
                if (is_long() && below(32) != 0) continue;
                auto text = capture_.text;
                text[at] = static_cast<char>(text[at] ^ (1 << bit));
                emit("bit flipped", std::move(text), Fate::by_reader);
            }
        for (int i = 0; i < 250; ++i) {
            auto text = capture_.text;
            for (auto rounds = below(3) + 1; rounds > 0 && !text.empty(); --rounds) change(text);
            emit("bytes changed", std::move(text), Fate::by_reader);
        }
    }

    void change(std::string& text) {
        constexpr std::string_view likely = "0123456789,. \n[]MiBPGU-:\r\t%\0\xff";
        const auto at = below(text.size());
        const char byte = likely[below(likely.size())];
        switch (below(4)) {
            case 0:
                text[at] = byte;
                break;
            case 1:
                text.insert(at, 1, byte);
                break;
            case 2:
                text.erase(at, 1 + below(4));
                break;
            default:
                text[at] = static_cast<char>(below(256));
        }
    }

    const Capture& capture_;
    std::mt19937& random_;
    const std::function<void(const Mutant&)>& use_;
    std::vector<std::string> lines_, columns_;
    std::size_t first_row_ = 0;
};

}  // namespace

void each_mutant(const Capture& capture, std::mt19937& random,
                 const std::function<void(const Mutant&)>& use) {
    Mutator(capture, random, use).all();
}

}  // namespace cleanslate::agentless::testing
