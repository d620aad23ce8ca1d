#include "controller/sweep_runner.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace cleanslate::controller {
namespace {

TEST(InterruptText, NamesWhoIsUnfinishedAndWithWhat) {
    EXPECT_EQ(interrupt_text({{"gpu03", "survey"}, {"gpu07", ""}}, SIGINT),
              "interrupted: 2 hosts under way: gpu03 (survey), gpu07; no new host is begun, steps under way "
              "report; "
              "once more to cut them");
    EXPECT_TRUE(interrupt_text({}, SIGTERM).starts_with("SIGTERM: 0 hosts under way; "));
}

TEST(InterruptText, StaysShortForALargeFleet) {
    const std::string text = interrupt_text({500, {"gpu", "survey"}}, SIGINT);
    EXPECT_NE(text.find("and 480 more"), std::string::npos);
    EXPECT_LT(text.size(), 600u);
}

}  // namespace
}  // namespace cleanslate::controller
