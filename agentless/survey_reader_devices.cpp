// Records of a survey that are about devices and the driver, as the kernel shows them.

#include <algorithm>

#include "agentless/nvidia_smi.hpp"
#include "agentless/proc_text.hpp"
#include "agentless/record_values.hpp"
#include "agentless/survey_reader.hpp"

namespace cleanslate::agentless {

bool SurveyReader::node(const Record& record) {
    const auto minor = parse_number(record.values[0]);
    if (!minor || *minor > 100'000 || !evidence_.device_minors) return false;
    evidence_.device_minors->push_back(static_cast<int>(*minor));
    return true;
}

bool SurveyReader::driver(const Record& record) {
    driver_ = text_of(record.values[0]);
    if (driver_ == "version") return true;
    if (!evidence_.driver_gpus) return false;
    evidence_.driver_gpus->push_back({normal_bus_id(driver_), {}, {}, false});
    return true;
}

bool SurveyReader::info(const Record& record) {
    const auto line = text_of(record.values[0]);
    const auto colon = line.find(':');
    if (driver_.empty() || colon == std::string::npos) return false;
    const auto value = trim(std::string_view(line).substr(colon + 1));
    if (driver_ == "version") {
        if (evidence_.driver_version.empty()) evidence_.driver_version = driver_version_in(line);
        return true;
    }
    auto& gpu = evidence_.driver_gpus->back();
    if (line.starts_with("GPU UUID")) gpu.uuid = value;
    if (line.starts_with("Bus Location") && gpu.bus_id.empty()) gpu.bus_id = normal_bus_id(value);
    if (line.starts_with("GPU Excluded")) gpu.excluded = value == "Yes";
    if (line.starts_with("Device Minor"))
        if (const auto minor = parse_number(value); minor && *minor < 1'000'000)
            gpu.minor = static_cast<int>(*minor);
    return true;
}

bool SurveyReader::pci(const Record&) {
    if (evidence_.pci_gpus) return false;
    evidence_.pci_gpus.emplace();
    return true;
}

bool SurveyReader::pcigpu(const Record& record) {
    PciGpu gpu{normal_bus_id(text_of(record.values[0])), text_of(record.values[1])};
    auto& all = evidence_.pci_gpus;
    if (!all || all->size() >= most_pci_gpus || gpu.bus_id.empty()) return false;
    if (std::ranges::find(*all, gpu.bus_id, &PciGpu::bus_id) != all->end()) return false;
    all->push_back(std::move(gpu));
    return true;
}

bool SurveyReader::nvswitches(const Record& record) {
    if (!evidence_.pci_gpus || evidence_.nvswitches) return false;
    evidence_.nvswitches = as_number(record.values[0], 1'000'000);
    return evidence_.nvswitches.has_value();
}

bool SurveyReader::cap(const Record& record) {
    constexpr int most = 1'000'000;
    const auto& values = record.values;
    const auto gpu = as_number(values[0], most);
    const auto instance = as_number(values[1], most);
    const auto compute = as_number(values[2], most);
    const auto minor = as_number(values[3], most);
    if (!gpu || !instance || !minor || (values[2] != "-" && !compute)) return false;
    if (evidence_.mig_caps.size() >= most_mig_caps) return false;
    evidence_.mig_caps.push_back({*gpu, *instance, compute, *minor});
    return true;
}

}  // namespace cleanslate::agentless
