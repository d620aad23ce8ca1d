#include "tests/soak/drift.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <mutex>
#include <thread>

namespace cleanslate::soak {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Sample> steady(std::size_t count) {
    return std::vector<Sample>(count, {100'000, 20, 3, std::chrono::milliseconds(5'000)});
}

TEST(Drift, IsNotFoundWhereAllStaysAsItWas) {
    auto samples = steady(40);
    samples.front().resident_kib = 50'000;          // the first sweep warms up
    samples.back().took = std::chrono::minutes(1);  // one busy moment is no drift
    EXPECT_THAT(drift(samples), IsEmpty());
}

TEST(Drift, IsNotFoundInOneBusyMomentOfEightSweepsEither) {
    auto samples = steady(8);
    samples.back().took = std::chrono::minutes(1);
    EXPECT_THAT(drift(samples), IsEmpty());
}

TEST(Drift, OfEachKindIsNamedWithItsFigures) {
    auto samples = steady(40);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i].resident_kib += 1'000 * i;
        samples[i].descriptors += i / 10;
        samples[i].threads += i / 10;
        samples[i].took += std::chrono::milliseconds(200) * i;
    }
    EXPECT_THAT(drift(samples), ElementsAre(HasSubstr("memory"), HasSubstr("descriptors: 21 became 23"),
                                            HasSubstr("threads: 4 became 6"), HasSubstr("time")));
}

TEST(Drift, OfOneDescriptorASweepIsFoundInEightSweeps) {
    auto samples = steady(8);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i].descriptors += i;
    EXPECT_THAT(drift(samples), ElementsAre(HasSubstr("descriptors")));
}

TEST(Drift, CannotBeDeniedAfterAFewSweeps) {
    EXPECT_THAT(drift(steady(7)), ElementsAre(HasSubstr("too few")));
}

TEST(Look, SeesThisProcess) {
    const auto before = look();
    EXPECT_GT(before.resident_kib, 1'000u);
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    std::mutex stays;
    stays.lock();
    std::thread thread([&] { const std::lock_guard wait(stays); });
    const auto beside = look();
    stays.unlock();
    thread.join();
    ::close(fd);
    EXPECT_EQ(beside.descriptors, before.descriptors + 1);
    EXPECT_EQ(beside.threads, before.threads + 1);
}

}  // namespace
}  // namespace cleanslate::soak
