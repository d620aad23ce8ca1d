// cleanslate: clears GPU hosts over plain SSH and proves that they are clear.

#include <unistd.h>

#include <cstdio>
#include <exception>

#include "controller/commands.hpp"
#include "controller/exit_status.hpp"
#include "controller/signals.hpp"

using namespace cleanslate;

namespace {

// help, version, or what is wrong with the command line
int end_early(const controller::EarlyEnd& end, controller::Output& out) {
    out.write(end.out);
    std::fputs(end.err.c_str(), stderr);
    const auto written = out.finish();
    if (!written) controller::print_error(written.error());
    return written ? end.exit_status : controller::exit_internal;
}

int run(const std::vector<std::string>& arguments) {
    controller::occupy_closed_streams();
    controller::ignore_write_signals();
    controller::Output out(STDOUT_FILENO);
    const auto environment = controller::environment_of_process();
    const auto options = controller::read_command_line(arguments, environment);
    if (!options) return end_early(options.error(), out);
    return controller::run_command_line(
        {*options, environment, arguments, controller::terminal_of_process(), out});
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + (argc > 0 ? 1 : 0), argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cleanslate: internal error: %s\n", error.what());
    } catch (...) {
        std::fputs("cleanslate: internal error\n", stderr);
    }
    return controller::exit_internal;
}
