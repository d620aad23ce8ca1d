#pragma once
// One self-contained page: a map of the fleet, and each host in detail. It holds the JSON report as data and
// builds itself from that in the reader's browser; it loads nothing, and no text of a host is ever read as
// markup there.

#include <string>
#include <string_view>

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// The page, piece by piece, with no more than one host in memory.
void write_html(const Report& report, bool raw_commands, const Sink& sink);

// What the page says first: "3 of 40 hosts are not clean". Printable.
std::string headline(const Report& report);

// `json` so that it means the same and nothing in it can end the script element that it stands in.
std::string json_in_script(std::string_view json);

// Text as the content or the value of an attribute of an element.
std::string html_text(std::string_view text);

}  // namespace cleanslate::controller
