// Whatever is changed in a clean host's evidence, and in whatever company: the host is clean only if nothing
// of it speaks against that, and what is only worth knowing changes no verdict.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/judging.hpp"

namespace cleanslate::agentless {
namespace {

using testing::bus_of;
using testing::codes;
using testing::said;
using testing::Scene;
using testing::uuid_of;

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

// A row that is there, by its place.
std::size_t any_row(Scene& scene, Random& random) { return below(random, scene.evidence().gpus.size()); }

template <class List>
void drop(List& list, std::size_t i) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
}

// What a change makes of a clean host.
struct Change {
    Verdict makes;
    std::string_view name;
    // False: it could not be made here, and nothing was changed. At least one row is there.
    bool (*make)(Scene&, Random&);
};

void trouble(Scene& scene, Random& random, Trouble kind, const char* code) {
    scene.evidence().gpus[any_row(scene, random)].troubles.push_back({kind, code, "what it says", {}});
}

// Of the process that a change adds: each has its own.
Pid next_pid(Scene& scene) { return 10'000 + static_cast<Pid>(scene.evidence().processes.size()); }

using Lines = std::vector<std::string> Evidence::*;
constexpr Lines optional_lines[] = {&Evidence::optional_problems, &Evidence::list_problems};

std::string lost(Scene& scene, Random& random) {
    return "Unable to determine the device handle for GPU " +
           scene.evidence().gpus[any_row(scene, random)].bus_id + ": GPU is lost.";
}

const std::vector<Change>& changes() {
    using enum Verdict;
    static const std::vector<Change> all{
        {clean, "a note of an optional column",
         [](Scene& s, Random& r) { return trouble(s, r, Trouble::none, "persistence-off"), true; }},
        {clean, "health not shown",
         [](Scene& s, Random& r) { return trouble(s, r, Trouble::none, "health-not-shown"), true; }},
        {clean, "the optional query failed",
         [](Scene& s, Random&) { return s.evidence().optional_query.exit_status = 255, true; }},
        {clean, "the optional query ran out of time",
         [](Scene& s, Random&) {
             if (!s.evidence().stuck.empty()) return false;
             return s.evidence().optional_query = {std::nullopt, true, false}, true;
         }},
        {clean, "unknown fields",
         [](Scene& s, Random&) { return s.evidence().unknown_fields.emplace_back("fabric.state"), true; }},
        {clean, "a slow driver",
         [](Scene& s, Random&) { return s.evidence().gpu_query.took = Milliseconds(20'000), true; }},
        {clean, "a GPU given to a virtual machine",
         [](Scene& s, Random&) {
             if (!s.evidence().pci_gpus) return false;
             return s.evidence().pci_gpus->push_back({bus_of(99), "vfio-pci"}), true;
         }},
        {clean, "a protected daemon with the files open",
         [](Scene& s, Random&) { return s.daemon(next_pid(s), "/usr/bin/nv-hostengine"), true; }},
        {clean, "memory of a protected holder",
         [](Scene& s, Random& r) {
             const auto pid = next_pid(s);
             s.daemon(pid, "/usr/bin/nvidia-cuda-mps-server");
             const auto row = any_row(s, r);
             const auto& uuid = s.evidence().gpus[row].uuid;
             s.evidence().apps.push_back({pid, uuid, Mebibytes{520}, "nvidia-cuda-mps-server"});
             return s.used(static_cast<int>(row), 520), true;
         }},
        {clean, "a virtual GPU's name",
         [](Scene& s, Random& r) { return s.evidence().gpus[any_row(s, r)].name = "GRID A100-8Q", true; }},
        {dirty, "memory",
         [](Scene& s, Random& r) { return s.used(static_cast<int>(any_row(s, r)), 1000), true; }},
        {dirty, "a holder",
         [](Scene& s, Random& r) {
             const auto pid = next_pid(s);
             const auto& uuid = s.evidence().gpus[any_row(s, r)].uuid;
             s.opener(pid).evidence().apps.push_back({pid, uuid, Mebibytes{10}, "python3"});
             return true;
         }},
        {dirty, "an opener", [](Scene& s, Random&) { return s.opener(next_pid(s)), true; }},
        {dirty, "a ghost",
         [](Scene& s, Random& r) {
             const auto& uuid = s.evidence().gpus[any_row(s, r)].uuid;
             s.evidence().apps.push_back({99'999, uuid, Mebibytes{0}, "[Not Found]"});
             return true;
         }},
        {dirty, "a listed process without a device file",
         [](Scene& s, Random& r) {
             const auto pid = next_pid(s);
             const auto& uuid = s.evidence().gpus[any_row(s, r)].uuid;
             s.process(pid, 1, "python3").evidence().apps.push_back({pid, uuid, Mebibytes{10}, "python3"});
             return true;
         }},
        {dirty, "a listed zombie",
         [](Scene& s, Random& r) {
             const auto pid = next_pid(s);
             const auto& uuid = s.evidence().gpus[any_row(s, r)].uuid;
             s.process(pid, 1, "x")
                 .state(pid, 'Z')
                 .evidence()
                 .apps.push_back({pid, uuid, Mebibytes{10}, "x"});
             return true;
         }},
        {sick, "a sick column",
         [](Scene& s, Random& r) { return trouble(s, r, Trouble::sick, "row-remap-failed"), true; }},
        {sick, "a sick cell",
         [](Scene& s, Random& r) { return s.evidence().gpus[any_row(s, r)].cells[5] = "ERR!", true; }},
        {sick, "a message that names a sick GPU",
         [](Scene& s, Random& r) { return s.evidence().messages.push_back(said(lost(s, r))), true; }},
        {sick, "prose of an optional query that names a sick GPU",
         [](Scene& s, Random& r) {
             (s.evidence().*optional_lines[below(r, 2)]).push_back(lost(s, r));
             return true;
         }},
        {unknown, "a row is gone",
         [](Scene& s, Random& r) {
             if (s.evidence().gpus.size() < 2) return false;
             return drop(s.evidence().gpus, any_row(s, r)), true;
         }},
        {unknown, "PCI lacks a GPU",
         [](Scene& s, Random& r) {
             auto& pci = s.evidence().pci_gpus;
             if (!pci || pci->empty()) return false;
             const auto i = below(r, pci->size());
             if ((*pci)[i].driver != "nvidia") return false;
             return drop(*pci, i), true;
         }},
        {unknown, "the kernel's driver lacks a GPU",
         [](Scene& s, Random& r) {
             auto& driver = s.evidence().driver_gpus;
             if (!driver || driver->empty()) return false;
             return drop(*driver, below(r, driver->size())), true;
         }},
        {unknown, "the list has a GPU besides",
         [](Scene& s, Random&) {
             if (!s.evidence().listed) return false;
             return s.evidence().listed->push_back({9, "NVIDIA H200", uuid_of(99), {}}), true;
         }},
        {unknown, "PCI has a GPU without driver",
         [](Scene& s, Random&) {
             if (!s.evidence().pci_gpus) return false;
             return s.evidence().pci_gpus->push_back({bus_of(98), ""}), true;
         }},
        {unknown, "a refused cell",
         [](Scene& s, Random& r) {
             return s.evidence().gpus[any_row(s, r)].cells[6] = "[Insufficient Permissions]", true;
         }},
        {unknown, "memory that is no number",
         [](Scene& s, Random& r) {
             auto& row = s.evidence().gpus[any_row(s, r)];
             return row.used.reset(), row.cells[3] = "many MiB", true;
         }},
        {unknown, "an odd line",
         [](Scene& s, Random&) { return s.evidence().messages.push_back(said("what is this")), true; }},
        {unknown, "the core query came to no end",
         [](Scene& s, Random&) { return s.evidence().gpu_query.exit_status.reset(), true; }},
        {unknown, "the core query ran out of time",
         [](Scene& s, Random&) {
             return s.evidence().gpu_query = {std::nullopt, true, false}, true;
         }},
        {unknown, "the driver is not loaded",
         [](Scene& s, Random&) { return s.evidence().gpu_query.exit_status = 9, true; }},
        {unknown, "the compute-apps query came to no end",
         [](Scene& s, Random&) { return s.evidence().app_query.exit_status.reset(), true; }},
        {unknown, "a line of compute-apps that is none",
         [](Scene& s, Random&) { return s.evidence().app_problems.emplace_back("843"), true; }},
        {unknown, "a holder without pid",
         [](Scene& s, Random& r) {
             const auto& uuid = s.evidence().gpus[any_row(s, r)].uuid;
             s.evidence().apps.push_back({std::nullopt, uuid, std::nullopt, "[N/A]"});
             return true;
         }},
        {unknown, "an nvidia-smi that hangs",
         [](Scene& s, Random&) { return s.evidence().stuck.push_back(4711), true; }},
        {unknown, "a read that hangs",
         [](Scene& s, Random&) {
             return s.evidence().stuck_reads.push_back({4712, "maps", 0}), true;
         }},
        {unknown, "a wedged process", [](Scene& s, Random&) { return s.get(500).wedged = true, true; }},
        {unknown, "holders that could not be read",
         [](Scene& s, Random&) { return s.evidence().holders_visible = false, true; }},
        {unknown, "a missing tool",
         [](Scene& s, Random&) { return s.evidence().missing_tools.emplace_back("awk"), true; }},
        {unknown, "a survey without its end",
         [](Scene& s, Random&) { return s.evidence().complete = false, true; }},
    };
    return all;
}

// Not every host tells everything: PCI, the list and the kernel's driver may be absent, and absent they are
// not compared.
Scene any_host(Random& random) {
    Scene scene(1 + static_cast<int>(below(random, 4)));
    scene.everywhere();
    if (below(random, 3) == 0) scene.evidence().pci_gpus.reset();
    if (below(random, 3) == 0) scene.evidence().listed.reset();
    if (below(random, 4) == 0) scene.evidence().driver_gpus.reset();
    return scene;
}

TEST(AnyHost, IsCleanBeforeAnythingIsChanged) {
    Random random(1);
    for (int i = 0; i < 100; ++i) {
        auto scene = any_host(random);
        const auto host = testing::judge(scene);
        EXPECT_EQ(host.verdict, Verdict::clean) << codes(host.findings);
        EXPECT_EQ(codes(host.findings), "");
    }
}

TEST(AnyChange, AloneMakesOfAHostWhatItShould) {
    Random random(2);
    for (const auto& change : changes()) {
        int made = 0;
        for (int i = 0; i < 40; ++i) {
            auto scene = any_host(random);
            if (!change.make(scene, random)) continue;
            ++made;
            const auto host = testing::judge(scene);
            ASSERT_EQ(host.verdict, change.makes) << change.name << ": " << codes(host.findings);
        }
        EXPECT_GT(made, 5) << change.name;
    }
}

TEST(AnyChanges, TogetherAreCleanOnlyIfEachOfThemIs) {
    Random random(3);
    int clean = 0, not_clean = 0;
    for (int i = 0; i < 4000; ++i) {
        auto scene = any_host(random);
        bool expected = true;
        std::string names;
        for (std::size_t left = 1 + below(random, 5); left > 0; --left) {
            const auto& change = changes()[below(random, changes().size())];
            if (!change.make(scene, random)) continue;
            names += std::string(change.name) + "; ";
            expected = expected && change.makes == Verdict::clean;
        }
        const auto host = testing::judge(scene);
        ASSERT_EQ(host.clean(), expected) << names << codes(host.findings);
        ++(expected ? clean : not_clean);
    }
    EXPECT_GT(clean, 100);
    EXPECT_GT(not_clean, 1000);
}

}  // namespace
}  // namespace cleanslate::agentless
