#include "agentless/records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

bool is_safe(char c) { return c >= 0x21 && c <= 0x7e && c != '%'; }

bool is_escaped(std::string_view value) {
    if (value.empty()) return false;
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (is_safe(value[i])) continue;
        if (value[i] != '%' || i + 2 >= value.size()) return false;
        if (hex_digits.find(value[i + 1]) == std::string_view::npos) return false;
        if (hex_digits.find(value[i + 2]) == std::string_view::npos) return false;
        i += 2;
    }
    return true;
}

bool is_word(std::string_view text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

std::optional<Record> parse_record(std::string_view line) {
    Record record;
    const auto parts = split(line, ' ');
    record.word = parts.front();
    if (!is_word(record.word)) return std::nullopt;
    record.values.assign(parts.begin() + 1, parts.end());
    if (!std::ranges::all_of(record.values, is_escaped)) return std::nullopt;
    return record;
}

// The lines of a text, one by one. The last one counts only where it has its newline: else it was cut.
class Lines {
  public:
    explicit Lines(std::string_view text) : text_(text) {}
    std::optional<std::string_view> next() {
        const auto end = text_.find('\n', at_);
        if (end == std::string_view::npos) return std::nullopt;
        const auto line = text_.substr(at_, end - at_);
        at_ = end + 1;
        return line;
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

Status skip_to_begin(Lines& lines, std::string_view nonce) {
    const auto begin = fmt::format("begin {} ", nonce);
    while (const auto line = lines.next()) {
        if (!line->starts_with(begin)) continue;
        const auto version = line->substr(begin.size());
        if (version == protocol_version) return {};
        return fail("protocol", fmt::format("the script spoke version {} of the protocol, not {}",
                                            ellipsize(printable(version), 20), protocol_version));
    }
    return fail(
        "protocol", "the script printed nothing of its own",
        "run `echo ok | ssh HOST /bin/sh -s` by hand: the login must start a shell that reads commands");
}

// Reads records until the end record. A line that is none is forgiven only where a cut follows.
class FrameReader {
  public:
    FrameReader(Frame& frame, std::string_view nonce, FrameLimits limits)
        : frame_(frame),
          end_(fmt::format("end {}", nonce)),
          begin_(fmt::format("begin {} ", nonce)),
          limits_(limits) {}

    void read(Lines& lines) {
        while (const auto line = lines.next()) {
            if (*line == end_) {
                frame_.complete = !broken_;
                if (broken_) frame_.problem = problem_of_last_;
                return;
            }
            if (!take(*line)) return;
        }
        frame_.problem = "the end record is missing";
    }

  private:
    bool take(std::string_view line) {
        if (line == "cut") {
            if (!last_empty_ && !broken_ && !frame_.records.empty()) frame_.records.pop_back();
            broken_ = false;
            frame_.records.push_back({line, {}});
            return true;
        }
        if (broken_) return stop(problem_of_last_);
        last_empty_ = line.empty();
        if (line.empty()) {
            broken_ = true;
            problem_of_last_ = "an empty line stands among the records";
            return true;
        }
        if (frame_.records.size() >= limits_.records) return stop("more records than the limit allows");
        if (line.starts_with(begin_)) return stop("a second begin record");
        auto record = line.size() <= limits_.line ? parse_record(line) : std::nullopt;
        if (!record) {
            broken_ = true;
            problem_of_last_ = fmt::format("a line is no record: {}", ellipsize(printable(line), 80));
            return true;
        }
        frame_.records.push_back(std::move(*record));
        return true;
    }

    bool stop(std::string problem) {
        frame_.problem = std::move(problem);
        return false;
    }

    Frame& frame_;
    const std::string end_, begin_;
    const FrameLimits limits_;
    bool last_empty_ = false;
    bool broken_ = false;
    std::string problem_of_last_;
};

}  // namespace

Result<Frame> read_frame(std::string_view out, std::string_view nonce, FrameLimits limits) {
    Lines lines(out);
    if (auto begun = skip_to_begin(lines, nonce); !begun) return std::unexpected(std::move(begun.error()));
    Frame frame;
    FrameReader(frame, nonce, limits).read(lines);
    return frame;
}

std::string escape(std::string_view bytes) {
    if (bytes.empty()) return "-";
    if (bytes == "-") return "%2d";
    std::string out;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_safe(c)) {
            out += c;
        } else {
            out += '%';
            out += hex_digits[byte >> 4];
            out += hex_digits[byte & 15];
        }
    }
    return out;
}

std::optional<std::string> unescape(std::string_view value) {
    if (!is_escaped(value)) return std::nullopt;
    if (value == "-") return "";
    std::string out;
    out.reserve(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (value[i] != '%') {
            out += value[i];
            continue;
        }
        out += static_cast<char>(hex_digits.find(value[i + 1]) * 16 + hex_digits.find(value[i + 2]));
        i += 2;
    }
    return out;
}

}  // namespace cleanslate::agentless
