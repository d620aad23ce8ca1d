// audit: reads the audit log back. It takes no lock and writes nothing.

#include <fmt/core.h>

#include <ctime>

#include "base/files.hpp"
#include "base/text.hpp"
#include "controller/audit_log.hpp"
#include "controller/audit_view.hpp"
#include "controller/commands.hpp"
#include "controller/exit_status.hpp"
#include "controller/json_text.hpp"

namespace cleanslate::controller {
namespace {

Result<AuditQuery> query_of(const Options& options) {
    AuditQuery query;
    auto hosts = HostFilter::read(options.audit_hosts);
    if (!hosts) return std::unexpected(hosts.error());
    query.hosts = std::move(*hosts);
    if (options.since) {
        const auto since = parse_since(*options.since, std::time(nullptr));
        if (!since) return std::unexpected(since.error());
        query.since = *since;
    }
    return query;
}

// What is wrong with the log itself; empty: nothing.
std::string flaws_of(const AuditReader& reader) {
    std::string text;
    if (reader.unreadable() > 0)
        text = fmt::format("{} of the log {} no record (the first is line {})",
                           count_of(reader.unreadable(), "line"), reader.unreadable() == 1 ? "is" : "are",
                           reader.first_unreadable());
    if (reader.torn()) text += std::string(text.empty() ? "" : "; ") + "its last record is cut";
    return text;
}

struct Told {
    std::size_t sweeps = 0, acts = 0;
    bool any = false;
};

void write_text_end(const Context& context, const AuditReader& reader, const Told& told) {
    std::string text =
        told.sweeps == 0 ? std::string("no record fits")
                         : fmt::format("{}, {}", count_of(told.sweeps, "sweep"), count_of(told.acts, "act"));
    if (const std::string flaws = flaws_of(reader); !flaws.empty()) text += "; " + flaws;
    context.out.write(text + "\n");
}

int failed(const Error& error, int status) {
    print_error(error);
    return status;
}

}  // namespace

int audit_command(const Context& context) {
    const Options& options = context.options;
    auto query = query_of(options);
    if (!query) return failed(query.error(), exit_usage);
    const std::string file = options.audit ? *options.audit : default_audit_file(context.environment);
    if (file.empty())
        return failed(
            {"usage", "", "which audit log? Neither $XDG_STATE_HOME nor $HOME says", "give --audit FILE"},
            exit_usage);

    const bool json = options.format == Format::json, terminal = context.terminal.out;
    Page page(terminal ? context.terminal.out_columns : 80,
              use_color(options.color, terminal, context.environment));
    Told told;
    AuditReader reader(std::move(*query), [&](const AuditedSweep& sweep) {
        if (json) {
            context.out.write((told.any ? ",\n" : "\n") + dump(audited_sweep_json(sweep)));
        } else {
            write_audited_sweep(page, sweep);
            context.out.write(page.take());
        }
        told.any = true;
        told.sweeps += sweep.continued ? 0 : 1;
        told.acts += sweep.acts.size();
    });
    bool begun = false;
    const auto begin = [&] {
        if (json && !begun) context.out.write("{\"schema\":\"cleanslate.audit/1\",\"sweeps\":[");
        begun = true;
    };
    const auto read = read_pieces(file, [&](std::string_view piece) -> Status {
        begin();
        reader.feed(piece);
        return {};
    });
    if (!read && !begun) return failed(read.error(), exit_internal);
    begin();
    reader.finish();
    if (json)
        context.out.write(fmt::format("\n],\"records\":{},\"unreadable_lines\":{},\"torn\":{}}}\n",
                                      reader.records(), reader.unreadable(), reader.torn()));
    else
        write_text_end(context, reader, told);
    const int status = finish_output(context);
    return read ? status : failed(read.error(), exit_internal);
}

}  // namespace cleanslate::controller
