#include "controller/baseline_report.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "outcomes.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;

std::string uuid_of(const std::string& host, int gpu) {
    return fmt::format("GPU-00000000-1111-2222-{:04}-{:012}", host.back() - '0', gpu);
}

// Clean hosts share no uuid, unlike those of outcomes.hpp.
HostOutcome idle_host(const std::string& name) {
    HostOutcome host = clean_host(name);
    for (GpuVerdict& gpu : host.last->gpus) gpu.uuid = uuid_of(name, *gpu.index);
    host.driver_version = "580.95.05";
    return host;
}

HostOutcome leaking_host(const std::string& name) {
    HostOutcome host = idle_host(name);
    host.verdict = host.last->verdict = Verdict::dirty;
    GpuVerdict& gpu = host.last->gpus[2];
    gpu.verdict = Verdict::dirty;
    gpu.used = Mebibytes{76'107};
    gpu.findings = {{Severity::dirty, "memory-in-use", "76107 MiB used", "clear the host"}};
    return host;
}

std::string told(const Report& report) {
    Page page(80, false);
    write_collection(page, collect(report.result.hosts, most_idle), report);
    return page.take();
}

TEST(Collect, TakesEachGpuOfACleanFleet) {
    const auto collection = collect({idle_host("gpu01"), idle_host("gpu02")}, most_idle);
    EXPECT_TRUE(collection.complete());
    EXPECT_EQ(collection.baseline.gpus.size(), 16u);
    EXPECT_EQ(collection.baseline.gpus.at(uuid_of("gpu02", 4)).used, Mebibytes{51});
    EXPECT_EQ(recording_status(collection, 0), 0);
}

TEST(Collect, CountsGpusAndHostsThatAreLeftOut) {
    const auto collection =
        collect({idle_host("gpu01"), leaking_host("gpu02"), unreachable_host("gpu03")}, most_idle);
    EXPECT_EQ(collection.baseline.gpus.size(), 15u);
    EXPECT_EQ(collection.gpus_left_out, 1u);
    EXPECT_EQ(collection.hosts_left_out, 1u);
    EXPECT_FALSE(collection.complete());
}

TEST(Collect, RecordsAGpuThatTwoHostsShowOnce) {
    HostOutcome again = idle_host("gpu01");
    again.name = "10.0.0.1";
    for (GpuVerdict& gpu : again.last->gpus) gpu.used = Mebibytes{400};
    const auto collection = collect({idle_host("gpu01"), again}, most_idle);
    EXPECT_EQ(collection.baseline.gpus.size(), 8u);
    EXPECT_EQ(collection.baseline.gpus.at(uuid_of("gpu01", 0)).used, Mebibytes{0});
    EXPECT_EQ(collection.gpus_left_out, 8u);
    EXPECT_THAT(collection.hosts[1].left_out[0].why, HasSubstr("GPU 0 of gpu01"));
}

TEST(RecordingStatus, IsThatOfACheckButForWhatWasRecordedInSpiteOfIt) {
    HostOutcome idle_above_the_limit = idle_host("gpu01");
    for (GpuVerdict& gpu : idle_above_the_limit.last->gpus) {
        gpu.used = Mebibytes{308};
        gpu.verdict = Verdict::dirty;
        gpu.findings = {{Severity::dirty, "memory-in-use", "308 MiB used", ""}};
    }
    idle_above_the_limit.verdict = idle_above_the_limit.last->verdict = Verdict::dirty;
    EXPECT_EQ(recording_status(collect({idle_above_the_limit}, most_idle), 1), 0);
    EXPECT_EQ(recording_status(collect({leaking_host("gpu01")}, most_idle), 1), 1);
    EXPECT_EQ(recording_status(collect({leaking_host("gpu01")}, most_idle), 3), 3);
    EXPECT_EQ(recording_status(collect({idle_host("gpu01")}, most_idle), 5), 5);
}

TEST(RecordingStatus, IsNeverZeroWhereNothingWasRecorded) {
    HostOutcome no_gpus = clean_host("login1");
    no_gpus.last->gpus.clear();
    EXPECT_EQ(recording_status(collect({no_gpus}, most_idle), 0), 1);
}

TEST(ReasonNotToWrite, IsASweepThatWasStoppedOrHasNothingToSay) {
    const auto collection = collect({idle_host("gpu01")}, most_idle);
    EXPECT_EQ(reason_not_to_write(collection, {}), "");
    SweepResult interrupted, late, failed;
    interrupted.interrupted = late.deadline_passed = failed.failure_limit_reached = true;
    for (const auto& result : {interrupted, late, failed})
        EXPECT_THAT(reason_not_to_write(collection, result), HasSubstr("stopped"));
    EXPECT_THAT(reason_not_to_write(collect({unreachable_host("gpu01")}, most_idle), {}),
                HasSubstr("no GPU could be recorded"));
}

TEST(WriteCollection, FoldsHostsOfWhichTheSameIsToBeSaid) {
    const Report report = report_of({idle_host("gpu01"), unreachable_host("gpu05"), idle_host("gpu02"),
                                     leaking_host("gpu03"), unreachable_host("gpu06"), idle_host("gpu04")});
    EXPECT_EQ(told(report),
              "gpu[01-02,04] (3) recorded: every GPU\n"
              "gpu[05-06] (2) unreachable, nothing recorded:\n"
              "    connect: connection refused\n"
              "        -> see that sshd runs there\n"
              "gpu03 dirty, recorded in part:\n"
              "    GPU 0-1,3-7 at 0 to 51 MiB\n"
              "    GPU 2 left out: 76107 MiB used: above 500 MiB it is no idle memory but a\n"
              "    leak\n"
              "        -> find what holds it and reset the GPU, or raise --max-used\n");
}

TEST(WriteCollection, ShowsIdleMemoryThatIsMoreThanUsual) {
    HostOutcome old = idle_host("gpu02");
    old.last->gpus[1].used = Mebibytes{308};
    EXPECT_EQ(told(report_of({idle_host("gpu01"), old})),
              "gpu01 recorded: every GPU\n"
              "gpu02 recorded: every GPU: GPU 0-7 at 0 to 308 MiB\n");
}

TEST(WriteCollection, SaysThatAHostHasNoGpu) {
    HostOutcome no_gpus = clean_host("login1");
    no_gpus.last->gpus.clear();
    EXPECT_EQ(told(report_of({no_gpus})), "login1 no GPU there\n");
}

TEST(WriteCollection, LetsNoByteOfAHostReachTheTerminalRaw) {
    const std::string evil = "\x1b[2J\r\ngpu09 recorded: every GPU\n\xff";
    HostOutcome host = leaking_host("gpu01");
    host.last->gpus[3].verdict = Verdict::sick;
    host.last->gpus[3].findings = {{Severity::sick, evil, evil, evil}};
    host.last->gpus[4].uuid = evil;
    HostOutcome lost = unreachable_host("gpu02", evil);
    lost.error->remedy = evil;
    const std::string text = told(report_of({host, lost}));
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        ASSERT_TRUE(byte == '\n' || (byte >= 0x20 && byte < 0x7f)) << int(byte);
    }
    EXPECT_EQ(text.find("\ngpu09"), std::string::npos);
}

TEST(WriteRecordingSummary, SaysWhatTheFileHolds) {
    Report report = report_of({idle_host("gpu01"), leaking_host("gpu02"), unreachable_host("gpu03")});
    report.exit_status = 3;
    const auto collection = collect(report.result.hosts, most_idle);
    Page page(80, false);
    write_recording_summary(page, collection, report, "idle.yaml", true);
    EXPECT_EQ(page.take(),
              "idle.yaml: 15 GPUs of 2 hosts recorded, at 0 to 51 MiB; 1 GPU and 1 host left out; 1.9 s; "
              "exit 3: some hosts are unknown or unreachable\n");
    write_recording_summary(page, collection, report, "idle.yaml", false);
    EXPECT_THAT(page.take(), HasSubstr("idle.yaml: left as it was; "));
}

}  // namespace
}  // namespace cleanslate::controller::testing
