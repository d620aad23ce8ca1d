// Property: where the rows alone are judged clean for N expected GPUs, a naive second reader finds for every
// index 0 to N-1 exactly one line whose index is that number and whose used memory is a plain number within
// the limit. Besides: what is kept of any text is bounded, and neither table reader fails.
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/parse_input.hpp"

namespace {

constexpr long limit = 100;

std::string strip(std::string text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.back())) text.pop_back();
    while (!text.empty() && blank(text.front())) text.erase(text.begin());
    return text;
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
};

Columns columns_of(const std::vector<std::string>& cells) {
    Columns columns;
    bool index = false, used = false;
    for (std::size_t i = cells.size(); i-- > 0;) {
        std::string name;
        for (const char c : cells[i].substr(0, cells[i].find(" [")))
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        name = strip(name);
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
                is_index(cells[columns.index], i) && is_within_limit(cells[columns.used]))
                ++good[static_cast<std::size_t>(i)];
    }
    for (const int n : good)
        if (n != 1) return false;
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cleanslate::agentless;
    std::string text(reinterpret_cast<const char*>(data), size);

    const GpuTable table = read_gpu_table(text, {});
    if (table.rows.size() > 1024 || table.messages.size() > 256 || table.problems.size() > 256) std::abort();
    for (const auto& row : table.rows)
        if (row.cells.size() > 128 || row.repaired) std::abort();
    if (read_app_table(text).apps.size() > size) std::abort();

    ParseOptions options;
    if (judge_output(text, options).clean()) std::abort();  // nothing says how many there should be
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    for (int count = 1; count <= 8; ++count) {
        options.expect = count;
        if (judge_output(text, options).clean() && !proves(text, count)) std::abort();
    }
    return 0;
}
