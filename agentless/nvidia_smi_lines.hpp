#pragma once
// Lines out of a text that comes in pieces. Private to the parser.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace cleanslate::agentless {

inline constexpr std::size_t longest_line = 64 * 1024;  // bytes; nothing nvidia-smi prints comes near

struct Line {
    std::string_view text;    // without its newline; valid during the call only
    bool terminated = false;  // a newline ended it
    bool cut = false;         // it was longer, and only its first `longest_line` bytes are here
};

// Never holds more than one line of `longest_line` bytes. A byte order mark in front of the text is taken
// off.
class LineReader {
  public:
    explicit LineReader(std::function<void(const Line&)> use) : use_(std::move(use)) {}
    void feed(std::string_view piece);
    void finish();  // the last line, where no newline ended it
    std::size_t held() const { return partial_.capacity(); }

  private:
    void keep(std::string_view piece);
    void emit(std::string_view text, bool terminated);

    std::function<void(const Line&)> use_;
    std::string partial_;
    bool cut_ = false;
    bool first_ = true;
};

// Every line of a text that is there as a whole.
void each_line(std::string_view text, std::function<void(const Line&)> use);

}  // namespace cleanslate::agentless
