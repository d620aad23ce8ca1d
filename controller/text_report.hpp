#pragma once
// The report for people: what is clean is folded into a line, what is not is told in detail, the worst first.

#include <cstddef>

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

struct TextOptions {
    std::size_t columns = 80;
    bool color = false;
    bool raw_commands = false;
};

void write_text(const Report& report, const TextOptions& options, const Sink& sink);

// The same for an ad-hoc command: identical output folded over hosts.
void write_run_text(const Report& report, const TextOptions& options, const Sink& sink);

// The report's last line: verdict, counts, time, what the exit status means.
void write_summary(Page& page, const Report& report);

}  // namespace cleanslate::controller
