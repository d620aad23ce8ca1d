#include "controller/formats/host_lists.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "../outcomes.hpp"
#include "inventory/node_set.hpp"
#include "outside.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

Report clean_report(const std::vector<std::string>& names) {
    Report report = report_of({});
    for (const std::string& name : names) {
        HostOutcome& host = report.result.hosts.emplace_back();
        host.name = name;
        host.verdict = Verdict::clean;
    }
    return report;
}

std::string list_of(const std::vector<std::string>& names, ListForm form) {
    const HostList list = host_list(clean_report(names), true, form);
    EXPECT_THAT(list.left_out, IsEmpty());
    return list.text;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

// Names as sites have them, and as few have them.
const std::vector<std::string> odd_names{"gpu1",
                                         "gpu2",
                                         "gpu10",
                                         "gpu08",
                                         "gpu09",
                                         "gpu010",
                                         "r1n01",
                                         "r1n02",
                                         "r2n01",
                                         "node-a",
                                         "a.b-c_1",
                                         "a.b-c_2",
                                         "10.0.0.1",
                                         "10.0.0.2",
                                         "gpu1.example",
                                         "gpu2.example",
                                         "_x",
                                         "7",
                                         "8",
                                         "n0000000000000000000000001",
                                         "n00000000000000000000000002",
                                         "2001:db8::1",
                                         "2001:db8::2",
                                         "2001:db8::a",
                                         "fe80::1%eth0",
                                         "n123456789012345678",
                                         "x9999999999999999999"};

TEST(HostLists, HaveEachHostInOneOfTheTwo) {
    HostOutcome in_part = clean_host("gpu03");
    in_part.last->gpus[1].judged = false;
    in_part.last->gpus[1].verdict = Verdict::dirty;
    const Report report = report_of({clean_host("gpu01"), dirty_host("gpu02"), in_part,
                                     unreachable_host("gpu04"), not_tried_host("gpu05")});
    EXPECT_EQ(host_list(report, true, ListForm::plain).text, "gpu01\n");
    EXPECT_EQ(host_list(report, false, ListForm::plain).text, "gpu02\ngpu03\ngpu04\ngpu05\n");
    EXPECT_EQ(host_list(report, false, ListForm::folded).text, "gpu[02-05]\n");
    EXPECT_EQ(count_listed_clean(report), 1u);
}

TEST(HostLists, CallANameCleanOnlyIfAllHostsOfItAre) {
    const Report report =
        report_of({clean_host("gpu01"), dirty_host("gpu01"), clean_host("gpu02"), clean_host("gpu02")});
    EXPECT_EQ(host_list(report, true, ListForm::plain).text, "gpu02\n");
    EXPECT_EQ(host_list(report, false, ListForm::plain).text, "gpu01\n");
    EXPECT_EQ(count_listed_clean(report), 1u);
}

TEST(HostLists, KeepTheOrderOfTheReport) {
    EXPECT_EQ(list_of({"b", "a", "gpu10", "gpu2"}, ListForm::plain), "b\na\ngpu10\ngpu2\n");
    EXPECT_EQ(list_of({"b", "a", "gpu10", "gpu2"}, ListForm::ansible), "b\na\ngpu10\ngpu2\n");
    EXPECT_EQ(list_of({"b", "a", "gpu10", "gpu2"}, ListForm::slurm), "b,a,gpu[2,10]\n");
}

TEST(HostLists, FoldForSlurmAtTheEndOfANameAlone) {
    EXPECT_EQ(list_of({"gpu01", "gpu02", "gpu03", "gpu07"}, ListForm::slurm), "gpu[01-03,07]\n");
    EXPECT_EQ(list_of({"r1n1", "r1n2", "r2n1", "r2n2"}, ListForm::slurm), "r1n[1-2],r2n[1-2]\n");
    EXPECT_EQ(list_of({"gpu1.example", "gpu2.example"}, ListForm::slurm), "gpu1.example,gpu2.example\n");
    EXPECT_EQ(list_of({"login"}, ListForm::slurm), "login\n");
}

TEST(HostLists, PutNoMoreIntoBracketsThanSlurmTakes) {
    std::vector<std::string> names;
    for (int i = 0; i < 70'000; ++i) names.push_back("n" + std::to_string(i));
    EXPECT_EQ(list_of(names, ListForm::slurm), "n[0-59999],n[60000-69999]\n");
}

TEST(HostLists, CountCleanGpusAsSlots) {
    HostOutcome half = dirty_host("gpu02"), none = clean_host("gpu03"), judged = clean_host("gpu04");
    none.last->gpus.clear();
    judged.last->gpus[0].judged = judged.last->gpus[1].judged = false;
    const Report report = report_of({clean_host("gpu01"), half, none, judged, unreachable_host("gpu05")});
    EXPECT_EQ(host_list(report, true, ListForm::mpi).text, "gpu01 slots=8\ngpu04 slots=6\n");
    EXPECT_EQ(host_list(report, false, ListForm::mpi).text, "gpu02 slots=7\ngpu05 slots=0\n");
}

// To ansible an empty file means every host.
TEST(HostLists, OfNobodySelectNobody) {
    EXPECT_EQ(list_of({}, ListForm::ansible), "!all\n");
    EXPECT_EQ(empty_host_list(ListForm::ansible), "!all\n");
    for (const ListForm form : {ListForm::plain, ListForm::folded, ListForm::slurm, ListForm::mpi})
        EXPECT_EQ(list_of({}, form), "");
}

TEST(HostLists, SayWhichNamesAFormCannotHave) {
    const auto left_out = [](const std::string& name, ListForm form) {
        const HostList list = host_list(report_of({clean_host("gpu01"), clean_host(name)}), true, form);
        EXPECT_THAT(list.text, HasSubstr("gpu01"));
        return !list.left_out.empty();
    };
    for (const ListForm form :
         {ListForm::plain, ListForm::folded, ListForm::slurm, ListForm::mpi, ListForm::ansible}) {
        EXPECT_TRUE(left_out("", form)) << to_string(form);
        EXPECT_TRUE(left_out("a\nb", form)) << to_string(form);
        EXPECT_TRUE(left_out("a\x1b[0m", form)) << to_string(form);
        for (const char* name : {"a,b", "a[1-2]", "!a", "&a", "~a", "@a", "a b", "-a", "a/b", "a:b"})
            EXPECT_TRUE(left_out(name, form)) << to_string(form) << " " << name;
    }
    EXPECT_TRUE(left_out("n99999999999999999999", ListForm::slurm)) << "it would become another name";
    EXPECT_TRUE(left_out("fe80::1%eth0", ListForm::mpi));
    EXPECT_TRUE(left_out("all", ListForm::ansible));
    EXPECT_FALSE(left_out("all", ListForm::plain));
    EXPECT_EQ(host_list(clean_report({"a\nb"}), true, ListForm::plain).left_out,
              (std::vector<std::string>{"a\\x0Ab"}));
}

TEST(HostLists, OfFoldedNamesUnfoldToThem) {
    auto names = odd_names;
    const auto unfolded = inventory::unfold(lines_of(list_of(names, ListForm::folded)).at(0));
    ASSERT_TRUE(unfolded);
    EXPECT_THAT(*unfolded, UnorderedElementsAreArray(names));
}

TEST(HostLists, AreReadBySlurm) {
    const std::string scontrol = outside_program("usr/bin/scontrol");
    if (scontrol.empty()) GTEST_SKIP() << "no scontrol here: ./dev test fetches it";
    std::string libraries;  // below the name of the machine
    for (const auto& machine :
         std::filesystem::directory_iterator(scontrol.substr(0, scontrol.rfind("/usr/")) + "/usr/lib"))
        if (std::filesystem::exists(machine.path() / "slurm-wlm")) libraries = machine.path() / "slurm-wlm";
    const TemporaryFolder folder;
    put(folder.file("slurm.conf"),
        "ClusterName=x\nSlurmctldHost=localhost\nNodeName=localhost\nPluginDir=" + libraries + "\n");
    const auto shown = [&](const std::string& list) {
        const Ended ended =
            run_outside({scontrol, "show", "hostnames", list}, "",
                        {{"SLURM_CONF", folder.file("slurm.conf")}, {"LD_LIBRARY_PATH", libraries}});
        EXPECT_EQ(ended.status, 0) << ended.err;
        return lines_of(ended.out);
    };
    if (shown("gpu01") != std::vector<std::string>{"gpu01"}) GTEST_SKIP() << "scontrol does not run here";
    EXPECT_THAT(shown(lines_of(list_of(odd_names, ListForm::slurm)).at(0)),
                UnorderedElementsAreArray(odd_names));
    std::vector<std::string> many;
    for (int i = 0; i < 70'000; ++i) many.push_back("n" + std::to_string(i));
    EXPECT_EQ(shown(lines_of(list_of(many, ListForm::slurm)).at(0)), many);
}

TEST(HostLists, AreReadByClusterShell) {
    const std::string nodeset = outside_program("usr/bin/nodeset");
    if (nodeset.empty()) GTEST_SKIP() << "no nodeset here";
    std::vector<std::string> names{"gpu01", "gpu02", "gpu07", "r1n01",        "r1n02",
                                   "r2n01", "a-b.c", "x_1",   "gpu1.example", "gpu2.example"};
    const Ended ended =
        run_outside({nodeset, "-e", "-S", "\n", lines_of(list_of(names, ListForm::folded)).at(0)});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(lines_of(ended.out), UnorderedElementsAreArray(names));
}

}  // namespace
}  // namespace cleanslate::controller::testing
