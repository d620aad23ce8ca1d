// trust: shows the host keys of an inventory, and adds those that are new to known_hosts after a yes.

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "base/text.hpp"
#include "controller/commands.hpp"
#include "controller/console.hpp"
#include "controller/exit_status.hpp"
#include "controller/json_text.hpp"
#include "controller/patience.hpp"
#include "controller/settings.hpp"
#include "controller/signals.hpp"
#include "controller/trust_report.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

int refused(const Error& error, int status) {
    print_error(error);
    return status;
}

Result<ScanResult> look(KeyScan& scan, StopSignals& signals) {
    struct HandlerScope {
        StopSignals& signals;
        ~HandlerScope() { signals.set_handler(nullptr); }
    } const scope{signals};
    signals.set_handler([&](int, int) { scan.stop(); });
    return scan.run();
}

// Shows the new keys and asks; yes at once with --yes, no where nobody can be asked.
bool agreed(const Context& context, TrustReport& report, StopSignals& signals) {
    const NewKeys count = new_keys(report.result);
    if (count.keys == 0 || signals.first() != 0) return false;
    if (context.options.yes) return true;
    if (!can_ask(context.terminal, context.options)) {
        report.result.notes.push_back("nothing was added: there is no terminal to ask on (--yes adds them)");
        return false;
    }
    Page page(context.terminal.err_columns, use_color(context.options.color, true, context.environment));
    write_new_keys(page, report.result);
    const auto& files = context.options.known_hosts;
    const std::string question =
        fmt::format("Compare them with what the hosts' consoles say. Add {} of {} to {}? [y/N] ",
                    count_of(count.keys, "key"), count_of(count.hosts, "host"),
                    files.empty() ? std::string("known_hosts") : printable(files.front()));
    report.keys_shown = context.terminal.out;
    return ask(page.take() + question, signals.fd()) == Answer::yes;
}

int write(const Context& context, const TrustReport& report) {
    const Options& options = context.options;
    if (options.format == Format::json) {
        context.out.write(dump(trust_json(report)) + "\n");
    } else {
        const bool terminal = context.terminal.out;
        Page page(terminal ? context.terminal.out_columns : 80,
                  use_color(options.color, terminal, context.environment));
        write_trust_text(page, report);
        context.out.write(page.take());
    }
    const int written = finish_output(context);
    return written != 0 ? written : report.exit_status;
}

void say(const std::vector<std::string>& notes) {
    Console console(STDERR_FILENO);
    for (const std::string& note : notes) console.write(fmt::format("note: {}\n", printable_lines(note)));
}

}  // namespace

int trust_command(const Context& context) {
    const Options& options = context.options;
    auto selection = select_hosts(options);
    if (!selection) return refused(selection.error(), exit_usage);
    std::vector<inventory::Host> hosts;
    for (const auto& host : selection->hosts) hosts.push_back(task_for(host, options, {}).host);

    StopSignals signals;
    const auto began = std::chrono::steady_clock::now();
    TrustReport report;
    report.started = rfc3339(std::time(nullptr));
    KeyScan scan(std::move(hosts), reach_for(options, context.environment), options.limits);
    auto result = look(scan, signals);
    if (!result)
        return refused(result.error(), result.error().kind == "internal" ? exit_internal : exit_usage);
    report.took = std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - began);
    report.result = std::move(*result);
    for (std::string& note : selection->notes) report.result.notes.push_back(std::move(note));
    if (agreed(context, report, signals)) report.unwritten = scan.add(report.result);
    say(report.result.notes);
    report.exit_status = exit_status(report, signals.first());
    const Patience patience(context.out, signals);
    return write(context, report);
}

}  // namespace cleanslate::controller
