#pragma once
// A second, naive reader of the lines between `begin` and `end`, for the harnesses to compare with. It knows
// docs/remote-protocol.md and no code of the project.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace naive {

inline std::vector<std::string> pieces(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

inline std::string strip(std::string text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && blank(text.back())) text.pop_back();
    while (!text.empty() && blank(text.front())) text.erase(text.begin());
    return text;
}

inline bool digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

inline int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

// The bytes that a value stands for; absent where it is none.
inline std::optional<std::string> decoded(std::string_view value) {
    if (value.empty()) return std::nullopt;
    if (value == "-") return std::string();
    std::string text;
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i] == '%') {
            if (i + 2 >= value.size() || hex(value[i + 1]) < 0 || hex(value[i + 2]) < 0) return std::nullopt;
            text += static_cast<char>(hex(value[i + 1]) * 16 + hex(value[i + 2]));
            i += 2;
        } else if (value[i] > ' ' && value[i] <= '~') {
            text += value[i];
        } else {
            return std::nullopt;
        }
    }
    return text;
}

struct Record {
    std::string word;
    std::vector<std::string> values;  // decoded
};

inline std::optional<Record> record(const std::string& line) {
    Record read;
    const auto words = pieces(line, ' ');
    read.word = words.front();
    const bool word = !read.word.empty() && std::all_of(read.word.begin(), read.word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || c == '-';
    });
    if (!word) return std::nullopt;
    for (std::size_t i = 1; i < words.size(); ++i) {
        auto value = decoded(words[i]);
        if (!value) return std::nullopt;
        read.values.push_back(std::move(*value));
    }
    return read;
}

struct Frame {
    bool begun = false;     // there is a `begin n 1`, and no other version before it
    bool complete = false;  // and an `end n`, and nothing but records between the two
    std::vector<Record> records;
};

// The frame of the nonce "n". A line right before `cut` is no record, whatever it looks like.
inline Frame frame(std::string_view out, std::size_t longest_line = 64u << 10) {
    Frame read;
    auto lines = pieces(out, '\n');
    lines.pop_back();  // without its newline a line is not there
    std::size_t at = 0;
    while (at < lines.size() && !lines[at].starts_with("begin n ")) ++at;
    if (at == lines.size() || lines[at] != "begin n 1") return read;
    read.begun = true;
    for (++at; at < lines.size(); ++at) {
        if (lines[at] == "end n") {
            read.complete = true;
            return read;
        }
        if (lines[at].starts_with("begin n ")) return read;
        if (at + 1 < lines.size() && lines[at + 1] == "cut" && lines[at] != "cut") continue;
        auto one = lines[at].size() <= longest_line ? record(lines[at]) : std::nullopt;
        if (!one) return read;
        read.records.push_back(std::move(*one));
    }
    return read;
}

}  // namespace naive
