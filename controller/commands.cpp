#include "controller/commands.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "controller/console.hpp"
#include "controller/exit_status.hpp"
#include "controller/last_failed.hpp"
#include "controller/page.hpp"
#include "controller/slurm_nodes.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::controller {
namespace {

int usage(const Error& error) {
    print_error(error);
    return exit_usage;
}

void list_playbooks(Output& out) {
    for (const auto& built_in : playbooks::built_in_playbooks()) {
        std::string name(built_in.name);
        for (const std::string& line : wrap(printable(built_in.description), 64)) {
            out.write(fmt::format("{:<14}  {}\n", name, line));
            name.clear();
        }
        if (!name.empty()) out.write(name + "\n");
    }
}

// Nobody is left to be asked: lists of hosts are emptied all the same, so that none of an earlier sweep
// stays.
int nothing_to_repeat(const Context& context) {
    if (const auto emptied = empty_host_lists(context.options); !emptied) {
        print_error(emptied.error());
        return exit_internal;
    }
    const auto& formats = context.options.formats;
    const bool only_text = std::ranges::all_of(
        formats, [](const auto& form) { return form.format == Format::text && form.to_stdout(); });
    if (!only_text) Console(STDERR_FILENO).write("note: no report is written\n");
    return context.options.expect_hosts ? 1 : 0;
}

int repeat_last_failed(const Context& context) {
    const auto last = narrow_to_last_failed(context.options, context.environment);
    if (!last) return usage(last.error());
    for (const std::string& note : last->notes)
        Console(STDERR_FILENO).write("note: " + printable(note) + "\n");
    if (!last->narrowed) return nothing_to_repeat(context);
    return run_command_line(
        {*last->narrowed, context.environment, context.arguments, context.terminal, context.out});
}

}  // namespace

int run_command_line(const Context& context) {
    if (context.options.slurm.asked() && !context.options.slurm.nodes) {
        const auto answered = with_slurm_nodes(context.options, context.environment);
        if (!answered) return usage(answered.error());
        return run_command_line(
            {*answered, context.environment, context.arguments, context.terminal, context.out});
    }
    if (context.options.last_failed) return repeat_last_failed(context);
    switch (context.options.command) {
        case Command::check:
        case Command::clear:
        case Command::run:
            return sweep_command(context);
        case Command::hosts:
            return hosts_command(context);
        case Command::playbooks:
            return playbooks_command(context);
        case Command::parse:
            return parse_command(context);
        case Command::baseline:
            return baseline_command(context);
        case Command::explain:
            return explain_command(context);
        case Command::audit:
            return audit_command(context);
        case Command::trust:
            return trust_command(context);
        case Command::report:
            return report_command(context);
        case Command::history:
            return history_command(context);
        case Command::drain_list:
            return drain_list_command(context);
        case Command::config:
            return config_command(context);
        case Command::completion:
            return completion_command(context);
        case Command::complete:
            return complete_command(context);
    }
    return exit_internal;
}

int playbooks_command(const Context& context) {
    if (context.options.playbook.empty()) {
        list_playbooks(context.out);
        return finish_output(context);
    }
    const auto text = playbooks::playbook_text(context.options.playbook);
    if (!text) return usage(text.error());
    context.out.write(*text);
    return finish_output(context);
}

int finish_output(const Context& context) {
    const auto written = context.out.finish();
    if (written) return 0;
    print_error(written.error());
    return exit_internal;
}

void print_error(const Error& error) {
    Console console(STDERR_FILENO);
    console.write(fmt::format("cleanslate: {}\n", printable_lines(error.message)));
    if (!error.remedy.empty()) console.write(fmt::format("  -> {}\n", printable_lines(error.remedy)));
}

}  // namespace cleanslate::controller
