#pragma once
// The line protocol of the remote scripts: framing, records, escapes. docs/remote-protocol.md has the
// grammar.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::agentless {

inline constexpr std::string_view protocol_version = "1";

// One line: a word and its values, still escaped. Views into the text that was read.
struct Record {
    std::string_view word;
    std::vector<std::string_view> values;
};

// What stands between `begin NONCE VERSION` and `end NONCE`.
struct Frame {
    bool complete = false;  // ended with its own end record, and every line before it was a record
    std::string problem;    // why it is not complete
    std::vector<Record> records;
};

struct FrameLimits {
    std::size_t line = 64u << 10;  // bytes
    std::size_t records = 1'000'000;
};

// The first frame of `nonce` in `out`; what stands before and behind it is ignored. The line before a `cut`
// record may be the beginning of a record only: it is dropped unless it is empty. Errors (kind "protocol"):
// no frame of this nonce, or one of another version.
Result<Frame> read_frame(std::string_view out, std::string_view nonce, FrameLimits limits = {});

// Bytes 0x21 to 0x7e other than % stand for themselves, all others are %xx. "-" alone is nothing, or not
// known.
std::string escape(std::string_view bytes);
// Absent where `value` is no escaped text.
std::optional<std::string> unescape(std::string_view value);

}  // namespace cleanslate::agentless
