#include "inventory/inheritance.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cleanslate::inventory {
namespace {

Result<Resolved> resolved(std::string_view text) {
    DraftBuilder builder;
    const yaml::Node& root = builder.begin("f.yaml", yaml::parse(text, "f.yaml").value());
    if (auto read = read_groups(root, builder); !read) return std::unexpected(read.error());
    std::vector<std::string> notes;
    Draft draft = builder.finish(notes);
    return resolve(draft);
}

Host host(std::string_view text, std::string_view name) {
    const auto all = resolved(text).value();
    for (const auto& each : all.hosts) {
        if (each.name == name) return each;
    }
    ADD_FAILURE() << "no host " << name;
    return {};
}

TEST(Inheritance, TheNearerWins) {
    const std::string_view text =
        "all:\n"
        "  vars: {user: from_all, port: 1, gpus: 1}\n"
        "  children:\n"
        "    outer:\n"
        "      vars: {port: 2, gpus: 2}\n"
        "      children:\n"
        "        inner:\n"
        "          vars: {gpus: 3}\n"
        "          hosts:\n"
        "            n1: {max_used_mib: 5}\n"
        "            n2: {gpus: 4}\n";
    EXPECT_EQ(host(text, "n1").user, "from_all");
    EXPECT_EQ(host(text, "n1").port, 2);
    EXPECT_EQ(host(text, "n1").gpus, 3);
    EXPECT_EQ(host(text, "n1").max_used, Mebibytes{5});
    EXPECT_EQ(host(text, "n2").gpus, 4);
    EXPECT_EQ(host(text, "n2").address, "n2") << "the name where nothing else is said";
}

TEST(Inheritance, OfEquallyNearGroupsTheLaterInTheAlphabetWins) {
    EXPECT_EQ(host("b: {vars: {user: b}, hosts: {n1: }}\na: {vars: {user: a}, hosts: {n1: }}\n", "n1").user,
              "b");
}

TEST(Inheritance, PriorityComesBeforeTheAlphabetButNotBeforeDepth) {
    EXPECT_EQ(host("b: {vars: {user: b}, hosts: {n1: }}\n"
                   "a: {vars: {user: a, ansible_group_priority: 10}, hosts: {n1: }}\n",
                   "n1")
                  .user,
              "a");
    EXPECT_EQ(host("a: {vars: {user: a, ansible_group_priority: 10}, children: {b: {vars: {user: b}, hosts: "
                   "{n1: }}}}",
                   "n1")
                  .user,
              "b");
}

TEST(Inheritance, DepthIsTheLongestWayFromAll) {
    // z is a child of all and of m: as deep as below m, and so nearer than y.
    EXPECT_EQ(host("all: {children: {z: , m: , y: }}\n"
                   "m: {children: {z: }}\n"
                   "z: {vars: {user: z}, hosts: {n1: }}\n"
                   "y: {vars: {user: y}, hosts: {n1: }}\n",
                   "n1")
                  .user,
              "z");
}

TEST(Inheritance, ProtectListsGrowOverAllLevels) {
    const auto n1 = host(
        "all: {vars: {protect: [a], unprotect: [u]}}\n"
        "g: {vars: {protect: [b, a]}, hosts: {n1: {protect: [c], unprotect: [v]}}}\n"
        "h: {vars: {protect: [d]}, hosts: {n1: }}\n",
        "n1");
    EXPECT_EQ(n1.protect, (std::vector<std::string>{"a", "b", "d", "c"}));
    EXPECT_EQ(n1.unprotect, (std::vector<std::string>{"u", "v"}));
}

TEST(Inheritance, OfSeveralPlacesOfOneHostTheLaterWins) {
    const std::string_view before = "all: {hosts: {'n[1-3]': {gpus: 8, port: 22}, n2: {gpus: 4}}}";
    const std::string_view after = "all: {hosts: {n2: {gpus: 4}, 'n[1-3]': {gpus: 8, port: 22}}}";
    EXPECT_EQ(host(before, "n1").gpus, 8);
    EXPECT_EQ(host(before, "n2").gpus, 4);
    EXPECT_EQ(host(before, "n2").port, 22);
    EXPECT_EQ(host(after, "n2").gpus, 8);
    EXPECT_EQ(resolved(after).value().notes,
              (std::vector<std::string>{
                  "f.yaml:1:41: gpus of host n2 is something else at f.yaml:1:20: the later one counts"}));
}

TEST(Inheritance, TellsAHostThatContradictsItselfInOneFile) {
    EXPECT_EQ(resolved("a: {hosts: {n1: {port: 22}}}\nb: {hosts: {n1: {port: 23}}}\n").value().notes.at(0),
              "f.yaml:2:18: port of host n1 is something else at f.yaml:1:18: the later one counts");
    EXPECT_TRUE(resolved("a: {hosts: {n1: {port: 22}}}\nb: {hosts: {n1: {port: 22, gpus: 8}}}\n")
                    .value()
                    .notes.empty());
}

TEST(Inheritance, WhatCanNotBeUsedIsHeldAgainstTheHostsThatHaveIt) {
    const auto all = resolved(
                         "a: {vars: {ansible_user: '{{ x }}'}, hosts: {n1: , n2: {ansible_user: me}}}\n"
                         "b: {hosts: {n3: }}\n")
                         .value();
    ASSERT_EQ(all.unusable.size(), 1U);
    EXPECT_EQ(all.unusable.begin()->first, 0U);
    EXPECT_EQ(all.unusable.at(0)->message.substr(0, 14), "f.yaml:1:26: a");
    EXPECT_EQ(all.hosts[1].user, "me");
    EXPECT_EQ(all.hosts[0].address, "n1");
}

TEST(Inheritance, FillsInTheNameOfEachHost) {
    const std::string_view text =
        "a: {vars: {ansible_host: '{{ inventory_hostname_short }}.ib'}, hosts: {n1.org: , n2: }}";
    EXPECT_EQ(host(text, "n1.org").address, "n1.ib");
    EXPECT_EQ(host(text, "n2").address, "n2.ib");
}

TEST(Inheritance, AGroupThatContainsItselfIsAnError) {
    EXPECT_EQ(resolved("a: {children: {b: }}\nb: {children: {c: }}\nc: {children: {a: }}\n").error().message,
              "f.yaml:3:16: group a contains itself: a > b > c > a");
    EXPECT_EQ(resolved("a: {children: {a: }}\n").error().message,
              "f.yaml:1:16: group a contains itself: a > a");
    EXPECT_NE(resolved("a: {children: {all: }}\n").error().message.find("contains itself"),
              std::string::npos);
    EXPECT_NE(resolved("all: {children: {all: }}\n").error().message.find("contains itself"),
              std::string::npos);
    EXPECT_NE(resolved("b: {children: {c: }}\nc: {children: {b: , d: }}\nd: {hosts: {n1: }}\n")
                  .error()
                  .message.find(" > "),
              std::string::npos);
}

TEST(Inheritance, GroupsHaveTheHostsOfTheirChildren) {
    const auto groups =
        resolved("a: {children: {b: }, hosts: {n1: }}\nb: {hosts: {n2: , n1: }}\nc:\nall: {hosts: {n3: }}\n")
            .value()
            .groups;
    using Indexes = std::vector<std::size_t>;
    EXPECT_EQ(groups.at("all"), (Indexes{0, 1, 2}));
    EXPECT_EQ(groups.at("a"), (Indexes{0, 1}));
    EXPECT_EQ(groups.at("b"), (Indexes{0, 1}));
    EXPECT_EQ(groups.at("c"), Indexes{});
    EXPECT_EQ(groups.at("ungrouped"), Indexes{2});
}

TEST(Inheritance, UngroupedIsWhoeverIsInNoOtherGroup) {
    const auto groups =
        resolved(
            "all: {children: {ungrouped: {hosts: {n1: , n2: }}}, hosts: {n3: , n1: }}\na: {hosts: {n2: }}\n")
            .value()
            .groups;
    EXPECT_EQ(groups.at("ungrouped"), (std::vector<std::size_t>{0, 2}));
    EXPECT_EQ(host("ungrouped: {vars: {gpus: 3}, hosts: {n1: }}", "n1").gpus, 3);
}

std::string chain(int length) {
    std::string text;
    for (int i = 0; i < length; ++i) {
        text += fmt::format("g{0}: {{children: {{g{1}: }}, hosts: {{n{0}: }}}}\n", i, i + 1);
    }
    return text;
}

TEST(Inheritance, GroupsNestSixtyFourLevelsAndNoMore) {
    EXPECT_EQ(resolved(chain(63)).value().groups.at("g0").size(), 63U);
    EXPECT_EQ(resolved(chain(64)).error().message,
              "f.yaml:64:18: group g64 is more than 64 levels below all");
    EXPECT_FALSE(resolved(chain(3'000)));
}

TEST(Inheritance, ALongCircleIsNamedShort) {
    EXPECT_EQ(resolved(chain(3'000) + "g3000: {children: {g0: }}\n").error().message,
              "f.yaml:3001:20: group g0 contains itself: g0");
}

TEST(Inheritance, ManyGroupsSideBySideAreNoTrouble) {
    std::string text = "all: {hosts: {'n[1-2000]': }}\n";
    for (int i = 0; i < 2'000; ++i)
        text += fmt::format("g{0}: {{vars: {{gpus: 8}}, hosts: {{n{1}: , n{2}: }}}}\n", i, i / 2 + 1,
                            i / 2 + 1'001);
    EXPECT_EQ(resolved(text).value().hosts.size(), 2'000U);
}

}  // namespace
}  // namespace cleanslate::inventory
