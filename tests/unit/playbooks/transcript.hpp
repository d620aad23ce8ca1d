#pragma once
// What the tests say to the reader and what it answers, in one line each.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "playbooks/playbook.hpp"

namespace cleanslate::playbooks {

// "message -> remedy".
inline std::string said(const Error& error) { return error.message + " -> " + error.remedy; }

// The playbook; a refusal fails the test and gives an empty one.
inline Playbook accepted(std::string_view yaml, const Settings& settings = {}) {
    auto playbook = parse_playbook(yaml, "p.yaml", settings);
    if (playbook) return *playbook;
    ADD_FAILURE() << said(playbook.error());
    return {};
}

// What the refusal says; a playbook that is accepted fails the test.
inline std::string refused(std::string_view yaml, const Settings& settings = {}) {
    const auto playbook = parse_playbook(yaml, "p.yaml", settings);
    if (playbook) {
        ADD_FAILURE() << "accepted: " << yaml;
        return {};
    }
    EXPECT_EQ(playbook.error().kind, "playbook");
    EXPECT_EQ(playbook.error().phase, "playbook");
    EXPECT_TRUE(playbook.error().message.starts_with("p.yaml:")) << playbook.error().message;
    EXPECT_FALSE(playbook.error().remedy.empty()) << playbook.error().message;
    return said(playbook.error());
}

// The only step of a playbook, which is a T.
template <class T>
T only_step(const Playbook& playbook) {
    EXPECT_EQ(playbook.steps.size(), 1U);
    if (playbook.steps.size() != 1) return {};
    const T* step = std::get_if<T>(&playbook.steps[0].action);
    EXPECT_NE(step, nullptr);
    return step != nullptr ? *step : T{};
}

}  // namespace cleanslate::playbooks
