#include "inventory/draft.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cleanslate::inventory {
namespace {

Result<Draft> draft(std::string_view text) {
    DraftBuilder builder;
    const yaml::Node& root = builder.begin("f.yaml", yaml::parse(text, "f.yaml").value());
    if (auto read = read_groups(root, builder); !read) return std::unexpected(read.error());
    std::vector<std::string> notes;
    return builder.finish(notes);
}

std::string notes_of(std::string_view text) {
    DraftBuilder builder;
    const yaml::Node& root = builder.begin("f.yaml", yaml::parse(text, "f.yaml").value());
    if (auto read = read_groups(root, builder); !read) return read.error().message;
    std::vector<std::string> notes;
    static_cast<void>(builder.finish(notes));
    std::string all;
    for (const std::string& note : notes) all += note + "\n";
    return all;
}

std::string refusal(std::string_view text) {
    const auto read = draft(text);
    if (read) return "no error";
    return read.error().remedy.empty() ? read.error().message
                                       : read.error().message + " | " + read.error().remedy;
}

std::string names(const Draft& read) {
    std::string out;
    for (const auto& host : read.hosts) out += (out.empty() ? "" : " ") + host.name;
    return out;
}

TEST(Draft, UnfoldsTheKeysOfHosts) {
    EXPECT_EQ(names(draft("all: {hosts: {login1: , 'n[1:2]': , \"n[08-09]\": }}").value()),
              "login1 n1 n2 n08 n09");
    EXPECT_EQ(names(draft("all:\n  hosts:\n    n[1-2]:\n    ::1:\n    \"[fe80::1%eth0]\":\n").value()),
              "n1 n2 ::1 fe80::1%eth0");
}

TEST(Draft, RefusesBadKeysOfHosts) {
    EXPECT_EQ(refusal("all:\n  hosts:\n    n[04-01]:\n"),
              "f.yaml:3:5: \"n[04-01]\": the range 04-01 runs backwards | write the lower end first");
    EXPECT_EQ(refusal("all: {hosts: {root@n1: }}"),
              "f.yaml:1:15: \"root@n1\" is no host name | the user has its own variable: ansible_user");
    EXPECT_EQ(refusal("all: {hosts: {'n1:ssh': }}"),
              "f.yaml:1:15: \"n1:ssh\" is no host name | the port has its own variable: ansible_port");
    EXPECT_EQ(refusal("all: {hosts: {on: }}"),
              "f.yaml:1:15: on is a boolean to Ansible, and no name of a host | put it into quotes: \"on\":");
    EXPECT_EQ(
        refusal("all: {hosts: {'n1,n2': }}"),
        "f.yaml:1:15: \"n1,n2\": several names in one key | write each host or range as a key of its own");
    EXPECT_EQ(refusal("all: {hosts: {-n1: }}").substr(0, 34), "f.yaml:1:15: \"-n1\" is no host name");
    EXPECT_EQ(refusal("all: {hosts: {\"a\\e[2J\": }}").substr(0, 13), "f.yaml:1:15: ");
    EXPECT_EQ(refusal("all: {hosts: {'n[1-1000001]': }}"),
              "f.yaml:1:15: \"n[1-1000001]\": stands for more than 1000000 names");
    EXPECT_EQ(refusal("all: {hosts: {m1: , 'n[1-1000000]': }}"),
              "f.yaml:1:21: \"n[1-1000000]\": stands for more than 999999 names");
}

TEST(Draft, RefusesListsAndTextsWhereMappingsBelong) {
    EXPECT_EQ(
        refusal("all:\n  hosts:\n    - n1\n"),
        "f.yaml:3:5: hosts: found a list where a mapping belongs | write each host as a key, such as gpu01:");
    EXPECT_EQ(names(draft("all: {hosts: n1}").value()), "n1") << "one name may stand as a text";
    EXPECT_EQ(refusal("all: {children: [a]}"),
              "f.yaml:1:17: children: found a list where a mapping belongs | write each group as a key, such "
              "as rack1:");
    EXPECT_EQ(refusal("a: [n1]"),
              "f.yaml:1:4: group a: found a list where a mapping belongs | write hosts:, vars: or children: "
              "under it");
    EXPECT_EQ(refusal("all: {vars: [a]}"),
              "f.yaml:1:13: found a list where variables belong | write a mapping, such as {ansible_host: "
              "10.0.0.1}");
    EXPECT_EQ(refusal("all: {hosts: {n1: 8}}").substr(0, 44), "f.yaml:1:19: found a text where variables be");
}

TEST(Draft, RefusesSlipsOfAGroupsKeysAndPassesOverOthers) {
    EXPECT_EQ(refusal("all: {host: {n1: }}"),
              "f.yaml:1:7: unknown key host in group all | did you mean hosts?");
    EXPECT_EQ(notes_of("version: 2\nall: {n1: }"),
              "f.yaml:1:1: passed over, as Ansible does: version, which is no group\n"
              "f.yaml:2:7: passed over, as Ansible does: the key n1 in group all, which has hosts, vars and "
              "children\n");
}

TEST(Draft, RefusesAGroupsKeysAtTheTop) {
    EXPECT_EQ(refusal("hosts: {n1: }"),
              "f.yaml:1:1: hosts at the top of the file, where groups belong | put it under all: or another "
              "group, such as\n"
              "all:\n  hosts:");
}

TEST(Draft, RefusesNamesOfGroupsThatNoLimitCouldName) {
    for (const auto* text :
         {"'a b': ", "'a,b': ", "'!a': ", "'a*': ", "'': ", "'a[1]': ", "'@a': ", "'-a': "}) {
        EXPECT_NE(refusal(text), "no error") << text;
    }
}

TEST(Draft, AGroupMayHaveItsContentInSeveralPlaces) {
    const auto both = draft("a: {hosts: {n1: }}\nb: {children: {a: {vars: {gpus: 8}, hosts: {n2: }}}}\n");
    EXPECT_EQ(names(both.value()), "n1 n2");
    const auto read = draft("a: {children: {b: }}\nb: {hosts: {n1: }}\nc: {children: {b: , d: {}}}\n");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->groups.at(read->group_index.at("b")).parents.size(), 2U);
    EXPECT_EQ(read->groups.at(read->group_index.at("a")).parents.at(0).group, 0U)
        << "all is above whoever has no parent";
}

