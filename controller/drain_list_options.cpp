// The options of drain-list.

#include <algorithm>

#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {
namespace {

std::set<agentless::Verdict> read_verdicts(const std::string& text, const std::string& option) {
    using agentless::Verdict;
    std::set<Verdict> verdicts;
    for (const std::string_view word : split(text, ',')) {
        constexpr Verdict drainable[] = {Verdict::dirty, Verdict::sick, Verdict::unknown,
                                         Verdict::unreachable};
        const auto found =
            std::ranges::find(drainable, trim(word), [](Verdict one) { return to_string(one); });
        if (found == std::end(drainable))
            throw CLI::ValidationError(
                option,
                "wants of dirty, sick, unknown, unreachable, with commas, not '" + printable(word) + "'");
        verdicts.insert(*found);
    }
    return verdicts;
}

}  // namespace

void add_drain_list_options(CLI::App& app, Options& options) {
    add_report_files(app, options);
    const auto verdicts = [&options](const std::string& text, const std::string& option) {
        options.drained = read_verdicts(text, option);
    };
    add_read(app, "--verdicts", "LIST", verdicts,
             "Whom to drain: of dirty, sick, unknown, unreachable, with commas between (default dirty,sick)");
    add_text(app, "--node", "NAME", options.node,
             "Slurm's name of the only host in the report, as of check --local (default: the host's own)");
    app.add_flag("--apply", options.apply, "Run the lines, each by itself (default: print them)");
    add_duration(app, "--apply-timeout", options.apply_timeout, "How long one line may take (default 30s)");
    add_duration(app, "--max-age", options.max_age,
                 "With --apply, of a report that was begun earlier nothing is run (default 24h)");
}

}  // namespace cleanslate::controller
