#include "agentless/gpu_sources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "agentless/query_verdict.hpp"
#include "agentless/vgpu_name.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

enum Source : unsigned { pci = 1, driver = 2, rows = 4, list = 8, inventory = 16 };

std::string names_of(unsigned sources) {
    std::vector<std::string_view> names;
    if (sources & inventory) names.push_back("the inventory (gpus: 0)");
    if (sources & pci) names.push_back("PCI");
    if (sources & driver) names.push_back("the kernel's driver");
    if (sources & rows) names.push_back("nvidia-smi's rows");
    if (sources & list) names.push_back("nvidia-smi -L");
    return fmt::format("{}", fmt::join(names, ", "));
}

// One GPU, and who knows it.
struct Sighting {
    std::string bus_id, uuid;
    unsigned known = 0;
    std::string bound;  // its PCI driver
    bool sick = false;
    bool excluded = false;
    std::string other_uuid;  // that the kernel's driver has for it, and its row has another
    std::string name() const {
        if (!bus_id.empty()) return bus_id;
        return uuid.empty() ? "without a readable bus id" : uuid;
    }
};

// Before the driver has started a GPU it shows question marks in place of its uuid.
bool readable(const std::string& uuid) { return !uuid.empty() && uuid.find('?') == std::string::npos; }

bool is_passed_through(const PciGpu& gpu) {
    return gpu.driver.ends_with("vfio-pci") || gpu.driver.ends_with("vfio_pci");
}

// What the sources say, joined by bus id, else by uuid.
class Census {
  public:
    Census(const Evidence& evidence, const Placement& placement) {
        if (evidence.driver_gpus)
            for (const auto& gpu : *evidence.driver_gpus) {
                auto& seen = at(gpu.bus_id, gpu.uuid);
                seen.known |= driver;
                seen.excluded = seen.excluded || gpu.excluded;
            }
        for (const auto& slot : placement.slots) add(slot, evidence);
        if (evidence.pci_gpus)
            for (const auto& gpu : *evidence.pci_gpus) {
                auto& seen = at(gpu.bus_id, {});
                seen.known |= pci;
                seen.bound = gpu.driver;
            }
        if (evidence.listed)
            for (const auto& gpu : *evidence.listed)
                if (readable(gpu.uuid)) at({}, gpu.uuid).known |= list;
        for (const auto& message : evidence.messages) mark_sick(message);
        for (const auto& message : placement.overheard) mark_sick(message);
    }

    const std::vector<Sighting>& gpus() const { return gpus_; }

    // Those of `asked` that do not know it, and could: each of them names GPUs by bus id or by uuid.
    unsigned missing(const Sighting& gpu, unsigned asked) const {
        unsigned lacking = asked & ~gpu.known;
        if (gpu.bus_id.empty()) lacking &= ~(pci | driver);
        if (gpu.uuid.empty()) lacking &= ~list;
        // A row that does not say of which GPU it is may be this one's.
        if (lacking & rows) {
            const auto unmatched = std::ranges::count_if(gpus_, [&](const Sighting& other) {
                return !(other.known & rows) && other.bus_id.empty() == gpu.bus_id.empty();
            });
            const auto spare = gpu.bus_id.empty() ? rows_without_uuid_ : rows_without_bus_id_;
            if (spare >= unmatched) lacking &= ~rows;
        }
        return lacking;
    }

  private:
    Sighting& at(const std::string& bus_id, const std::string& uuid) {
        auto found = std::ranges::find_if(
            gpus_, [&](const Sighting& s) { return !bus_id.empty() && s.bus_id == bus_id; });
        if (found == gpus_.end())
            found = std::ranges::find_if(gpus_, [&](const Sighting& s) {
                return readable(uuid) && s.uuid == uuid && (s.bus_id.empty() || bus_id.empty());
            });
        if (found == gpus_.end()) found = gpus_.insert(found, Sighting{});
        if (found->bus_id.empty()) found->bus_id = bus_id;
        if (readable(uuid)) found->uuid = uuid;
        return *found;
    }

