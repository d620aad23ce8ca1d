#include "tests/fleet/nvidia_smi_options.hpp"

#include <unistd.h>

#include <cstdio>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

void end(int status) {
    std::fflush(stdout);
    ::_exit(status);
}

void refuse(int status, const std::string& text) {
    std::printf("%s\n", text.c_str());
    end(status);
}

namespace {

void read_format(Options& options, const std::string& value) {
    for (const auto& word : split(value, ',')) {
        if (word == "csv")
            options.csv = true;
        else if (word == "noheader")
            options.header = false;
        else if (word == "nounits")
            options.units = false;
        else
            refuse(2,
                   "Format option \"" + word + "\" is not recognized. Please run 'nvidia-smi -h' for help.");
    }
}

}  // namespace

Options read_options(int argc, char** argv) {
    Options options;
    const auto query = [&](Query kind) { options.query = kind; };
    for (int i = 1; i < argc; ++i) {
        std::string name = argv[i];
        std::string value;
        const auto equals = name.find('=');
        if (name.starts_with("--") && equals != std::string::npos) {
            value = name.substr(equals + 1);
            name.resize(equals);
        }
        const bool takes_value = name == "--query-gpu" || name == "--query-compute-apps" ||
                                 name == "--format" || name == "-i" || name == "--id";
        if (takes_value && equals == std::string::npos && i + 1 < argc) value = argv[++i];
        if (takes_value && value.empty()) refuse(2, "Option \"" + name + "\" is missing its value.");
        if (name == "--query-gpu")
            query(Query::gpus), options.fields = value;
        else if (name == "--query-compute-apps")
            query(Query::apps), options.fields = value;
        else if (name == "--format")
            read_format(options, value);
        else if (name == "-i" || name == "--id")
            options.ids = value;
        else if (name == "-L" || name == "--list-gpus")
            query(Query::list);
        else if (name == "--help-query-gpu")
            query(Query::help_gpus);
        else if (name == "--help-query-compute-apps")
            query(Query::help_apps);
        else if (name == "--version")
            query(Query::version);
        else if (name == "--gpu-reset" || name == "-r")
            query(Query::reset);
        else
            refuse(2, "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n");
    }
    const bool csv_query = options.query == Query::gpus || options.query == Query::apps;
    if (csv_query && !options.csv)
        refuse(2, "\"--format=\" switch is missing. Please run 'nvidia-smi -h' for help.");
    if (options.query == Query::none)
        refuse(2,
               "This stand-in answers queries: --query-gpu=, --query-compute-apps=, -L, --help-query-gpu.");
    return options;
}

}  // namespace cleanslate::simulated
