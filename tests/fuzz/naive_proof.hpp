#pragma once
// What a clean verdict on a survey must rest on, found a second time and naively, for survey_fuzz to compare
// with. It knows docs/ and no code of the project.

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/naive_host.hpp"

namespace naive {

constexpr long limit = 100;  // MiB

inline long as_number(std::string cell) {
    if (cell.ends_with(" MiB")) cell.resize(cell.size() - 4);
    while (cell.size() > 1 && cell.front() == '0') cell.erase(cell.begin());
    return digits(cell) && cell.size() <= 13 ? std::atol(cell.c_str()) : -1;
}

inline std::vector<std::vector<std::string>> rows(std::string text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    std::vector<std::vector<std::string>> all;
    for (const auto& line : pieces(text, '\n')) {
        all.emplace_back();
        for (const auto& cell : pieces(line, ',')) all.back().push_back(strip(cell));
    }
    return all;
}

// Memory that the driver's list explains, on the GPU with this uuid, or on any.
inline long listed_on(const std::string& uuid, const Survey& survey) {
    long sum = 0;
    const auto text = survey.printed.find("app");
    if (text == survey.printed.end()) return 0;
    for (const auto& row : rows(text->second))
        for (std::size_t i = 0; i < row.size(); ++i)
            if (std::find(row.begin(), row.end(), uuid) != row.end() && as_number(row[i]) > 0)
                sum += as_number(row[i]);
    return sum;
}

inline bool has_one_good_row(int index, const Survey& survey) {
    const auto text = survey.printed.find("gpu");
    if (text == survey.printed.end()) return false;
    int seen = 0;
    for (const auto& row : rows(text->second)) {
        if (row.front() != std::to_string(index) || row.size() < 8) continue;
        ++seen;
        const long used = as_number(row[3]);
        if (used < 0 || used - listed_on(row[1], survey) > limit) return false;
        for (const auto& cell : row)
            if (contains(cell, "Unknown Error") || contains(cell, "requires reset") ||
                contains(cell, "is lost") || cell == "ERR!")
                return false;
    }
    return seen == 1;
}

// Each line of the driver's list that has a number in a cell of its own has one of a protected process.
inline bool apps_are_protected(const Survey& survey) {
    const auto text = survey.printed.find("app");
    if (text == survey.printed.end()) return true;
    for (const auto& row : rows(text->second)) {
        bool number = false, good = false;
        for (const auto& cell : row)
            if (digits(cell)) {
                number = true;
                good = good || may_be_protected(cell, survey);
            }
        if (number && !good) return false;
    }
    return true;
}

inline bool ended_well(const Survey& survey, const std::string& query) {
    const auto how = survey.tools.find(query);
    return how != survey.tools.end() && how->second.size() == 1 && !how->second[0].empty() &&
           how->second[0].find_first_not_of('0') == std::string::npos;
}

inline bool is_bus(const std::string& text) { return text.size() == 16 && text[8] == ':'; }

// Rows whose cell in that place looks like what it should be; and whether there is any other row.
inline std::set<std::string> column(const Survey& survey, std::size_t place, bool& others) {
    std::set<std::string> seen;
    const auto text = survey.printed.find("gpu");
    if (text == survey.printed.end()) return seen;
    for (const auto& row : rows(text->second)) {
        if (row.size() < 8) continue;
        const auto cell = place == 2 ? bus(row[place]) : row[place];
        if (place == 2 ? is_bus(cell) : cell.starts_with("GPU-"))
            seen.insert(cell);
        else
            others = true;
    }
    return seen;
}

inline bool is_uuid(const std::string& text) {
    constexpr std::string_view shape = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    return std::equal(text.begin(), text.end(), shape.begin(), shape.end(),
                      [](char c, char s) { return s == 'x' ? hex(low({c})[0]) >= 0 : c == s; });
}

// "GPU 0: NVIDIA H200 (UUID: GPU-...)".
inline std::string listed_uuid(const std::string& line) {
    const auto at = line.rfind("(UUID: GPU-");
    if (!line.starts_with("GPU ") || at == std::string::npos || !line.ends_with(')')) return "";
    const auto index = line.substr(4, line.find(": ") - 4);
    if (!digits(index) || index.size() > 3 || (index.size() > 1 && index[0] == '0')) return "";
    if (strip(line.substr(0, at)).size() < index.size() + 7) return "";  // no name
    const auto uuid = line.substr(at + 7, line.size() - at - 8);
    return is_uuid(uuid) ? uuid : "";
}

// The uuids of a list that came to its end and has no other lines; none of any other.
inline std::set<std::string> listed(const Survey& survey) {
    std::set<std::string> uuids, indexes;
    const auto text = survey.printed.find("list");
    if (text == survey.printed.end() || !ended_well(survey, "list")) return uuids;
    for (const auto& line : pieces(text->second, '\n')) {
        if (strip(line).empty()) continue;
        if (listed_uuid(line).empty() || !uuids.insert(listed_uuid(line)).second) return {};
        if (!indexes.insert(line.substr(0, line.find(':'))).second) return {};
    }
    return uuids;
}

inline bool every_source_is_met(const Survey& survey) {
    bool others = false;
    const auto buses = column(survey, 2, others);
    const auto uuids = column(survey, 1, others);
    // A row that does not say which GPU it is of may be anyone's.
    if (others || survey.hidden) return true;
    for (const auto* source : {&survey.drivers, &survey.pci})
        for (const auto& id : *source)
            if (is_bus(id) && !buses.contains(id)) return false;
    for (const auto& uuid : listed(survey))
        if (!uuids.contains(uuid)) return false;
    return true;
}

// A row of the optional query that names its GPU as the row of the core query does, and is the only one to
// show that index, uuid or bus id.
inline bool optional_says_sick(const Survey& survey) {
    const auto text = survey.printed.find("opt");
    if (text == survey.printed.end()) return false;
    const auto all = rows(text->second);
    const auto core = rows(survey.printed.contains("gpu") ? survey.printed.at("gpu") : "");
    const auto alike = [](const std::vector<std::string>& a, const std::vector<std::string>& b) {
        return a.size() >= 3 && b.size() >= 3 && (a[0] == b[0] || a[1] == b[1] || bus(a[2]) == bus(b[2]));
    };
    for (const auto& row : all) {
        if (row.size() != survey.fields.size() + 3) continue;
        if (std::count_if(all.begin(), all.end(), [&](const auto& other) { return alike(row, other); }) != 1)
            continue;
        const auto of = std::count_if(core.begin(), core.end(), [&](const auto& other) {
            return other.size() >= 8 && row[0] == other[0] && row[1] == other[1] &&
                   bus(row[2]) == bus(other[2]);
        });
        if (of != 1) continue;
        for (std::size_t i = 0; i < survey.fields.size(); ++i) {
            const auto cell = low(row[i + 3]);
            if (survey.fields[i] == "gpu_recovery_action" && (cell == "reset" || cell == "reboot"))
                return true;
            if (survey.fields[i].starts_with("remapped_rows.") && cell == "yes") return true;
            if (contains(cell, "requires reset") || contains(cell, "is lost")) return true;
        }
    }
    return false;
}

}  // namespace naive