TEST(Draft, AHostMayBeInSeveralGroups) {
    const auto read = draft("a: {hosts: {n1: {gpus: 8}}}\nb: {hosts: {'n[1-2]': {port: 22}}}\n").value();
    ASSERT_EQ(names(read), "n1 n2");
    EXPECT_EQ(read.hosts[0].groups.size(), 2U);
    EXPECT_EQ(read.hosts[0].blocks.size(), 2U);
    EXPECT_EQ(read.hosts[1].blocks.size(), 1U);
}

TEST(Draft, SaysThatItIsFullAndTakesAHostThatItKnowsAllTheSame) {
    const std::string full = "all:\n  hosts:\n    r[0000-9999]n[00-99]:\n  children:\n    g:\n      hosts:\n";
    EXPECT_EQ(draft(full + "        r0000n01:\n").value().hosts.size(), 1'000'000u);
    EXPECT_EQ(
        refusal(full + "        one-more:\n"),
        "f.yaml:7:9: more than 1000000 hosts in one inventory | split it, and sweep the parts one after "
        "the other");
}

TEST(Draft, AnErrorInVariablesHasItsPlace) {
    EXPECT_EQ(refusal("all:\n  hosts:\n    n1: {protcet: [x]}\n"),
              "f.yaml:3:10: unknown variable protcet | did you mean protect?");
    EXPECT_EQ(refusal("all: {vars: {gpus: maybe}}").substr(0, 13), "f.yaml:1:20: ");
}

}  // namespace
}  // namespace cleanslate::inventory
