// Property: where the rows alone are judged clean for N expected GPUs, a naive second reader finds for every
// index 0 to N-1 exactly one line whose index is that number, whose used memory is a plain number within the
// limit, and none of whose cells says that the GPU is broken. What comes in pieces is read as the whole. The
// list and the optional query give only what a naive reader finds in them, and change nothing else. Besides:
// what is kept of any text is bounded, and no reader fails.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/nvidia_smi_list.hpp"
#include "agentless/nvidia_smi_optional.hpp"
#include "agentless/parse_input.hpp"

namespace {

constexpr long limit = 100;

std::string strip(std::string text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.back())) text.pop_back();
    while (!text.empty() && blank(text.front())) text.erase(text.begin());
    return text;
}

// Without the byte order mark in front.
std::string without_mark(const std::string& text) {
    return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

std::vector<std::string> pieces(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

bool digits(const std::string& text) {
    for (const char c : text)
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
    return !text.empty();
}

// Where a header puts the two columns; without one they are the first and the second, or the fourth of eight.
struct Columns {
    std::size_t index = 0;
    std::size_t used = 1;
    bool known = false;
    std::vector<std::string> names;
};

Columns columns_of(const std::vector<std::string>& cells) {
    Columns columns;
    bool index = false, used = false;
    for (std::size_t i = cells.size(); i-- > 0;) {
        std::string name;
        for (const char c : cells[i].substr(0, cells[i].find(" [")))
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        name = strip(name);
        columns.names.insert(columns.names.begin(), name);
        if (name == "index") columns.index = i, index = true;
        if (name == "memory.used" || name == "memory_used") columns.used = i, used = true;
    }
    columns.known = index && used;
    return columns;
}

bool is_within_limit(std::string cell) {
    if (cell.ends_with(" MiB")) cell.resize(cell.size() - 4);
    while (cell.size() > 1 && cell.front() == '0') cell.erase(cell.begin());
    return digits(cell) && cell.size() <= 3 && std::atol(cell.c_str()) <= limit;
}

std::string low(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// Whether any cell says that the GPU is broken, by itself or in its column.
bool says_broken(const std::vector<std::string>& cells, const Columns& columns) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto cell = low(cells[i]);
        for (const char* words : {"[gpu requires reset]", "[gpu is lost]", "[unknown error]", "err!"})
            if (cell == words) return true;
        const std::string name = i < columns.names.size() ? columns.names[i] : "";
        // A column that stands there twice is read once.
        if (std::count(columns.names.begin(), columns.names.end(), name) != 1) continue;
        if (name == "gpu_recovery_action" && (cell == "reset" || cell == "reboot" || cell == "drain p2p"))
            return true;
        if ((name == "remapped_rows.pending" || name == "remapped_rows.failure" ||
             name == "retired_pages.pending") &&
            cell == "yes")
            return true;
    }
    return false;
}

// The index itself, or pids and then one of them with the index behind it.
bool is_index(const std::string& cell, int index) {
    const std::string wanted = std::to_string(index);
    if (cell == wanted) return true;
    std::vector<std::string> words;
    std::string spaced = cell;
    for (char& c : spaced)
        if (c == '\t') c = ' ';
    for (const auto& word : pieces(spaced, ' '))
        if (!word.empty()) words.push_back(word);
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
        if (words[i] + wanted == words.back()) return true;
    return false;
}

bool proves(const std::string& text, int count) {
    std::vector<int> good(static_cast<std::size_t>(count), 0);
    Columns columns;
    for (const auto& line : pieces(text, '\n')) {
        std::vector<std::string> cells;
        for (const auto& cell : pieces(line, ',')) cells.push_back(strip(cell));
        if (const auto header = columns_of(cells); header.known && !columns.known) {
            columns = header;
            continue;
        }
        if (!columns.known) columns.used = cells.size() >= 8 ? 3 : 1;
        for (int i = 0; i < count; ++i)
            if (cells.size() > columns.index && cells.size() > columns.used &&
                is_index(cells[columns.index], i) && is_within_limit(cells[columns.used]) &&
                !says_broken(cells, columns))
                ++good[static_cast<std::size_t>(i)];
    }
    for (const int n : good)
        if (n != 1) return false;
    return true;
}

// --- the other readers ------------------------------------------------------------------------------------

using namespace cleanslate::agentless;

void check(bool holds) {
    if (!holds) std::abort();
}

bool same(const GpuRow& a, const GpuRow& b) {
    return a.cells == b.cells && a.index == b.index && a.uuid == b.uuid && a.bus_id == b.bus_id &&
           a.used == b.used && a.total == b.total && a.name == b.name && a.optional == b.optional &&
           a.troubles.size() == b.troubles.size();
}

// Cut wherever the text's own bytes say.
void read_in_pieces(const std::string& text, const GpuTable& whole) {
    GpuTableReader reader{TableOptions{}};
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = 1 + static_cast<unsigned char>(text[at]) % 23;
        reader.feed(std::string_view(text).substr(at, length));
        at += std::min(length, text.size() - at);
    }
    const auto table = reader.finish();
    check(table.columns == whole.columns && table.rows.size() == whole.rows.size());
    check(table.messages.size() == whole.messages.size() && table.problems == whole.problems);
    check(table.lines_dropped == whole.lines_dropped && table.health_shown == whole.health_shown);
    check(std::equal(table.rows.begin(), table.rows.end(), whole.rows.begin(), same));
}

