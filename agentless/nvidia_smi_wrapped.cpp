#include "agentless/nvidia_smi_wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_cells.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::size_t longest_joined = 1024;

// In lower case, with single blanks and without the last full stop.
constexpr std::array<std::string_view, 6> messages{
    "nvidia-smi has failed because it couldn't communicate with the nvidia driver. make sure that the latest "
    "nvidia driver is installed and running. this can also be happening if non-nvidia gpu is running as "
    "primary display, and nvidia gpu is in wddm mode",
    "nvidia-smi couldn't find libnvidia-ml.so library in your system. please make sure that the nvidia "
    "display driver is properly installed and present in your system. please also try adding directory that "
    "contains libnvidia-ml.so to your system path",
    "failed to initialize nvml: driver/library version mismatch",
    "failed to initialize nvml: unknown error",
    "failed to initialize nvml: insufficient permissions",
    "no devices were found",
};

struct BusMessage {
    std::string_view before;  // the bus id, with or without "gpu" and its number in front
    std::string_view after;
};
constexpr std::array bus_messages{
    BusMessage{"unable to determine the device handle for ",
               ": gpu is lost. reboot the system to recover this gpu"},
    BusMessage{"unable to determine the device handle for ", ": unknown error"},
    BusMessage{"unable to determine the device handle for ", ": gpu requires reset"},
    BusMessage{"unable to determine the device handle for ", ": insufficient permissions"},
    BusMessage{"warning: inforom is corrupted at ", ""},
};

// "gpu 0000:0b:00.0", "gpu0000:0b:00.0", "gpu2: 0000:0b:00.0" at the front: its length, or 0.
std::size_t named_gpu(std::string_view text) {
    const auto bus_at = [&](std::size_t at) -> std::size_t {
        auto end = text.find_first_not_of("0123456789abcdef:.", at);
        if (end == std::string_view::npos) end = text.size();
        if (end > at && text[end - 1] == ':') --end;
        return normal_bus_id(text.substr(at, end - at)).empty() ? 0 : end;
    };
    if (!text.starts_with("gpu")) return 0;
    std::size_t at = 3;
    if (at < text.size() && text[at] == ' ') ++at;
    if (const auto end = bus_at(at); end != 0) return end;
    const auto number = text.find_first_not_of("0123456789", at);
    if (number == std::string_view::npos || number == at || !text.substr(number).starts_with(": ")) return 0;
    return bus_at(number + 2);
}

// What "for gpu2: 0000:0b" still may become one.
bool may_become_named_gpu(std::string_view text) {
    constexpr std::size_t longest = 40;
    return text.size() <= longest &&
           (std::string_view("gpu").starts_with(text) ||
            (text.starts_with("gpu") && text.find_first_not_of("0123456789abcdef:. ", 3) == text.npos));
}

bool is_known_so_far(std::string_view text) {
    if (std::ranges::any_of(messages, [&](std::string_view message) { return message.starts_with(text); }))
        return true;
    return std::ranges::any_of(bus_messages, [&](const BusMessage& message) {
        if (message.before.starts_with(text)) return true;
        if (!text.starts_with(message.before)) return false;
        const auto rest = text.substr(message.before.size());
        const auto named = named_gpu(rest);
        return named == 0 ? may_become_named_gpu(rest) : message.after.starts_with(rest.substr(named));
    });
}

}  // namespace

std::optional<std::string> joined_message(std::string_view first, std::string_view second) {
    if (first.size() + second.size() > longest_joined) return std::nullopt;
    for (const std::string_view joint : {"", " "}) {
        std::string both = fmt::format("{}{}{}", first, joint, second);
        const std::string low = single_blanks(lowered(both));
        std::string_view text = low;
        if (text.ends_with('.') && !is_known_so_far(text)) text.remove_suffix(1);
        if (is_known_so_far(text)) return both;
    }
    return std::nullopt;
}

}  // namespace cleanslate::agentless