    void add(const Slot& slot, const Evidence& evidence) {
        if (slot.row != nullptr && slot.bus_id.empty()) ++rows_without_bus_id_;
        if (slot.row != nullptr && !readable(slot.uuid)) ++rows_without_uuid_;
        if (slot.bus_id.empty() && !readable(slot.uuid)) return;
        auto& gpu = at(slot.bus_id, slot.uuid);
        if (slot.row != nullptr) gpu.known |= rows;
        gpu.sick = gpu.sick || is_sick(slot);
        const auto* kernel = driver_gpu_of(slot, evidence);
        // A virtual GPU may have one name for its host and one for itself.
        if (kernel != nullptr && readable(kernel->uuid) && readable(slot.uuid) && kernel->uuid != slot.uuid &&
            slot.row != nullptr && !is_vgpu_name(slot.row->name))
            gpu.other_uuid = kernel->uuid;
    }

    void mark_sick(const DriverMessage& message) {
        if (message.trouble != Trouble::sick || message.bus_id.empty()) return;
        for (auto& gpu : gpus_) gpu.sick = gpu.sick || gpu.bus_id == message.bus_id;
    }

    std::vector<Sighting> gpus_;
    std::ptrdiff_t rows_without_bus_id_ = 0, rows_without_uuid_ = 0;
};

// The sources that were asked and answered to the end. Where nvidia-smi printed no row at all, that is said
// already.
unsigned asked(const Evidence& evidence, const Expectations& expectations) {
    unsigned sources = 0;
    if (evidence.pci_gpus) sources |= pci;
    if (evidence.driver_gpus) sources |= driver;
    if (evidence.gpu_query.exit_status && !evidence.gpus.empty()) sources |= rows;
    if (evidence.listed && !evidence.listed->empty() && evidence.list_query.exit_status == 0 &&
        evidence.list_problems.empty() && std::ranges::all_of(*evidence.listed, readable, &ListedGpu::uuid))
        sources |= list;
    if (expectations.gpus == 0 && evidence.gpus.empty()) sources |= inventory;
    return sources;
}

// Inside a container PCI shows the whole machine's GPUs; where the inventory says how many the container has
// and each has its row, the others are not its own.
bool count_is_met(const Evidence& evidence, const Expectations& expectations) {
    return expectations.gpus && *expectations.gpus > 0 &&
           evidence.gpus.size() == static_cast<std::size_t>(*expectations.gpus);
}

// The rows and the list are of one nvidia-smi at one place: no container explains that they differ.
bool rows_and_list_differ(const Sighting& gpu, unsigned lacking) {
    return ((gpu.known & rows) && (lacking & list)) || ((gpu.known & list) && (lacking & rows));
}

// GPUs of which the same is to be said, together.
using Groups = std::map<std::tuple<std::string, Severity, std::string>, std::vector<std::string>>;

void add_groups(const Groups& groups, Findings& findings) {
    constexpr std::size_t most_names = 4;
    for (const auto& [kind, names] : groups) {
        const auto& [code, severity, text] = kind;
        std::string who = names.size() == 1 ? "GPU " : fmt::format("{} GPUs ", names.size());
        for (std::size_t i = 0; i < std::min(names.size(), most_names); ++i)
            who += (i == 0 ? "" : ", ") + names[i];
        if (names.size() > most_names) who += fmt::format(" and {} more", names.size() - most_names);
        findings.add(finding(code, severity, who + text));
    }
}

}  // namespace

Expected expected_count(const Evidence& evidence, const Expectations& expectations) {
    if (expectations.gpus) return {expectations.gpus, "expected"};
    if (expectations.any_count) return {};
    if (evidence.driver_gpus)
        return {static_cast<int>(std::ranges::count(*evidence.driver_gpus, false, &DriverGpu::excluded)),
                "known to the kernel's driver"};
    if (evidence.device_minors)
        return {static_cast<int>(evidence.device_minors->size()), "device files there"};
    return {};
}