// Each GPU and each instance of the list is a line of its own, and says what stands in it.
void read_list(const std::string& text) {
    const auto list = read_gpu_list(text);
    std::size_t lines = 0;
    std::multiset<std::string> stripped;
    for (const auto& line : pieces(without_mark(text), '\n')) {
        if (strip(line).empty()) continue;
        ++lines;
        stripped.insert(strip(line));
    }
    std::set<std::string> uuids;
    std::set<int> indexes;
    std::size_t taken = 0;
    for (const auto& gpu : list.gpus) {
        ++taken;
        check(uuids.insert(gpu.uuid).second && indexes.insert(gpu.index).second);
        const auto front = "GPU " + std::to_string(gpu.index) + ": ";
        const auto back = "(UUID: " + gpu.uuid + ")";
        check(std::any_of(stripped.begin(), stripped.end(), [&](const std::string& line) {
            return line.starts_with(front) && line.ends_with(back);
        }));
        for (const auto& instance : gpu.instances) {
            ++taken;
            const auto tail = "(UUID: " + instance.uuid + ")";
            check(instance.uuid.starts_with("MIG-"));
            check(std::any_of(stripped.begin(), stripped.end(), [&](const std::string& line) {
                return line.starts_with("MIG ") && line.ends_with(tail);
            }));
        }
    }
    check(list.problems.size() <= 64);
    if (list.problems.size() < 63) check(taken + list.problems.size() == lines);
}

// Two GPUs of which a row of the optional query may be.
std::vector<GpuRow> two_gpus() {
    const auto table = read_gpu_table(
        "0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0, 0 MiB, 143771 MiB, 35, P0, A\n"
        "1, GPU-00000001-1111-2222-3333-444444444444, 00000000:00:07.0, 0 MiB, 143771 MiB, 35, P0, B\n",
        {});
    return table.rows;
}

// A GPU has optional cells only where one line of the text has them, behind its own index, uuid and bus id,
// where these are shown.
void read_optional(const std::string& text) {
    const std::vector<std::string> columns{"index", "uuid", "pci.bus_id", "gpu_recovery_action",
                                           "remapped_rows.pending"};
    const auto before = two_gpus();
    auto gpus = before;
    check(add_optional_table(text, columns, gpus).problems.size() <= 64);
    check(gpus.size() == before.size());
    for (std::size_t g = 0; g < gpus.size(); ++g) {
        check(gpus[g].cells == before[g].cells && gpus[g].used == before[g].used);
        check(gpus[g].index == before[g].index && gpus[g].uuid == before[g].uuid);
        if (gpus[g].optional.empty()) {
            check(gpus[g].troubles.size() == before[g].troubles.size());
            continue;
        }
        check(gpus[g].optional.size() == 2);
        int found = 0;
        for (const auto& line : pieces(without_mark(text), '\n')) {
            auto cells = pieces(line, ',');
            for (auto& cell : cells) cell = strip(cell);
            if (cells.size() != 5) continue;
            const bool own = cells[0] == std::to_string(g) || cells[1] == before[g].uuid ||
                             low(cells[2]).ends_with(before[g].bus_id.substr(4));
            if (own && cells[3].substr(0, 256) == gpus[g].optional[0].cell &&
                cells[4].substr(0, 256) == gpus[g].optional[1].cell)
                ++found;
        }
        check(found >= 1);
        const auto action = low(gpus[g].optional[0].cell);
        const bool sick = std::any_of(gpus[g].troubles.begin(), gpus[g].troubles.end(),
                                      [](const auto& t) { return t.trouble == Trouble::sick; });
        if (action == "reset" || low(gpus[g].optional[1].cell) == "yes") check(sick);
        if (action == "none" && low(gpus[g].optional[1].cell) == "no") check(!sick);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);

    const GpuTable table = read_gpu_table(text, {});
    check(table.rows.size() <= 1024 && table.messages.size() <= 256 && table.problems.size() <= 256);
    for (const auto& row : table.rows) check(row.cells.size() + row.optional.size() <= 128 && !row.repaired);
    check(read_app_table(text).apps.size() <= size);
    read_in_pieces(text, table);
    read_list(text);
    read_optional(text);

    ParseOptions options;
    check(!judge_output(text, options).clean());  // nothing says how many there should be
    for (const int count : {1, 2, 3, 8}) {
        options.expect = count;
        if (judge_output(text, options).clean()) check(proves(without_mark(text), count));
    }
    return 0;
}
