// The stand-in for nvidia-smi says what a real one said.

#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "tests/fleet/selftest/running_fleet.hpp"

namespace cleanslate::simulated {
namespace {

using testing::HasSubstr;

class Driver : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        if (can_simulate())
            fleet = new RunningFleet({"hosts/h200-idle.host", "hosts/h200-busy.host", "hosts/lost.host",
                                      "hosts/driver-gone.host", "demo/hosts/gpu02.host",
                                      "demo/hosts/gpu07.host"});
    }
    static void TearDownTestSuite() {
        delete fleet;
        fleet = nullptr;
    }
    void SetUp() override {
        NEEDS_ROOT();
        ASSERT_EQ(fleet->started().status, 0) << fleet->started().out;
    }
    static RunningFleet* fleet;
};
RunningFleet* Driver::fleet = nullptr;

TEST_F(Driver, AnswersAsTheIdleH200Did) {
    const auto ask = [&](const std::string& options) { return fleet->smi("h200-idle", options); };
    EXPECT_EQ(ask("-L"), corpus("list.txt"));
    EXPECT_EQ(ask("--query-gpu=index,memory.used --format=csv,noheader"), corpus("index_used_idle.txt"));
    EXPECT_EQ(ask("--query-gpu=index,memory.used --format=csv"), corpus("index_used_idle_header.txt"));
    EXPECT_EQ(ask("--query-gpu=index,memory.used --format=csv,noheader,nounits"),
              corpus("index_used_idle_nounits.txt"));
    EXPECT_EQ(ask("--query-compute-apps=pid,gpu_uuid,used_memory,process_name --format=csv"),
              corpus("apps_idle_header.txt"));
    EXPECT_EQ(
        ask("--query-gpu=index,uuid,pci.bus_id,name,driver_version,memory.total,memory.reserved,memory.used,"
            "memory.free,utilization.gpu,temperature.gpu,mig.mode.current,"
            "ecc.errors.uncorrected.volatile.total,remapped_rows.pending,compute_mode --format=csv"),
        corpus("wide_idle_header.txt"));
}

TEST_F(Driver, KnowsEveryFieldOfTheCorpus) {
    std::istringstream lines(corpus("fields.tsv"));
    std::string names;
    std::string values;
    for (std::string line; std::getline(lines, line);) {
        const auto tab = line.find('\t');
        names += (names.empty() ? "" : ",") + line.substr(0, tab);
        values += (values.empty() ? "" : ", ") + line.substr(tab + 1);
    }
    EXPECT_EQ(fleet->smi("h200-idle", "--query-gpu=" + names + " --format=csv,noheader"), values + "\n");
}

TEST_F(Driver, RefusesWhatTheH200Refused) {
    const auto field = fleet->on("h200-idle", "nvidia-smi --query-gpu=index,no.such.field --format=csv");
    EXPECT_EQ(field.out, corpus("unknown_field.txt"));
    EXPECT_EQ(field.status, 2);
    const auto gpu = fleet->on("h200-idle", "nvidia-smi -i 99 --query-gpu=index --format=csv");
    EXPECT_EQ(gpu.out, corpus("unknown_gpu.txt"));
    EXPECT_EQ(gpu.status, 6);
}

// The corpus's kill_events.txt: a ends at TERM, b only at KILL, c takes 1.5 s.
TEST_F(Driver, CountsTheMemoryOfTheCorpussFourProcessesAndOfTheThreeThatStayed) {
    EXPECT_EQ(fleet->smi("h200-busy", "--query-gpu=index,memory.used --format=csv,noheader"),
              corpus("index_used_busy.txt"));
    auto apps = fleet->smi("h200-busy",
                           "--query-compute-apps=pid,gpu_uuid,gpu_bus_id,used_memory,process_name "
                           "--format=csv");
    for (const auto& [name, pid] : {std::pair{"a", "843"}, {"b", "928"}, {"c", "988"}, {"s", "1050"}})
        apps = std::regex_replace(apps,
                                  std::regex("\n" + std::to_string(fleet->find("h200-busy", name).pid) + ","),
                                  std::string("\n") + pid + ",");
    EXPECT_EQ(apps, corpus("apps_busy_header.txt"));
    EXPECT_THAT(fleet->smi("h200-busy",
                           "--query-compute-apps=gpu_uuid,pid,used_memory,name "
                           "--format=csv,noheader,nounits"),
                HasSubstr("GPU-00000000-1111-2222-3333-444444444444, " +
                          std::to_string(fleet->find("h200-busy", "b").pid) + ", 72290, python3\n"));

    const auto used = [&] {
        return fleet->smi("h200-busy", "--query-gpu=index,memory.used --format=csv,noheader");
    };
    fleet->on("h200-busy", "kill -TERM " + std::to_string(fleet->find("h200-busy", "a").pid) + " " +
                               std::to_string(fleet->find("h200-busy", "b").pid));
    EXPECT_TRUE(comes_true([&] { return used() == corpus("index_used_after_term.txt"); })) << used();
    const auto slow = fleet->find("h200-busy", "c");
    const auto began = std::chrono::steady_clock::now();
    fleet->on("h200-busy", "kill -TERM " + std::to_string(slow.pid));
    EXPECT_TRUE(comes_true([&] { return !lives(slow.outer, slow.start); }));
    EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(1400));
    const auto deaf = fleet->find("h200-busy", "b");
    EXPECT_TRUE(lives(deaf.outer, deaf.start));
    fleet->on("h200-busy", "kill -KILL " + std::to_string(deaf.pid));
    EXPECT_TRUE(comes_true([&] { return !lives(deaf.outer, deaf.start); }));
}

