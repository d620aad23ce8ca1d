// A host's course, for people and for programs.

#include <fmt/core.h>

#include "base/text.hpp"
#include "controller/history/course.hpp"
#include "controller/history/gpu_change_view.hpp"
#include "controller/history/holder_lines.hpp"
#include "controller/history/sweep_json.hpp"

namespace cleanslate::controller::history {
namespace {

std::string sweeps_text(const Stretch& stretch) {
    return stretch.sweeps == 1
               ? fmt::format("sweep {}", stretch.first)
               : fmt::format("{} sweeps ({} to {})", stretch.sweeps, stretch.first, stretch.last);
}

// "from 2026-11-20T02:00:00Z, for 8d00h": a state lasts until a sweep finds another one.
std::string time_text(const Stretch& stretch) {
    if (!stretch.until) {
        const std::string lasts =
            stretch.to > stretch.from ? ", for " + span_text(stretch.to - stretch.from) + " at least" : "";
        return "since " + rfc3339(stretch.from) + lasts;
    }
    return fmt::format("from {}, for {}", rfc3339(stretch.from), span_text(*stretch.until - stretch.from));
}

void write_stretch(Page& page, const Stretch& stretch) {
    const std::string word(to_string(stretch.verdict));
    page.line(4, {{fmt::format("{:<11}", word), style_of(stretch.verdict)},
                  {" " + time_text(stretch) + ", " + sweeps_text(stretch)}});
    std::string what = gpu_list(stretch.gpus, [](const StoredGpu&) { return true; });
    if (!stretch.why.empty()) what += (what.empty() ? "" : "; ") + stretch.why;
    page.boxed(8, what);
    write_holders(page, 8, stretch.holders);
}

void write_stretch(JsonWriter& json, const Stretch& stretch) {
    json.object([&] {
        json.key("verdict").text(to_string(stretch.verdict));
        json.key("first_sweep").number(stretch.first);
        json.key("last_sweep").number(stretch.last);
        json.key("sweeps").number(stretch.sweeps);
        json.key("from").text(rfc3339(stretch.from));
        json.key("to").text(rfc3339(stretch.to));
        write_time(json.key("until"), stretch.until);
        json.key("why").text_or_null(stretch.why);
        json.key("gpus").list(stretch.gpus, [&](const StoredGpu& gpu) {
            json.object([&] {
                json.key("index").number_or_null(gpu.index);
                json.key("uuid").text_or_null(gpu.uuid);
                json.key("verdict").text(to_string(gpu.verdict));
                json.key("used_mib").mib_or_null(gpu.used);
            });
        });
        json.key("holders").list(stretch.holders,
                                 [&](const StoredHolder& holder) { write_holder(json, holder); });
    });
}

}  // namespace

std::string courses_json(const std::vector<Course>& courses) {
    std::string text;
    JsonWriter json(text);
    json.object([&] {
        json.key("schema").text("cleanslate.courses/1");
        json.key("hosts").list(courses, [&](const Course& course) {
            json.object([&] {
                json.key("host").text(course.host);
                json.key("sweeps").number(course.sweeps);
                json.key("stretches").list(course.stretches, [&](const Stretch& stretch) {
                    write_stretch(json, stretch);
                });
                json.key("gpu_changes").list(course.gpus, [&](const auto& seen) {
                    json.object([&] {
                        json.key("sweep").number(seen.first);
                        write_gpu_change_members(json, seen.second);
                    });
                });
            });
        });
    });
    return text + "\n";
}

void courses_text(Page& page, const std::vector<Course>& courses) {
    for (const Course& course : courses) {
        page.boxed(0, fmt::format("{}: {}", course.host, count_of(course.sweeps, "sweep")), Style::bold);
        for (const Stretch& stretch : course.stretches) write_stretch(page, stretch);
        for (const auto& [sweep, change] : course.gpus)
            page.boxed(4, gpu_change_text(change) + fmt::format(" (sweep {})", sweep));
    }
}

}  // namespace cleanslate::controller::history
