#pragma once
// What the process's three streams are, and the one question that is asked on them.

#include <cstddef>
#include <optional>
#include <string_view>

#include "controller/options.hpp"

namespace cleanslate::controller {

struct Terminal {
    bool in = false;  // standard input is a terminal
    bool out = false;
    bool err = false;
    std::size_t out_columns = 80;
    std::size_t err_columns = 80;
};
Terminal terminal_of_process();

// How wide it is now; absent: `fd` is no terminal, or it does not know.
std::optional<std::size_t> columns_now(int fd);

// `fd` is this process's controlling terminal, and it is in that terminal's foreground (and may read it), or
// in its background (where what it draws is in somebody's way). A terminal that does not control it has
// neither.
bool is_in_foreground(int fd);
bool is_in_background(int fd);

// Lines can be drawn over: $TERM is not "dumb".
bool can_redraw(const Environment& environment);

// A line that no longer fits once its window is narrowed goes on in the next one, as most terminals do it;
// xterm, GNU screen and the kernel's console cut it off.
bool rewraps(const Environment& environment);

// `on_terminal`: the stream that is written to is one. NO_COLOR and TERM=dumb turn automatic colour off.
bool use_color(ColorMode mode, bool on_terminal, const Environment& environment);

// A person can be asked: the question is seen (stderr is a terminal), and the answer can be typed: standard
// input is a terminal, or it is the inventory (-i -) and the process has a controlling terminal.
bool can_ask(const Terminal& terminal, const Options& options);

enum class Answer { yes, no, interrupted };
// Asks on stderr, reads from the terminal. What was typed before the question does not count. End of input is
// a no. `stop_fd`, once readable, ends the wait with `interrupted`.
Answer ask(std::string_view question, int stop_fd);
// The same with its streams named, for tests.
Answer ask_on(int in_fd, int out_fd, std::string_view question, int stop_fd);

}  // namespace cleanslate::controller
