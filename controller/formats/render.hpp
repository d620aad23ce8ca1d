#pragma once
// A report in any of its forms. All of them are made from the Report alone, so that one that comes from the
// history or from a JSON file can be written as any.

#include <cstddef>
#include <string>
#include <vector>

#include "controller/formats/format.hpp"
#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

struct Rendering {
    std::size_t columns = 80;            // of text
    bool color = false;                  // of text
    bool quiet = false;                  // of text: the last line alone
    bool raw_commands = false;           // secrets in commands stay
    std::vector<std::string> elsewhere;  // of text: where the rest is, "html: fleet.html"
};

void render(const Report& report, Format format, const Rendering& rendering, const Sink& sink);

}  // namespace cleanslate::controller
