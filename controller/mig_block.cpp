// The MIG instances of one GPU in the text report.

#include <fmt/core.h>

#include <algorithm>

#include "controller/host_block.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

// By the kernel's numbers, where `nvidia-smi -L` does not list it.
std::string name_without_device(const MigInstance& instance) {
    if (!instance.gpu_instance) return instance.uuid.empty() ? "MIG ?" : instance.uuid;
    std::string name = fmt::format("MIG GI {}", *instance.gpu_instance);
    if (instance.compute_instance) name += fmt::format(" CI {}", *instance.compute_instance);
    return name;
}

// "1g.18gb  pid 812, pid 813". Of an instance whose capability files are not known, nobody can tell who may
// use it.
std::string text_of(const MigInstance& instance) {
    std::string text = instance.profile;
    std::string_view separator = text.empty() ? "" : "  ";
    if (instance.holders.empty() && instance.gpu_instance) text += fmt::format("{}no holder", separator);
    for (const ProcessKey& key : instance.holders) {
        text += fmt::format("{}{}", separator, pid_text(key));
        separator = ", ";
    }
    return text;
}

struct Line {
    std::string name, text;
    std::vector<int> devices;  // empty: one that has no number
};

}  // namespace

void write_instances(Page& page, std::size_t indent, const std::vector<MigInstance>& instances) {
    std::vector<Line> lines;
    const bool listed = std::ranges::any_of(instances, [](const auto& i) { return i.device.has_value(); });
    for (const MigInstance& instance : instances) {
        // It stands among the listed ones already, and nobody uses it.
        if (listed && !instance.device && instance.holders.empty()) continue;
        const std::string text = text_of(instance);
        const auto same = [&](const Line& line) {
            return instance.device && !line.devices.empty() && line.text == text;
        };
        auto found = std::ranges::find_if(lines, same);
        if (found == lines.end())
            found = lines.insert(lines.end(), {name_without_device(instance), text, {}});
        if (instance.device) found->devices.push_back(*instance.device);
    }
    for (const Line& line : lines) {
        const auto name = line.devices.empty() ? line.name : "MIG " + fold_numbers(line.devices);
        page.cut(indent, {{fmt::format("{:<9} ", name)}, {line.text}});
    }
}

}  // namespace cleanslate::controller
