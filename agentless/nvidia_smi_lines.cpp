#include "agentless/nvidia_smi_lines.hpp"

#include <utility>

namespace cleanslate::agentless {

void LineReader::feed(std::string_view piece) {
    while (!piece.empty()) {
        const auto end = piece.find('\n');
        const auto part = piece.substr(0, end);
        if (end == std::string_view::npos) return keep(part);
        if (partial_.empty() && part.size() <= longest_line) {
            emit(part, true);
        } else {
            keep(part);
            emit(partial_, true);
        }
        piece.remove_prefix(end + 1);
    }
}

void LineReader::finish() {
    if (!partial_.empty()) emit(partial_, false);
}

void LineReader::keep(std::string_view piece) {
    const auto room = longest_line - partial_.size();
    if (piece.size() > room) cut_ = true;
    partial_.append(piece.substr(0, room));
}

void LineReader::emit(std::string_view text, bool terminated) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (std::exchange(first_, false) && text.starts_with(byte_order_mark))
        text.remove_prefix(byte_order_mark.size());
    use_({text, terminated, cut_});
    partial_.clear();
    cut_ = false;
}

void each_line(std::string_view text, std::function<void(const Line&)> use) {
    LineReader reader(std::move(use));
    reader.feed(text);
    reader.finish();
}

}  // namespace cleanslate::agentless
