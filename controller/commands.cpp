#include "controller/commands.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include "base/text.hpp"
#include "controller/console.hpp"
#include "controller/exit_status.hpp"
#include "controller/page.hpp"
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

}  // namespace

int run_command_line(const Context& context) {
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