TEST_F(Driver, PrintsAProseLineAndARowOfErrorsForALostGpuAndKeepsTheOthers) {
    const auto answer = fleet->on("lost", "nvidia-smi --query-gpu=index,memory.used --format=csv,noheader");
    EXPECT_EQ(answer.out,
              "0, 0 MiB\n1, 0 MiB\n"
              "Unable to determine the device handle for GPU0000:3A:00.0: GPU is lost.  Reboot the system to "
              "recover "
              "this GPU\n[Unknown Error], [Unknown Error]\n"
              "3, 0 MiB\n4, 0 MiB\n5, 0 MiB\n6, 0 MiB\n7, 0 MiB\n");
    EXPECT_EQ(answer.status, 15);
}

TEST_F(Driver, ShowsZeroMemoryForAGpuThatRequiresAReset) {
    EXPECT_THAT(
        fleet->smi("gpu07",
                   "--query-gpu=index,temperature.gpu,utilization.gpu,memory.used --format=csv,noheader"),
        HasSubstr("\n3, [GPU requires reset], [GPU requires reset], 0 MiB\n4, 35, 0 %, 4 MiB\n"));
}

TEST_F(Driver, FailsAsAWholeWithoutItsKernelModule) {
    const auto answer = fleet->on("driver-gone", "nvidia-smi -L");
    EXPECT_THAT(answer.out, testing::StartsWith("NVIDIA-SMI has failed because it couldn't communicate"));
    EXPECT_EQ(answer.status, 9);
    EXPECT_NE(fleet->on("driver-gone", "ls /proc/driver/nvidia").status, 0);
}

TEST_F(Driver, TellsMinorNumbersApartFromIndexes) {
    // On gpu02 the worker has memory on index 5, whose file is /dev/nvidia7.
    const auto bus = fleet->smi("gpu02", "--query-gpu=pci.bus_id --format=csv,noheader -i 5");
    EXPECT_EQ(bus, "00000000:AB:00.0\n");
    EXPECT_THAT(fleet->on("gpu02", "cat /proc/driver/nvidia/gpus/0000:ab:00.0/information").out,
                HasSubstr("Device Minor: \t 7\n"));
    const auto pid = std::to_string(fleet->find("gpu02", "server").pid);
    const auto open = [&](const std::string& file) {
        return fleet->on("gpu02", "ls -l /proc/" + pid + "/fd | grep -c '/dev/" + file + "$'").out;
    };
    const auto mapped = [&](const std::string& file) {
        return fleet->on("gpu02", "grep -c '/dev/" + file + "$' /proc/" + pid + "/maps").out;
    };
    EXPECT_EQ(open("nvidia7") + open("nvidia5") + open("nvidia0") + open("nvidiactl") + open("nvidia-uvm"),
              "23\n7\n7\n2\n4\n");
    EXPECT_EQ(mapped("nvidia7") + mapped("nvidia5") + mapped("nvidiactl") + mapped("nvidia-uvm"),
              "3\n2\n28\n1\n");
}

TEST_F(Driver, TakesItsOptionsWithAndWithoutAnEqualsSign) {
    EXPECT_EQ(fleet->smi("h200-idle", "--query-gpu index --format csv,noheader --id=0"), "0\n");
    EXPECT_EQ(fleet->on("h200-idle", "nvidia-smi --query-gpu=index").status, 2);
    EXPECT_THAT(fleet->smi("h200-idle", "--help-query-gpu"), HasSubstr("\"pci.bus_id\" or \"gpu_bus_id\""));
    EXPECT_THAT(fleet->smi("h200-idle", "--help-query-compute-apps"),
                HasSubstr("\"used_gpu_memory\" or \"used_memory\""));
    EXPECT_THAT(fleet->smi("h200-idle", "--version"), HasSubstr("580.159.04"));
}

}  // namespace
}  // namespace cleanslate::simulated
