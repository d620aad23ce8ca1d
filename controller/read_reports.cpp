#include "controller/read_reports.hpp"

#include <fmt/core.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "controller/merge_reports.hpp"
#include "controller/report_reader.hpp"

namespace cleanslate::controller {
namespace {

// What does not begin like an object is given up at once, however much of it there is.
Result<std::string> read_json_file(const std::string& file, const std::string& name) {
    std::string text;
    bool begun = false;
    const auto read = read_pieces(file, [&](std::string_view piece) -> Status {
        text += piece;
        const auto first = begun ? std::string_view::npos : piece.find_first_not_of(" \t\r\n");
        begun |= first != std::string_view::npos;
        if (first != std::string_view::npos && piece[first] != '{' && piece[first] != '\xEF')
            return fail("report", name + ": no JSON report", "give one of --format json");
        if (text.size() > most_report_bytes)
            return fail("report", fmt::format("{}: larger than {} MiB", name, most_report_bytes >> 20),
                        "give smaller shards");
        return {};
    });
    if (!read) return std::unexpected(read.error());
    return text;
}

Result<NamedReport> read_one(const std::string& file) {
    const std::string name = file == "-" ? "stdin" : printable(file);
    const auto text = read_json_file(file, name);
    if (!text) return std::unexpected(text.error());
    auto report = read_report(*text, name);
    if (!report) return std::unexpected(report.error());
    return NamedReport{name, std::move(*report)};
}

}  // namespace

Result<Report> read_reports(const std::vector<std::string>& files, bool merge,
                            std::optional<Milliseconds> within) {
    if (!merge && files.size() > 1)
        return fail("usage", "show wants one report", "to have several as one: cleanslate report merge");
    std::vector<NamedReport> reports;
    for (const std::string& file : files) {
        auto one = read_one(file);
        if (!one) return std::unexpected(one.error());
        reports.push_back(std::move(*one));
    }
    if (!merge) return std::move(reports.front().report);
    return merge_reports(std::move(reports), within);
}

}  // namespace cleanslate::controller
