#include "tests/fleet/scale/script.hpp"

#include <gtest/gtest.h>

#include "agentless/command.hpp"
#include "agentless/remote.hpp"

namespace cleanslate::simulated {
namespace {

const std::string nonce = "0123456789abcdef";

TEST(Script, ASurveyIsToldByItsQuestions) {
    agentless::SurveyRequest request;
    request.all_processes = true;
    const auto script = recognise(agentless::survey_script(request, nonce));
    EXPECT_EQ(script.kind, ScriptKind::survey);
    EXPECT_EQ(script.value("nonce"), nonce);
    EXPECT_EQ(script.value("all_processes"), "1");
    EXPECT_TRUE(script.value("gpu_columns").starts_with("index,uuid,"));
    EXPECT_EQ(script.value("shm_names"), "");
}

TEST(Script, ASignalBringsItsTargets) {
    agentless::SignalRequest request;
    request.signal = "TERM";
    request.targets = {{3, 300}, {4, 400}};
    request.boot_id = "b-o-o-t";
    request.wait = Milliseconds(1500);
    const auto script = recognise(agentless::signal_script(request, nonce));
    EXPECT_EQ(script.kind, ScriptKind::signal);
    EXPECT_EQ(script.value("targets"), "3:300 4:400");
    EXPECT_EQ(script.value("signal"), "TERM");
    EXPECT_EQ(script.value("boot"), "b-o-o-t");
    EXPECT_EQ(script.number("wait_ms"), 1500);
}

TEST(Script, EachOtherScriptHasItsKind) {
    EXPECT_EQ(recognise(agentless::lock_script({.who = "alice@laptop"}, nonce)).kind, ScriptKind::take_lock);
    EXPECT_EQ(recognise(agentless::release_script({3, 300}, nonce)).kind, ScriptKind::release_lock);
    EXPECT_EQ(recognise(agentless::reset_script({}, nonce)).kind, ScriptKind::reset);
    EXPECT_EQ(recognise(agentless::shm_script({}, nonce)).kind, ScriptKind::shm);
    EXPECT_EQ(recognise(agentless::reboot_script("b-o-o-t", nonce)).kind, ScriptKind::reboot);
}

TEST(Script, ACommandIsTheOperatorsOwnLines) {
    const auto script =
        recognise(agentless::command_script("echo one\necho two", Milliseconds(7000), nonce, {}));
    EXPECT_EQ(script.kind, ScriptKind::command);
    EXPECT_EQ(script.command, "echo one\necho two");
    EXPECT_EQ(script.value("nonce"), nonce);
    EXPECT_EQ(script.number("timeout_s"), 7);
}

TEST(Script, OneThatWasCutAnywhereIsNotWhole) {
    agentless::SignalRequest request;
    request.signal = "TERM";
    const auto whole = agentless::signal_script(request, nonce);
    ASSERT_TRUE(is_whole(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto cut = std::string_view(whole).substr(0, size);
        ASSERT_FALSE(is_whole(cut)) << size;
        ASSERT_EQ(recognise(cut).kind, ScriptKind::unknown) << size;
    }
}

TEST(Script, WhatFitsNoneIsUnknown) {
    EXPECT_EQ(recognise("nonce=1\nmain\n").kind, ScriptKind::unknown);
    EXPECT_EQ(recognise("gpu_columns=index\napp_columns=pid\nmain\n").kind, ScriptKind::unknown);
    EXPECT_EQ(recognise("nonce=$(id)\nsignal=TERM\ntargets=\nmain\n").kind, ScriptKind::unknown);
    EXPECT_EQ(recognise("").kind, ScriptKind::unknown);
}

}  // namespace
}  // namespace cleanslate::simulated
