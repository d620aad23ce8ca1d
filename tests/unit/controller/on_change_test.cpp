#include "controller/on_change.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "controller/signals.hpp"
#include "history/nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::HasSubstr;

class OnChange : public WithHistory {
  protected:
    OnChange() { ignore_write_signals(); }
    // A night, told to a command that leaves its input in `told` and its environment in `env`.
    Status tell(std::vector<HostOutcome> hosts, int exit_status, const std::string& command = "") {
        Options options;
        options.on_change = command.empty() ? "cat >\"$OUT/told\"; env >\"$OUT/env\"" : command;
        const SweepId sweep = night(std::move(hosts));
        return tell_change(options, {{"OUT", folder_.file("")}, {"PATH", "/usr/bin:/bin"}}, store(), sweep,
                           exit_status, -1);
    }
    nlohmann::json told() const {
        return nlohmann::json::parse(contents_of(folder_.file("told")), nullptr, false);
    }
    bool was_run() const { return std::filesystem::exists(folder_.file("told")); }
    bool has_variable(const std::string& line) const {
        return ("\n" + contents_of(folder_.file("env"))).find("\n" + line + "\n") != std::string::npos;
    }
};

TEST_F(OnChange, TheFirstNightTellsWhateverIsNotClean) {
    ASSERT_TRUE(tell({clean("a"), dirty("b"), unreachable_host("c")}, 3));
    EXPECT_EQ(told()["schema"], "cleanslate.diff/1");
    EXPECT_TRUE(told()["older"].is_null());
    EXPECT_TRUE(has_variable("CLEANSLATE_STATUS=3"));
    EXPECT_TRUE(has_variable("CLEANSLATE_NEWLY_DIRTY=1"));
    EXPECT_TRUE(has_variable("CLEANSLATE_NEWLY_CLEAN=0"));
    EXPECT_TRUE(has_variable("CLEANSLATE_NEWLY_UNKNOWN=1"));
    EXPECT_TRUE(has_variable("CLEANSLATE_SWEEP=1"));
    EXPECT_TRUE(has_variable("CLEANSLATE_PREVIOUS_SWEEP="));
    EXPECT_TRUE(has_variable("CLEANSLATE_HISTORY=" + store().path()));
}

TEST_F(OnChange, AFirstNightOnWhichAllIsCleanIsNoNews) {
    ASSERT_TRUE(tell({clean("a"), clean("b")}, 0));
    EXPECT_FALSE(was_run());
}

TEST_F(OnChange, WhatIsAsItWasIsNoNews) {
    night({clean("a"), dirty("b"), unreachable_host("c")});
    ASSERT_TRUE(tell({clean("a"), dirty("b"), unreachable_host("c")}, 3));
    EXPECT_FALSE(was_run());
}

TEST_F(OnChange, NewlyDirtyNewlyCleanAndNewlyUnknownAreEachNews) {
    night({clean("a")});
    ASSERT_TRUE(tell({dirty("a")}, 1));
    EXPECT_TRUE(has_variable("CLEANSLATE_NEWLY_DIRTY=1"));
    EXPECT_TRUE(has_variable("CLEANSLATE_PREVIOUS_SWEEP=1"));
    ASSERT_TRUE(tell({clean("a")}, 0));
    EXPECT_TRUE(has_variable("CLEANSLATE_NEWLY_CLEAN=1"));
    EXPECT_EQ(told()["newly_clean"][0]["host"], "a");
    ASSERT_TRUE(tell({unreachable_host("a")}, 3));
    EXPECT_TRUE(has_variable("CLEANSLATE_NEWLY_UNKNOWN=1"));
}

TEST_F(OnChange, OurVariablesAreNotThoseThatWereThereBefore) {
    Options options;
    options.on_change = "test \"$CLEANSLATE_STATUS\" = 1";
    const SweepId sweep = night({dirty("a")});
    EXPECT_TRUE(tell_change(options, {{"CLEANSLATE_STATUS", "forged"}}, store(), sweep, 1, -1));
}

TEST_F(OnChange, ACommandThatFailsIsAnError) {
    const auto failed = tell({dirty("a")}, 1, "exit 3");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().kind, "command");
    EXPECT_EQ(failed.error().message, "--on-change: exit status 3");
    EXPECT_THAT(failed.error().remedy, HasSubstr("history diff"));
}

TEST_F(OnChange, ACommandThatTakesTooLongIsEndedAndAnError) {
    Options options;
    options.on_change = "sleep 60";
    options.on_change_timeout = Milliseconds{100};
    const auto failed = tell_change(options, {}, store(), night({dirty("a")}), 1, -1);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "--on-change: not done after 0.10 s");
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
