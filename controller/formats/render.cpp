#include "controller/formats/render.hpp"

#include "controller/formats/csv_report.hpp"
#include "controller/formats/event_stream.hpp"
#include "controller/formats/html_report.hpp"
#include "controller/formats/junit_report.hpp"
#include "controller/formats/prom_report.hpp"
#include "controller/json_report.hpp"
#include "controller/text_report.hpp"

namespace cleanslate::controller {
namespace {

void render_text(const Report& report, const Rendering& rendering, const Sink& sink) {
    if (rendering.quiet) {
        Page page(endless, rendering.color);
        write_summary(page, report, rendering.elsewhere);
        sink(page.take());
        return;
    }
    const TextOptions text{rendering.columns, rendering.color, rendering.raw_commands, rendering.elsewhere};
    report.is_run() ? write_run_text(report, text, sink) : write_text(report, text, sink);
}

}  // namespace

void render(const Report& report, Format format, const Rendering& rendering, const Sink& sink) {
    switch (format) {
        case Format::text:
            return render_text(report, rendering, sink);
        case Format::json:
            return write_json(report, rendering.raw_commands, sink);
        case Format::jsonl:
            return write_events(report, rendering.raw_commands, sink);
        case Format::csv:
            return write_csv(report, sink);
        case Format::junit:
            return write_junit(report, rendering.raw_commands, sink);
        case Format::prom:
            return write_prom(report, sink);
        case Format::html:
            return write_html(report, rendering.raw_commands, sink);
    }
}

}  // namespace cleanslate::controller
