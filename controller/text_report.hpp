#pragma once
// The report for people: what is not clean is told in detail, the worst first; what is clean is folded into a
// line below; a last line says it all.

#include <cstddef>
#include <string>
#include <vector>

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

struct TextOptions {
    std::size_t columns = 80;
    bool color = false;
    bool raw_commands = false;
    std::vector<std::string> elsewhere;  // where the rest is: "html: fleet.html"
};

void write_text(const Report& report, const TextOptions& options, const Sink& sink);

// The same for an ad-hoc command: identical output folded over hosts.
void write_run_text(const Report& report, const TextOptions& options, const Sink& sink);

// The report's last line: verdict, counts, time, what the exit status means, where the rest is. Where it is
// longer than the page is wide it goes on below, broken between these parts.
void write_summary(Page& page, const Report& report, const std::vector<std::string>& elsewhere = {});

}  // namespace cleanslate::controller
