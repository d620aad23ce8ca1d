#include <array>
#include <cstdint>
#include <cstdio>

#include "tests/fleet/description_words.hpp"
#include "tests/fleet/nvidia_smi_fields.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

std::string make_uuid(const std::string& kind, const std::string& seed) {
    std::uint64_t hash = 1469598103934665603U;
    for (const char c : seed) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    char text[64];
    std::snprintf(text, sizeof text, "%s-%08x-%04x-4%03x-a%03x-%012llx", kind.c_str(),
                  static_cast<unsigned>(hash >> 32), static_cast<unsigned>(hash >> 16 & 0xffff),
                  static_cast<unsigned>(hash >> 4 & 0xfff), static_cast<unsigned>(hash & 0xfff),
                  static_cast<unsigned long long>(hash & 0xffffffffffffU));
    return text;
}

// Bus ids of an eight-GPU HGX board; more GPUs follow on.
std::string make_bus_id(int index) {
    constexpr std::array buses{0x18, 0x2a, 0x3a, 0x5d, 0x9a, 0xab, 0xba, 0xdb};
    const int bus = index < 8 ? buses[static_cast<std::size_t>(index)] : 0xdc + index - 8;
    char text[32];
    std::snprintf(text, sizeof text, "00000000:%02X:00.0", static_cast<unsigned>(bus));
    return text;
}

// The numbers of GPU instances as the driver gives them out: by the size of the profile.
int first_gpu_instance(const std::string& profile) {
    switch (profile[0]) {
        case '1':
            return 7;
        case '2':
            return 3;
        case '3':
        case '4':
            return 1;
        default:
            return 0;
    }
}

std::string take_instances(const Host& host, Gpu& gpu, const std::vector<std::string>& profiles) {
    for (const auto& profile : profiles) {
        MigInstance instance;
        instance.profile = profile;
        instance.gpu_instance = first_gpu_instance(profile);
        for (const auto& other : gpu.instances)
            if (other.profile[0] == profile[0]) instance.gpu_instance = other.gpu_instance + 1;
        if (instance.gpu_instance > 14) return "more instances than a GPU has";
        const auto device = std::to_string(gpu.instances.size());
        instance.uuid = make_uuid("MIG", host.name + "/" + gpu.uuid + "/" + device);
        gpu.instances.push_back(instance);
    }
    // Measured: 55 to 59 MiB without any process.
    if (gpu.idle_mib == 0) gpu.idle_mib = 55 + gpu.index % 5;
    return gpu.instances.empty() ? "'mig PROFILE ...' is wanted" : "";
}

std::string take_presence(bool& present, const std::string& value) {
    present = false;
    return value == "missing" ? "" : "'missing' is wanted";
}

std::string take_gpu_key(const Host& host, Gpu& gpu, const std::string& key, const std::string& value) {
    if (key == "idle") return set(gpu.idle_mib, to_number(value), "a number of MiB");
    if (key == "uuid") return gpu.uuid = value, "";
    if (key == "bus") return gpu.bus_id = value, "";
    if (key == "mig") return take_instances(host, gpu, split(value, ' '));
    if (key == "pci") return take_presence(gpu.on_pci, value);
    if (key == "driver") return take_presence(gpu.in_driver, value);
    if (key == "row") return take_presence(gpu.has_row, value);
    if (key == "list") return take_presence(gpu.is_listed, value);
    if (key == "field") {
        const auto blank = value.find(' ');
        const Field* field = find_field(gpu_fields(), value.substr(0, blank));
        if (field == nullptr || blank == std::string::npos) return "'field NAME VALUE' is wanted";
        gpu.fields[std::string(field->name)] = trim(std::string_view(value).substr(blank));
        return {};
    }
    if (key == "reset") {
        gpu.reset = value;
        return one_of(value, {"ok", "in-use", "unsupported", "primary", "hangs", "fails"})
                   ? ""
                   : "ok, in-use, unsupported, primary, hangs or fails is wanted";
    }
    if (key != "state") return "unknown key " + key + " of a GPU";
    gpu.state = value;
    return one_of(value, {"ok", "requires-reset", "lost", "unknown-error", "inforom", "remap-pending"})
               ? ""
               : "unknown GPU state " + value;
}

}  // namespace

std::string take_gpus(Host& host, const std::string& value) {
    const auto count = to_number(value);
    if (!count || *count > 32) return "a number of GPUs, at most 32, is wanted";
    for (int index = 0; index < *count; ++index) {
        Gpu gpu;
        gpu.index = gpu.minor = index;
        gpu.uuid = make_uuid("GPU", host.name + "/" + std::to_string(index));
        gpu.bus_id = make_bus_id(index);
        host.gpus.push_back(gpu);
    }
    return {};
}

std::string take_minors(Host& host, const std::string& value) {
    const auto words = split(value, ' ');
    if (words.size() != host.gpus.size()) return "as many minors as GPUs are wanted, after 'gpus'";
    for (std::size_t i = 0; i < words.size(); ++i) {
        auto problem = set(host.gpus[i].minor, to_number(words[i]), "a number");
        if (!problem.empty()) return problem;
    }
    return {};
}

std::string take_gpu(Host& host, const std::string& value) {
    const auto words = split(value, ' ');
    const bool all = !words.empty() && words[0] == "all";
    const auto index = words.empty() ? std::nullopt : to_number(words[0]);
    if (words.size() < 3 || (!all && (!index || *index >= static_cast<long>(host.gpus.size()))))
        return "'gpu INDEX|all KEY VALUE' is wanted, after 'gpus'";
    const auto rest =
        trim(std::string_view(value).substr(value.find(words[1], words[0].size()) + words[1].size()));
    for (auto& gpu : host.gpus) {
        if (!all && gpu.index != *index) continue;
        auto problem = take_gpu_key(host, gpu, words[1], rest);
        if (!problem.empty()) return problem;
    }
    return {};
}

std::string take_pci_extra(Host& host, const std::string& value) {
    const auto words = split(value, ' ');
    const bool is_function = words.size() == 4 && words[3] == "physfn";
    if ((words.size() != 3 && !is_function) || words[0].size() != 12 || !words[1].starts_with("0x") ||
        words[1].size() != 8)
        return "'pci-extra 0000:5e:00.0 0x030200 DRIVER|none [physfn]' is wanted";
    host.pci_extras.push_back(
        {words[0], "0x10de", words[1], words[2] == "none" ? "" : words[2], is_function});
    return {};
}

std::string take_lacks(Host& host, const std::string& value) {
    for (const auto& name : split(value, ' ')) {
        if (find_field(gpu_fields(), name) == nullptr) return "no such field: " + name;
        host.smi_lacks.push_back(name);
    }
    return {};
}

}  // namespace cleanslate::simulated
