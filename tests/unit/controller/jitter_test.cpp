#include "controller/jitter.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <chrono>
#include <set>

#include "controller/file_handle.hpp"

namespace cleanslate::controller {
namespace {

using namespace std::chrono_literals;

TEST(Jitter, LiesBetweenNothingAndTheMost) {
    std::set<Milliseconds> seen;
    for (int i = 0; i < 1000; ++i) {
        const Milliseconds wait = random_wait(1000ms);
        EXPECT_GE(wait, 0ms);
        EXPECT_LE(wait, 1000ms);
        seen.insert(wait);
    }
    EXPECT_GT(seen.size(), 100u);
    EXPECT_EQ(random_wait(0ms), 0ms);
}

TEST(Jitter, IsWaitedForUnlessAStopComes) {
    const FileHandle quiet(::eventfd(0, EFD_CLOEXEC)), stop(::eventfd(1, EFD_CLOEXEC));
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(wait_unless_stopped(30ms, quiet.get()));
    EXPECT_GE(std::chrono::steady_clock::now() - began, 30ms);
    EXPECT_FALSE(wait_unless_stopped(std::chrono::hours(24 * 365), stop.get()));
    EXPECT_FALSE(wait_unless_stopped(0ms, stop.get()));
}

}  // namespace
}  // namespace cleanslate::controller
