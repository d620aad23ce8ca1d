#include "controller/folded_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text_of.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

HostOutcome slow_host(const std::string& name, const std::string& seconds) {
    HostOutcome host = clean_host(name);
    host.last->findings = {
        {Severity::note, "driver-slow", "a query took " + seconds + " s", "nvidia-smi -pm 1"}};
    return host;
}

// Its GPU 0 has a note.
HostOutcome noted_host(const std::string& name, const std::string& text) {
    HostOutcome host = clean_host(name);
    host.last->gpus[0].findings = {{Severity::note, "reserved-counted-in", text, "record a baseline"}};
    return host;
}

TEST(FoldedNotes, ShowEachTextWithItsHosts) {
    EXPECT_THAT(of({slow_host("gpu01", "5.2"), slow_host("gpu02", "9.9"), slow_host("gpu03", "5.2")}),
                StartsWith("gpu[01-03] (3) clean\n"
                           "    driver-slow: a query took 5.2 s (gpu[01,03])\n"
                           "    driver-slow: a query took 9.9 s (gpu02)\n"
                           "        -> nvidia-smi -pm 1\n"
                           "clean: 3 hosts"));
}

TEST(FoldedNotes, SayThatManyTextsDifferAndNeverThatTheyAreAlike) {
    const std::string text = of({slow_host("gpu01", "5.2"), slow_host("gpu02", "9.9"),
                                 slow_host("gpu03", "7.1"), slow_host("gpu04", "30.0")});
    EXPECT_THAT(text, StartsWith("gpu[01-04] (4) clean\n"
                                 "    driver-slow: a query took 5.2 s on gpu01 (4 hosts, texts differ; see\n"
                                 "    --format json)\n"
                                 "        -> nvidia-smi -pm 1\n"
                                 "clean: 4 hosts"));
    EXPECT_THAT(text, Not(HasSubstr("alike")));
}

TEST(FoldedNotes, GiveNoRemedyThatIsNotThatOfAll) {
    std::vector<HostOutcome> hosts;
    for (int i = 1; i <= 4; ++i) {
        hosts.push_back(slow_host("gpu0" + std::to_string(i), std::to_string(i)));
        hosts.back().last->findings[0].remedy = "see to gpu0" + std::to_string(i);
    }
    EXPECT_THAT(of(hosts), Not(HasSubstr("->")));
}

TEST(FoldedNotes, KeepEveryNoteOfOneHostHoweverManyOfOneCodeItHas) {
    HostOutcome host = slow_host("gpu01", "1");
    for (int i = 2; i <= 5; ++i)
        host.last->findings.push_back(slow_host("", std::to_string(i)).last->findings[0]);
    const std::string text = of({host});
    for (int i = 1; i <= 5; ++i)
        EXPECT_THAT(text, HasSubstr("    driver-slow: a query took " + std::to_string(i) + " s\n"));
}

TEST(FoldedNotes, CountOnlyTheHostsWhoseTextsDiffer) {
    std::vector<HostOutcome> hosts;
    for (int i = 1; i <= 5; ++i) {
        hosts.push_back(slow_host("gpu0" + std::to_string(i), "5"));
        const std::string other = i == 5 ? "5" : std::to_string(10 + i);
        hosts.back().last->findings.push_back(slow_host("", other).last->findings[0]);
    }
    EXPECT_THAT(of(hosts),
                HasSubstr("    driver-slow: a query took 5 s\n"
                          "    driver-slow: a query took 11 s on gpu01 (4 hosts, texts differ; see --format\n"
                          "    json)\n"));
}

TEST(FoldedNotes, OfOneGpuCarryTheirText) {
    EXPECT_THAT(of({noted_host("-", "the limit is 400 MiB")}),
                StartsWith("- clean\n"
                           "note reserved-counted-in: - GPU 0: the limit is 400 MiB\n"
                           "clean: 1 host"));
}

TEST(FoldedNotes, OfGpusStandBesideTheHostsThatHaveThem) {
    EXPECT_THAT(of({noted_host("gpu01", "the limit is 400 MiB"), noted_host("gpu02", "another"),
                    noted_host("gpu03", "the limit is 400 MiB")}),
                StartsWith("gpu[01-03] (3) clean\n"
                           "note reserved-counted-in: gpu[01,03] (2): the limit is 400 MiB\n"
                           "note reserved-counted-in: gpu02 GPU 0: another\n"
                           "clean: 3 hosts"));
}

TEST(FoldedNotes, OfGpusSayThatManyTextsDiffer) {
    EXPECT_THAT(
        of({noted_host("gpu01", "1"), noted_host("gpu02", "2"), noted_host("gpu03", "3"),
            noted_host("gpu04", "4"), clean_host("gpu05")}),
        HasSubstr("\nnote reserved-counted-in: gpu[01-04] (4 hosts, texts differ; see --format json)\n"));
}

TEST(FoldedNotes, OfAGpuThatAreTooLongForALineStandBelow) {
    const std::string words(60, 'y');
    EXPECT_THAT(of({noted_host("gpu01", words)}),
                HasSubstr("\nnote reserved-counted-in: gpu01 GPU 0:\n    " + words + "\n"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
