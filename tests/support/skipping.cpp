// A program whose tests are skipped: what skipped_test.sh runs under ctest.

#include <gtest/gtest.h>

#include <cstdio>

namespace {

class Fixture : public testing::Test {
  protected:
    void SetUp() override { GTEST_SKIP() << "needs root\nand a machine"; }
};

TEST_F(Fixture, IsSkippedBeforeItBegins) { FAIL(); }
TEST(Skipping, Runs) { std::puts("a word: Skipped"); }
TEST(Skipping, SaysWhy) {
    std::puts("needs nothing");
    GTEST_SKIP() << "needs sudo (package sudo)";
}
TEST(Skipping, SaysNothing) { GTEST_SKIP(); }

}  // namespace
