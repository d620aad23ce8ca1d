// Property: any text is a report or an error that begins with its name and says where. What was read is
// written as a report that reads again and is written the same, in JSON and in text; no text of it steers a
// terminal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "controller/formats/render.hpp"
#include "controller/report_reader.hpp"

namespace {

using namespace cleanslate;
using namespace cleanslate::controller;

void require(bool holds) {
    if (!holds) std::abort();
}

std::string form(const Report& report, Format format) {
    std::string text;
    render(report, format, {}, [&](std::string_view piece) { text += piece; });
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto report = read_report(text, "a.json");
    if (!report) {
        require(report.error().kind == "report" && report.error().message.starts_with("a.json: "));
        require(printable(report.error().message) == report.error().message);
        return 0;
    }
    const std::string json = form(*report, Format::json);
    for (const char c : json) require(c == '\n' || static_cast<unsigned char>(c) >= ' ');
    const auto again = read_report(json, "a.json");
    require(again.has_value());
    require(form(*again, Format::json) == json);
    require(form(*again, Format::text) == form(*report, Format::text));
    return 0;
}
