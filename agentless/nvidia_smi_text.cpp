// The prose that nvidia-smi prints on stdout in place of rows or between them, and its exit statuses.

#include <array>

#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::size_t longest_text = 512;

struct Phrase {
    std::string_view part;  // in lower case, single blanks
    Trouble trouble;
    std::string_view code;
};

// First that is found in the line. What names a GPU's device handle is told apart by its reason before this
// table.
constexpr std::array phrases{
    Phrase{"inforom is corrupted", Trouble::sick, "inforom-corrupted"},
    Phrase{"couldn't communicate with the nvidia driver", Trouble::unreadable, "driver-not-loaded"},
    Phrase{"driver/library version mismatch", Trouble::unreadable, "driver-mismatch"},
    Phrase{"failed to initialize nvml: insufficient permissions", Trouble::refused, "permission-refused"},
    Phrase{"failed to initialize nvml: driver not loaded", Trouble::unreadable, "driver-not-loaded"},
    Phrase{"failed to initialize nvml", Trouble::unreadable, "nvml-failed"},
    Phrase{"couldn't find libnvidia-ml.so", Trouble::unreadable, "nvml-missing"},
    Phrase{"no devices were found", Trouble::unreadable, "no-devices"},
    Phrase{"is not a valid field to query", Trouble::unreadable, "unknown-field"},
    Phrase{"invalid combination of input arguments", Trouble::unreadable, "bad-arguments"},
    Phrase{"is not recognized. please run", Trouble::unreadable, "bad-arguments"},
    Phrase{"requires reset", Trouble::sick, "gpu-requires-reset"},
    Phrase{"gpu is lost", Trouble::sick, "gpu-lost"},
    Phrase{"off the bus", Trouble::sick, "gpu-lost"},
    Phrase{"insufficient permissions", Trouble::refused, "permission-refused"},
    Phrase{"command not found", Trouble::unreadable, "nvidia-smi-missing"},
    Phrase{"nvidia-smi: not found", Trouble::unreadable, "nvidia-smi-missing"},
};

// Second halves of whole-command messages that stand on a line of their own.
constexpr std::array<std::string_view, 4> continuations{
    "make sure that the latest nvidia driver is installed and running",
    "nvml library version:",
    "please make sure that the nvidia display driver is properly installed",
    "please also try adding directory that contains libnvidia-ml.so",
};

constexpr std::string_view handle_failed = "unable to determine the device handle";

struct Reason {
    std::string_view words;
    Trouble trouble;
    std::string_view code;
};
constexpr std::array handle_reasons{
    Reason{"requires reset", Trouble::sick, "gpu-requires-reset"},
    Reason{"is lost", Trouble::sick, "gpu-lost"},
    Reason{"off the bus", Trouble::sick, "gpu-lost"},
    Reason{"unknown error", Trouble::sick, "gpu-unknown-error"},
    Reason{"insufficient permissions", Trouble::refused, "permission-refused"},
};

}  // namespace

DriverMessage classify_line(std::string_view line) {
    line = trim(line);
    const bool pids = is_pid_list(line);
    line = line.substr(0, longest_text);
    DriverMessage message{Trouble::unreadable, "unrecognised-line", std::string(line), {}};
    const auto become = [&](Trouble trouble, std::string_view code) {
        message.trouble = trouble;
        message.code = code;
    };
    if (pids) {
        become(Trouble::none, "pids");
        return message;
    }
    message.bus_id = find_bus_id(line);
    const std::string low = single_blanks(lowered(line));
    if (low.find(handle_failed) != std::string::npos) {
        become(Trouble::unreadable, "gpu-handle-failed");
        for (const auto& reason : handle_reasons)
            if (low.find(reason.words) != std::string::npos) {
                become(reason.trouble, reason.code);
                break;
            }
        return message;
    }
    for (const auto& phrase : phrases)
        if (low.find(phrase.part) != std::string::npos) {
            become(phrase.trouble, phrase.code);
            return message;
        }
    for (const auto continuation : continuations)
        if (low.starts_with(continuation)) become(Trouble::none, "continued");
    return message;
}

std::string_view code_for_status(int exit_status) {
    switch (exit_status) {
        case 0:
            return "";
        case 2:
            return "bad-arguments";
        case 3:
            return "not-available";
        case 4:
            return "permission-refused";
        case 6:
            return "no-devices";
        case 8:
            return "power-cable";
        case 9:
            return "driver-not-loaded";
        case 10:
            return "driver-interrupt";
        case 12:
            return "nvml-missing";
        case 13:
            return "not-implemented";
        case 14:
            return "inforom-corrupted";
        case 15:
            return "gpu-lost";
        case 18:
            return "driver-mismatch";
        case 124:
        case 137:
            return "driver-hung";
        case 126:
        case 127:
            return "nvidia-smi-missing";
        default:
            return "nvidia-smi-failed";
    }
}

}  // namespace cleanslate::agentless
