#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"

namespace cleanslate::controller {

void add_hosts_options(CLI::App& app, Options& options) {
    const auto groups = [&options](std::int64_t) { options.groups = true; };
    app.add_flag("--folded", options.folded, "One line, gpu[01-31,33] (default: one name a line)");
    app.add_flag_function("--groups", groups,
                          "The groups that the hosts are in, one name a line (default: the hosts)")
        ->excludes("--folded");
    add_choice<Format>(app, "--format", options.format, {{"text", Format::text}, {"json", Format::json}},
                       "json: each host with its groups and the settings in force for it (default text)")
        ->excludes("--folded")
        ->excludes("--groups");
}

}  // namespace cleanslate::controller
