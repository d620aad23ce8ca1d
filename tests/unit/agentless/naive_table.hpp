#pragma once
// An independent, naive reader of what a GPU query prints: decides for the mutation test whether a text is
// well formed and shows every GPU idle. It calls nothing of the project.

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::agentless::testing {

class NaiveTable {
  public:
    // `columns`: of a text without a header. `gpus`: indexes 0 to gpus - 1 must be there.
    NaiveTable(std::vector<std::string> columns, int gpus) : columns_(std::move(columns)), gpus_(gpus) {}

    // Every expected GPU has exactly one row, each of its cells is a value of its column's kind (memory
    // within the limit), and nothing else stands in the text.
    bool is_good(std::string text) {
        if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
        auto lines = pieces(text, '\n');
        for (const auto& line : lines)
            if (!strip(line).empty() && !take(line)) return false;
        return indexes_.size() == static_cast<std::size_t>(gpus_) && has("index") && has("memory.used") &&
               units_.size() == 1 && !may_go_on(lines.back());
    }

    static std::vector<std::string> pieces(std::string_view text, char separator) {
        std::vector<std::string> parts(1);
        for (const char c : text) {
            if (c == separator)
                parts.emplace_back();
            else
                parts.back() += c;
        }
        return parts;
    }
    static std::string strip(std::string text) {
        const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
        while (!text.empty() && blank(text.back())) text.pop_back();
        while (!text.empty() && blank(text.front())) text.erase(text.begin());
        return text;
    }

  private:
    static bool digit(char c) { return c >= '0' && c <= '9'; }
    static bool hex(char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
    static bool digits(std::string_view text, std::size_t most) {
        return !text.empty() && text.size() <= most && std::all_of(text.begin(), text.end(), digit);
    }
    // As nvidia-smi prints a number: without zeros in front.
    static bool number(std::string_view text, std::size_t most) {
        return digits(text, most) && (text.size() == 1 || text.front() != '0');
    }
    // x is a hexadecimal digit, any other letter itself.
    static bool has_shape(const std::string& text, std::string_view shape) {
        return std::equal(text.begin(), text.end(), shape.begin(), shape.end(),
                          [](char c, char s) { return s == 'x' ? hex(c) : c == s; });
    }
    // The domain has eight digits in rows, fewer elsewhere.
    static bool is_bus_id(const std::string& text) {
        const auto domain = text.find(':');
        return domain >= 1 && domain <= 8 && has_shape(text.substr(0, domain), std::string(domain, 'x')) &&
               has_shape(text.substr(domain), ":xx:xx.x");
    }
    static std::string without_unit(const std::string& cell) {
        return cell.ends_with(" MiB") ? cell.substr(0, cell.size() - 4) : cell;
    }
    bool has(const char* column) const { return std::count(columns_.begin(), columns_.end(), column) == 1; }

    // A number at the very end, without a newline.
    bool may_go_on(const std::string& line) const {
        const auto last = strip(line);
        return columns_.back() != "name" && !last.empty() && digit(last.back());
    }

    bool take(const std::string& line) {
        std::vector<std::string> cells;
        for (const auto& cell : pieces(line, ',')) cells.push_back(strip(cell));
        return take_header(cells) || take_row(cells);
    }

    bool take_header(const std::vector<std::string>& cells) {
        if (header_seen_ || !indexes_.empty()) return false;
        std::vector<std::string> names;
        for (const auto& cell : cells) {
            std::string name = cell.substr(0, cell.find(" ["));
            std::transform(name.begin(), name.end(), name.begin(),
                           [](unsigned char c) { return static_cast<char>(c < 128 ? std::tolower(c) : c); });
            if (name.empty() || name.front() < 'a' || name.front() > 'z') return false;
            if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") != std::string::npos)
                return false;
            names.push_back(name);
        }
        if (std::count(names.begin(), names.end(), "index") == 0) return false;
        header_seen_ = true;
        columns_ = names;
        return true;
    }

    bool take_row(std::vector<std::string> cells) {
        if (columns_.back() == "name")
            while (cells.size() > columns_.size()) {
                const auto last = cells.back();
                cells.pop_back();
                cells.back() += ", " + last;
            }
        if (cells.size() != columns_.size()) return false;
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (!is_value(columns_[i], cells[i])) return false;
        return true;
    }

    bool is_value(const std::string& column, const std::string& cell) {
        // Not supported here: harmless but in these two.
        if (cell == "[N/A]" && column != "index" && column != "memory.used") return true;
        if (column == "index")
            return number(cell, 3) && std::stoi(cell) < gpus_ && indexes_.insert(cell).second;
        if (column == "uuid")
            return has_shape(cell, "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") && names_.insert(cell).second;
        if (column == "pci.bus_id") return is_bus_id(cell) && names_.insert(cell).second;
        if (column == "memory.used") {
            units_.insert(cell.ends_with(" MiB"));
            return number(without_unit(cell), 3) && std::stoi(cell) <= 100;
        }
        if (column == "memory.total") return number(without_unit(cell), 8);
        if (column == "temperature.gpu") return digits(cell, 8);
        if (column == "pstate")
            return cell.starts_with('P') && number(cell.substr(1), 2) && std::stoi(cell.substr(1)) <= 15;
        const bool text = std::all_of(cell.begin(), cell.end(), [](char c) { return c >= ' ' && c <= '~'; });
        return text && !cell.empty();
    }

    std::vector<std::string> columns_;
    int gpus_;
    bool header_seen_ = false;
    std::set<std::string> indexes_, names_;
    std::set<bool> units_;
};

}  // namespace cleanslate::agentless::testing
