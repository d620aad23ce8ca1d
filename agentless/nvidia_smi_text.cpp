// The prose that nvidia-smi prints on stdout in place of rows or between them, and its exit statuses.

#include <algorithm>
#include <array>

#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_cells.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::size_t longest_text = 512;

// In lower case, with single blanks.
struct Phrase {
    std::string_view part;
    Trouble trouble;
    std::string_view code;
};

// First that is found in the line. What names a GPU's device handle is told apart by its reason before this
// table, what fails to initialize NVML likewise, and what says that a GPU is sick.
constexpr std::array phrases{
    Phrase{"inforom is corrupted", Trouble::sick, "inforom-corrupted"},
    Phrase{"couldn't communicate with the nvidia driver", Trouble::unreadable, "driver-not-loaded"},
    Phrase{"driver/library version mismatch", Trouble::unreadable, "driver-mismatch"},
    Phrase{"couldn't find libnvidia-ml.so", Trouble::unreadable, "nvml-missing"},
    Phrase{"no devices were found", Trouble::unreadable, "no-devices"},
    Phrase{"no devices found", Trouble::unreadable, "no-devices"},
    Phrase{"is not a valid field to query", Trouble::unreadable, "unknown-field"},
    Phrase{"invalid combination of input arguments", Trouble::unreadable, "bad-arguments"},
    Phrase{"is not recognized. please run", Trouble::unreadable, "bad-arguments"},
    Phrase{"insufficient permissions", Trouble::refused, "permission-refused"},
};

// Of a GPU whose bus id stands before it, or with "gpu " in front as the end of a message.
constexpr std::array sick_phrases{
    Phrase{"requires reset", Trouble::sick, "gpu-requires-reset"},
    Phrase{"is lost", Trouble::sick, "gpu-lost"},
    Phrase{"has fallen off the bus", Trouble::sick, "gpu-lost"},
};

// Lines on which known messages go on, without their full stop. Whether the line before is one is the
// reader's to see.
constexpr std::array<std::string_view, 6> continuations{
    "make sure that the latest nvidia driver is installed and running",
    "this can also be happening if non-nvidia gpu is running as primary display, and nvidia gpu is in wddm "
    "mode",
    "please make sure that the nvidia display driver is properly installed and present in your system",
    "please also try adding directory that contains libnvidia-ml.so to your system path",
    "please run 'nvidia-smi -h' for help",
    "reboot the system to recover this gpu",
};

bool is_continuation(std::string_view low) {
    constexpr std::string_view version = "nvml library version: ";
    if (low.starts_with(version))
        return low.substr(version.size()).find_first_not_of("0123456789.") == std::string_view::npos;
    if (low.ends_with('.')) low.remove_suffix(1);
    return std::ranges::find(continuations, low) != continuations.end();
}

constexpr std::string_view handle_failed = "unable to determine the device handle";
constexpr std::array handle_reasons{
    Phrase{"requires reset", Trouble::sick, "gpu-requires-reset"},
    Phrase{"is lost", Trouble::sick, "gpu-lost"},
    Phrase{"off the bus", Trouble::sick, "gpu-lost"},
    Phrase{"unknown error", Trouble::sick, "gpu-unknown-error"},
    Phrase{"insufficient permissions", Trouble::refused, "permission-refused"},
    Phrase{"power", Trouble::unreadable, "power-cable"},
};

constexpr std::string_view nvml_failed = "failed to initialize nvml";
constexpr std::array nvml_reasons{
    Phrase{"version mismatch", Trouble::unreadable, "driver-mismatch"},
    Phrase{"insufficient permissions", Trouble::refused, "permission-refused"},
    Phrase{"driver not loaded", Trouble::unreadable, "driver-not-loaded"},
    Phrase{"library not found", Trouble::unreadable, "nvml-missing"},
    Phrase{"unknown error", Trouble::unreadable, "container-device-cgroup"},
    Phrase{"requires reset", Trouble::sick, "gpu-requires-reset"},
    Phrase{"is lost", Trouble::sick, "gpu-lost"},
    Phrase{"off the bus", Trouble::sick, "gpu-lost"},
    Phrase{"power", Trouble::unreadable, "power-cable"},
    Phrase{"interrupt", Trouble::unreadable, "driver-interrupt"},
};

