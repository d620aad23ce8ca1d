#include "agentless/host_answer.hpp"

#include <fmt/format.h>

#include "agentless/account_trouble.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

// The first line that a host printed in place of what was asked.
std::string first_line(const RunOutput& output) {
    for (const auto* text : {&output.out, &output.err})
        for (auto line : split(*text, '\n'))
            if (!trim(line).empty()) return ellipsize(printable(trim(line)), 120);
    return {};
}

}  // namespace

std::string how_it_ended(const RunOutput& output) {
    if (!output.exit_signal.empty()) return "was ended by signal " + printable(output.exit_signal);
    if (output.exit_status) return fmt::format("ended with status {}", *output.exit_status);
    return "ended without a status";
}

std::string share_of_queries(const Evidence& evidence) {
    std::optional<Milliseconds> sum;
    for (const auto* query :
         {&evidence.gpu_query, &evidence.app_query, &evidence.optional_query, &evidence.list_query})
        if (query->took) sum = sum.value_or(Milliseconds{0}) + *query->took;
    return sum ? fmt::format("; nvidia-smi took {} of it", format_duration(*sum)) : std::string();
}

Error not_our_output(const RunOutput& output, std::string_view why) {
    if (auto account = account_error({output.err, output.out})) return *account;
    auto message = fmt::format("{}: the shell {}", why, how_it_ended(output));
    if (const auto line = first_line(output); !line.empty())
        message += fmt::format("; the host printed: {}", line);
    return {"protocol", "", std::move(message), "log in by hand: does `/bin/sh -s` run there?"};
}

std::string_view remedy_for(std::string_view kind) {
    if (kind == "timeout") return "look at the host, or give it more time with --timeout";
    if (kind == "connection_lost") return "look at the host and its sshd, then run `cleanslate check` on it";
    if (kind == "output_limit") return "the host floods its own output: look at its login files";
    if (kind == "refused") return "the account may not run commands: look at its shell and at ForceCommand";
    return "";
}

}  // namespace cleanslate::agentless
