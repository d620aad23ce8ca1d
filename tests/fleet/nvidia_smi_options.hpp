#pragma once
// The command line of the nvidia-smi stand-in, and how it ends.

#include <string>

namespace cleanslate::simulated {

enum class Query { none, gpus, apps, list, help_gpus, help_apps, version, reset };

struct Options {
    Query query = Query::none;
    std::string fields;
    std::string ids;  // of -i
    bool header = true;
    bool units = true;
    bool csv = false;
};

// Ends with status 2 and the reason on standard output, as the real one does, where the options make no
// sense.
Options read_options(int argc, char** argv);

[[noreturn]] void end(int status);
// Prints the text and ends.
[[noreturn]] void refuse(int status, const std::string& text);

}  // namespace cleanslate::simulated
