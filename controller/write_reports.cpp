// A finished report, in every form and into every file that was asked for.

#include "base/text.hpp"
#include "controller/commands.hpp"
#include "controller/files.hpp"
#include "controller/formats/host_lists.hpp"
#include "controller/formats/render.hpp"

namespace cleanslate::controller {
namespace {

Rendering rendering_of(const Context& context, const FormatRequest& request) {
    const bool terminal = request.to_stdout() && context.terminal.out;
    Rendering rendering;
    rendering.columns = terminal ? context.terminal.out_columns : 80;
    rendering.color = use_color(request.to_stdout() ? context.options.color : ColorMode::never, terminal,
                                context.environment);
    rendering.quiet = request.to_stdout() && context.options.quiet;
    rendering.raw_commands = context.options.raw_commands;
    return rendering;
}

Status write_one(const Context& context, const Report& report, const FormatRequest& request,
                 const std::vector<std::string>& elsewhere) {
    Rendering rendering = rendering_of(context, request);
    rendering.elsewhere = elsewhere;
    if (request.to_stdout()) {
        render(report, request.format, rendering, [&](std::string_view text) { context.out.write(text); });
        return context.out.finish();
    }
    FileReplacement file(request.file);
    render(report, request.format, rendering, [&](std::string_view text) { file.write(text); });
    return file.commit();
}

Status nobody_left_out(const HostList& list, ListForm form) {
    if (list.left_out.empty()) return {};
    const std::string more =
        list.left_out.size() > 1 ? " and " + std::to_string(list.left_out.size() - 1) + " more" : "";
    return fail("write",
                list.left_out.front() + more + " cannot be written in the form " +
                    std::string(to_string(form)) + ": not in the list",
                "list them in the form plain, or rename them in the inventory");
}

}  // namespace

bool write_reports(const Context& context, const Report& report, std::vector<std::string> elsewhere) {
    bool all = true;
    const auto write = [&](const FormatRequest& request) {
        const std::string form(to_string(request.format));
        // Of a sweep they were written as it went.
        const bool live = request.format == Format::jsonl && is_sweep(context.options.command);
        const auto written = live ? Status{} : write_one(context, report, request, elsewhere);
        if (!written) {
            print_error(with_context(written.error(), "--format " + form));
            all = false;
        } else if (!request.to_stdout()) {
            elsewhere.push_back(form + ": " + request.file);
        }
    };
    for (const bool to_stdout : {false, true})
        for (const FormatRequest& request : context.options.formats)
            if (request.to_stdout() == to_stdout) write(request);
    return all;
}

Status empty_host_lists(const Options& options) {
    const auto empty = [](const std::vector<ListRequest>& requests, const char* option) -> Status {
        for (const ListRequest& request : requests) {
            if (request.to_stdout()) continue;
            if (auto emptied = replace_file(request.file, empty_host_list(request.form)); !emptied)
                return std::unexpected(with_context(emptied.error(), option));
        }
        return {};
    };
    if (auto emptied = empty(options.clean_hosts, "--clean-hosts"); !emptied) return emptied;
    return empty(options.not_clean_hosts, "--not-clean-hosts");
}

bool write_host_lists(const Context& context, const Report& report) {
    bool all = true;
    const auto write = [&](const std::vector<ListRequest>& requests, bool clean, const char* option) {
        for (const ListRequest& request : requests) {
            const HostList list = host_list(report, clean, request.form);
            Status written;
            if (request.to_stdout()) {
                context.out.write(list.text);
                written = context.out.finish();
            } else {
                written = replace_file(request.file, list.text);
            }
            if (written) written = nobody_left_out(list, request.form);
            if (written) continue;
            print_error(with_context(written.error(), option));
            all = false;
        }
    };
    write(context.options.clean_hosts, true, "--clean-hosts");
    write(context.options.not_clean_hosts, false, "--not-clean-hosts");
    return all;
}

Status may_write_reports(const Options& options) {
    for (const FormatRequest& request : options.formats) {
        if (request.to_stdout()) continue;
        if (auto may = may_replace(request.file); !may)
            return std::unexpected(
                with_context(may.error(), "--format " + std::string(to_string(request.format))));
    }
    return {};
}

}  // namespace cleanslate::controller
