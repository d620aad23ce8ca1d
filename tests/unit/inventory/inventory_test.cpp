#include "inventory/inventory.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <tuple>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::inventory {
namespace {

std::string folded(const std::vector<Host>& hosts) {
    std::vector<std::string> names;
    for (const auto& host : hosts) names.push_back(host.name);
    return fold(names);
}

std::string refusal(std::string_view yaml) {
    const auto inventory = Inventory::parse(yaml, "f.yaml");
    if (inventory) return "no error";
    EXPECT_EQ(inventory.error().kind, "inventory");
    return inventory.error().message;
}

std::string notes(std::string_view yaml) {
    const auto inventory = Inventory::parse(yaml, "f.yaml");
    if (!inventory) return inventory.error().message;
    std::string out;
    for (const auto& note : inventory->notes()) out += note + "\n";
    return out;
}

// The fenced blocks of one kind in the documentation.
std::vector<std::string> examples(const std::string& kind) {
    const auto page = read_file(CLEANSLATE_SOURCE_DIR "/docs/inventory-format.md", 1U << 20).value();
    const std::string fence = "```" + kind + "\n";
    std::vector<std::string> blocks;
    for (auto start = page.find(fence); start != std::string::npos; start = page.find(fence, start)) {
        start += fence.size();
        blocks.push_back(page.substr(start, page.find("```", start) - start));
    }
    return blocks;
}

TEST(InventoryDocumentation, ItsInventoriesAreValid) {
    const auto inventories = examples("yaml");
    ASSERT_EQ(inventories.size(), 2U);
    const auto first = Inventory::parse(inventories[0], "first").value();
    EXPECT_EQ(folded(first.hosts()), "gpu[01-08],login1");
    const auto& gpu08 = first.hosts()[7];
    EXPECT_EQ(gpu08.address, "10.0.2.8");
    EXPECT_EQ(gpu08.port, 2222);
    EXPECT_EQ(gpu08.user, "root");
    EXPECT_EQ(gpu08.gpus, 4);
    EXPECT_EQ(gpu08.protect, (std::vector<std::string>{"our_exporter"}));
    EXPECT_EQ(first.hosts().back().gpus, 0);
    EXPECT_TRUE(first.notes().empty());
}

TEST(InventoryDocumentation, ItsLimitsSelectWhatItSays) {
    const auto inventory = Inventory::parse(examples("yaml").at(0), "first").value();
    const std::string block = examples("limits").at(0);
    std::size_t tried = 0;
    for (const auto line : split(trim(block), '\n')) {
        const auto limit = line.substr(0, line.find(' '));
        const auto selected = inventory.select(limit);
        ASSERT_TRUE(selected) << limit << ": " << selected.error().message;
        EXPECT_EQ(folded(*selected), trim(line.substr(limit.size()))) << limit;
        ++tried;
    }
    EXPECT_EQ(tried, 9U);
}

TEST(InventoryDocumentation, ItsTargetsAreValid) {
    const std::string block = examples("targets").at(0);
    const auto lines = split(trim(block), '\n');
    EXPECT_EQ(folded(Inventory::from_targets(lines.at(0)).value().hosts()), "gpu[01-04,07]");
    EXPECT_EQ(Inventory::from_targets(lines.at(1)).value().hosts()[0].address, "2001:db8::7");
    EXPECT_EQ(folded(Inventory::from_targets(lines.at(2)).value().hosts()), "gpu[01-02,05-16],login1");
}

TEST(Inventory, KeepsTheOrderOfTheFileAndEachHostOnce) {
    const auto inventory =
        Inventory::parse("b: {hosts: {n2: , n1: }}\na: {hosts: {n1: , n3: }}\n", "f.yaml").value();
    std::string names;
    for (const auto& host : inventory.hosts()) names += host.name + " ";
    EXPECT_EQ(names, "n2 n1 n3 ");
    EXPECT_EQ(inventory.groups().at("all"), (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_EQ(inventory.groups().at("a"), (std::vector<std::size_t>{1, 2}));
    EXPECT_FALSE(inventory.groups().contains("ungrouped"));
}

TEST(Inventory, WithoutAHostIsAnError) {
    EXPECT_EQ(refusal(""), "f.yaml: an empty inventory");
    EXPECT_EQ(refusal("all:\n"), "f.yaml: no host in it");
    EXPECT_EQ(refusal("all: {children: {a: }}\n"), "f.yaml: no host in it");
}

TEST(Inventory, IsAMappingOfGroups) {
    EXPECT_EQ(refusal("- a\n"), "f.yaml:1:1: found a list where the groups belong");
    EXPECT_EQ(refusal("text"), "f.yaml:1:1: found a text where the groups belong");
}

TEST(Inventory, RecognizesTheIniForm) {
    for (const auto* text :
         {"# fleet\n[gpu]\ngpu01 ansible_host=10.0.0.1\n", "[gpu]\ngpu01\n[gpu:vars]\nx=1\n"}) {
        const auto inventory = Inventory::parse(text, "hosts");
        ASSERT_FALSE(inventory);
        EXPECT_NE(inventory.error().remedy.find("-i ansible:PATH"), std::string::npos) << text;
    }
}

TEST(Inventory, ReadsJsonAsAnsiblePrintsYaml) {
    const auto inventory = Inventory::parse(
        R"({"all": {"children": {"gpu": {"hosts": {"n1": {"ansible_port": 22}}}, "ungrouped": {}}}})", "f");
    ASSERT_TRUE(inventory) << inventory.error().message;
    EXPECT_EQ(inventory->hosts()[0].port, 22);
    EXPECT_TRUE(inventory->notes().empty());
}

TEST(InventoryNotes, ListUnknownVariablesOnceEach) {
    EXPECT_EQ(notes("all:\n  vars: {rack: 1}\n  hosts:\n    n1: {rack: 2, zone: a, ansible_x: 1}\n    n2: "
                    "{zone: b}\n"),
              "variables of the inventory that mean nothing here: rack (f.yaml:2:10), zone (f.yaml:4:19)\n");
}

TEST(InventoryNotes, NameEmptyGroupsAndDoubleNames) {
    EXPECT_EQ(notes("a: {hosts: {a: , n1: }}\nempty1:\nempty2:\n"),
              "f.yaml: groups without a host: empty[1-2]\nf.yaml: a host and a group at once, a limit "
              "selects both: a\n");
}

TEST(InventoryNotes, NameHostsThatAreOneMachine) {
    EXPECT_EQ(
        notes("all: {hosts: {'n[1-3]': {host: 10.0.0.1}, n4: {host: 10.0.0.1, port: 23}, n5: {host: n6}, "
              "n6: }}\n"),
        "f.yaml: n[1-3] have the same address 10.0.0.1 and port\nf.yaml: n[5-6] have the same address "
        "n6 and port\n");
}

TEST(InventoryNotes, StayShort) {
    std::string yaml = "all: {hosts: {";
    for (int i = 0; i < 40; ++i) yaml += fmt::format("a{0}x: {{host: h{1}}}, ", i, i / 2);
    const auto shown = notes(yaml + "}}");
    EXPECT_EQ(std::ranges::count(shown, '\n'), 6) << shown;
    EXPECT_NE(shown.find("15 more addresses have several names"), std::string::npos);
}

TEST(InventoryLoad, ReadsAFileAndNamesItInErrors) {
    const auto path = std::filesystem::path(testing::TempDir()) / fmt::format("inventory_{}.yaml", getpid());
    std::ofstream(path) << "all: {hosts: {'n[1-2]': }}\n";
    EXPECT_EQ(Inventory::load(path).value().hosts().size(), 2U);
    std::ofstream(path) << "all: {host: {n1: }}\n";
    EXPECT_EQ(Inventory::load(path).error().message, path.string() + ":1:7: unknown key host in group all");
    std::filesystem::remove(path);
    const auto gone = Inventory::load(path);
    EXPECT_EQ(gone.error().kind, "inventory");
    EXPECT_EQ(gone.error().message, path.string() + ": can not be read: No such file or directory");
}

TEST(Inventory, ThatIsGivenAwaySelectsTheSame) {
    constexpr std::string_view yaml =
        "a: {hosts: {'n[1-4]': {user: root}, n5: {port: 23, protect: [x]}}}\nb: {hosts: {n6: , n2: }}\n";
    for (const auto* limit : {"all", "b", "n5", "!a,all", "all,!n1", "n[4-5]", "none"}) {
        auto inventory = Inventory::parse(yaml, "f.yaml").value();
        const auto copied = inventory.select(limit);
        const auto moved = std::move(inventory).select(limit);
        ASSERT_EQ(copied.has_value(), moved.has_value()) << limit;
        if (!copied) {
            EXPECT_EQ(copied.error().message, moved.error().message);
            continue;
        }
        ASSERT_EQ(copied->size(), moved->size()) << limit;
        for (std::size_t i = 0; i < copied->size(); ++i) {
            const Host &a = (*copied)[i], &b = (*moved)[i];
            EXPECT_EQ(std::tie(a.name, a.address, a.port, a.user, a.protect),
                      std::tie(b.name, b.address, b.port, b.user, b.protect))
                << limit;
        }
    }
}

TEST(Inventory, AHundredThousandHostsAreNoTrouble) {
    std::string yaml = "all:\n  children:\n";
    for (int rack = 0; rack < 1'000; ++rack) {
        yaml += fmt::format(
            "    rack{0}:\n      hosts:\n        r{0}n[00-98]:\n        r{0}n99: {{gpus: 4}}\n", rack);
    }
    const auto inventory = Inventory::parse(yaml, "f.yaml").value();
    EXPECT_EQ(inventory.hosts().size(), 100'000U);
    EXPECT_EQ(folded(inventory.select("rack*,!rack[0-998]").value()), "r999n[00-99]");
}

}  // namespace
}  // namespace cleanslate::inventory