// The shell, env or timeout could not run it.
constexpr std::array<std::string_view, 6> not_run{
    "not found",      "no such file or directory", "permission denied",
    "cannot execute", "exec format error",         "error while loading shared libraries"};

template <std::size_t N>
const Phrase* reason_in(std::string_view low, const std::array<Phrase, N>& reasons) {
    for (const auto& reason : reasons)
        if (low.find(reason.part) != std::string_view::npos) return &reason;
    return nullptr;
}

// Where the line names a GPU by its bus id, what is said behind it; empty where it names none.
std::string_view after_bus_id(std::string_view low) {
    const auto bus_id = find_bus_id(low);
    if (bus_id.empty()) return {};
    constexpr std::size_t domain = 8;
    const auto tail = std::string_view(bus_id).substr(domain);
    const auto at = low.find(tail);
    return low.substr(0, at).find("gpu") == std::string_view::npos ? std::string_view()
                                                                   : low.substr(at + tail.size());
}

// "GPU is lost" as a message of the driver has it: alone, behind a colon or in brackets, and the last that is
// said. "GPU is lost, said Bob" is none.
bool is_message_of_gpu(std::string_view low, std::string_view part) {
    constexpr std::string_view gpu = "gpu ";
    const auto at = low.find(part);
    if (at == std::string_view::npos || !low.substr(0, at).ends_with(gpu)) return false;
    const auto before = low.substr(0, at - gpu.size());
    const auto after = low.substr(at + part.size());
    if (before.ends_with('[')) return after.starts_with(']');
    if (!before.empty() && !before.ends_with(": ")) return false;
    return after.empty() || std::string_view(". reboot the system to recover this gpu.").starts_with(after);
}

const Phrase* sickness_in(std::string_view low) {
    if (const auto* named = reason_in(after_bus_id(low), sick_phrases)) return named;
    for (const auto& phrase : sick_phrases)
        if (is_message_of_gpu(low, phrase.part)) return &phrase;
    return nullptr;
}

Phrase meaning_of(std::string_view low) {
    const auto has = [&](std::string_view part) { return low.find(part) != std::string_view::npos; };
    if (const auto at = low.find(handle_failed); at != std::string_view::npos) {
        const auto* reason = reason_in(low.substr(at + handle_failed.size()), handle_reasons);
        return reason ? *reason : Phrase{"", Trouble::unreadable, "gpu-handle-failed"};
    }
    if (const auto at = low.find(nvml_failed); at != std::string_view::npos) {
        const auto* reason = reason_in(low.substr(at + nvml_failed.size()), nvml_reasons);
        return reason ? *reason : Phrase{"", Trouble::unreadable, "nvml-failed"};
    }
    if (const auto* sickness = sickness_in(low)) return *sickness;
    for (const auto& phrase : phrases)
        if (has(phrase.part)) return phrase;
    if (has("nvidia-smi") && std::ranges::any_of(not_run, has))
        return {"", Trouble::unreadable, "nvidia-smi-missing"};
    if (is_continuation(low)) return {"", Trouble::none, "continued"};
    return {"", Trouble::unreadable, "unrecognised-line"};
}

}  // namespace

DriverMessage classify_line(std::string_view line) {
    line = trim(line);
    if (is_pid_list(line)) return {Trouble::none, "pids", std::string(line.substr(0, longest_text)), {}};
    line = line.substr(0, longest_text);
    const auto meaning = meaning_of(single_blanks(lowered(line)));
    return {meaning.trouble, std::string(meaning.code), std::string(line), find_bus_id(line)};
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
