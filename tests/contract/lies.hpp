#pragma once
// What tests of servers that lie are written in: hooks, messages, and what must come of a lie.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "agentless/ssh/wire.hpp"
#include "tests/contract/liar_sweep.hpp"

namespace cleanslate::agentless::contract {

namespace message = liar::message;

// What the report must say. Where a lie changes nothing, the host is clean: its survey came whole.
struct Expected {
    Verdict verdict = Verdict::clean;
    std::string kind = {}, phase = {}, says = {};
};
struct Lie {
    std::string name;
    liar::Hook hook;
    Expected expected = {};
};

// Checks all of them at once.
void check(const std::vector<Lie>& lies, std::chrono::milliseconds patience);

// Hooks: does this before the message of the stage; sends this in its place; leaves messages out.
liar::Hook before(liar::Stage stage, std::function<void(liar::Conversation&)> act);
liar::Hook instead(liar::Stage stage, std::string payload);
liar::Hook instead(liar::Stage stage, std::function<std::string(liar::Conversation&)> make);
liar::Hook without(std::vector<liar::Stage> stages);

// Messages.
std::string of_type(unsigned char type);
std::string ignored(std::size_t size);
std::string debugging(std::string_view text);
std::string banner(std::string_view text);
std::string global_request(std::string_view name);  // that wants a reply
std::string auth_failure(std::string_view methods, bool partial);
std::string data_for(std::uint32_t channel, std::string_view bytes);
std::string channel_open(std::string_view type);
std::string open_failure(liar::Conversation& conversation, std::string_view reason);
std::string confirmation(liar::Conversation& conversation, std::uint32_t window, std::uint32_t packet);
std::string widened(liar::Conversation& conversation, std::uint32_t by);
std::string exit_status(liar::Conversation& conversation, std::uint32_t status);
std::string exit_signal(liar::Conversation& conversation, std::string_view name);

}  // namespace cleanslate::agentless::contract