void judge_count(const Evidence& evidence, const Expectations& expectations, const Expected& expected,
                 const Placement& placement, Findings& findings) {
    if (!expected.count && !expectations.any_count)
        findings.add(finding("count-unproven", "nothing says how many GPUs there should be"));
    if (failed_as_a_whole(evidence)) return;
    // Where the driver says of each expected GPU that it is sick, they were seen, though none has a row.
    if (evidence.gpus.empty() && !placement.accounted) findings.add(finding("no-gpus", "no GPU was seen"));
    if (expected.count && !placement.accounted &&
        evidence.gpus.size() != static_cast<std::size_t>(std::max(0, *expected.count)))
        findings.add(finding("count-mismatch", fmt::format("{} rows, and {} GPUs {}", evidence.gpus.size(),
                                                           *expected.count, expected.source)));
}

bool pci_shows_gpus(const Evidence& evidence) {
    return evidence.pci_gpus && !std::ranges::all_of(*evidence.pci_gpus, is_passed_through);
}

void judge_sources(const Evidence& evidence, const Expectations& expectations, const Placement& placement,
                   Findings& findings) {
    const Census census(evidence, placement);
    const auto sources = asked(evidence, expectations);
    const bool met = count_is_met(evidence, expectations);
    const auto usual = met && evidence.proc_hides_others ? Severity::note : Severity::unknown;
    // As it is where the GPU is no PCI device of this system: in WSL, or on a chip of its own.
    const bool no_pci = met && evidence.pci_gpus && evidence.pci_gpus->empty();
    Groups groups;
    const auto say = [&](std::string_view code, Severity severity, const Sighting& gpu, std::string text) {
        groups[{std::string(code), severity, std::move(text)}].push_back(gpu.name());
    };
    for (const auto& gpu : census.gpus()) {
        if (gpu.known == 0) continue;
        const bool pci_only = gpu.known == pci;
        if (pci_only && is_passed_through({gpu.bus_id, gpu.bound})) {
            say("gpu-passed-through", Severity::note, gpu, ": given to a virtual machine");
            continue;
        }
        if (gpu.excluded && !(gpu.known & (rows | list))) {
            say("gpu-excluded", Severity::note, gpu, ": excluded by the driver's parameter");
            continue;
        }
        const auto lacking = census.missing(gpu, sources);
        if (gpu.sick) {
            if (lacking & pci)
                say("gpu-not-everywhere", Severity::note, gpu, ": sick, and gone from PCI as well");
            continue;
        }
        const auto severity = no_pci && lacking == pci             ? Severity::note
                              : rows_and_list_differ(gpu, lacking) ? Severity::unknown
                                                                   : usual;
        if (!gpu.other_uuid.empty())
            say("gpu-not-everywhere", Severity::unknown, gpu,
                fmt::format(": {} in nvidia-smi's rows, {} in the kernel's driver", gpu.uuid,
                            gpu.other_uuid));
        if (pci_only && gpu.bound != "nvidia")
            say("gpu-without-driver", usual, gpu,
                (gpu.bound.empty() ? ": no driver has it" : ": the driver that has it is " + gpu.bound) +
                    (sources & inventory ? ", and the inventory says gpus: 0" : ""));
        else if (lacking != 0)
            say("gpu-not-everywhere", severity, gpu,
                fmt::format(": known to {}, not to {}", names_of(gpu.known), names_of(lacking)));
        else if (gpu.bus_id.empty() && gpu.uuid.empty())
            say("gpu-not-everywhere", usual, gpu, fmt::format(": known to {}", names_of(gpu.known)));
    }
    add_groups(groups, findings);
}

}  // namespace cleanslate::agentless
