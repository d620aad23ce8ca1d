// Servers that fail at each stage in each way: never clean, ended in time, and said where, how and what to
// do.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/contract/liar_sweep.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;
using liar::Fault;
using liar::Stage;

// Whether the client can tell at once that nothing more will come, or has to wait for its deadline.
enum class Told { at_once, never };

Told told(Stage stage, Fault fault) {
    switch (fault) {
        case Fault::stalls:
        case Fault::stops_halfway:
        case Fault::out_of_place:
            return Told::never;
        case Fault::rubbish:
        case Fault::disconnects:  // before the greeting any text may come
            return stage == Stage::greeting ? Told::never : Told::at_once;
        default:
            return Told::at_once;
    }
}

// The columns of the table: what a failure at these stages is called.
struct Row {
    Stage last;  // and all before it, down to the last row's
    const char* phase;
    Verdict verdict;
    const char *waited, *failed;
};
constexpr Row rows[] = {
    {Stage::service, "handshake", Verdict::unreachable, "handshake_timeout", "handshake_failed"},
    {Stage::auth_success, "auth", Verdict::unreachable, "auth_timeout", "auth_failed"},
    {Stage::close, "survey", Verdict::unknown, "timeout", "connection_lost"},
};

const Row& row_of(Stage stage) {
    return *std::ranges::find_if(rows, [&](const Row& row) { return stage <= row.last; });
}

// A part of the message; of several, one is enough.
std::vector<std::string> said(Stage stage, Fault fault) {
    const bool session = stage >= Stage::channel;
    switch (fault) {
        case Fault::closes:
        case Fault::resets:
            return {"closed the connection", "Connection reset"};
        case Fault::breaks_off:
            if (stage == Stage::greeting) return {"no SSH server"};
            return {"closed the connection"};
        case Fault::stalls:
            if (stage == Stage::greeting) return {"said nothing"};
            [[fallthrough]];
        case Fault::stops_halfway:
        case Fault::out_of_place:
            return {session ? "the deadline passed" : "in time"};
        case Fault::rubbish:
            if (stage == Stage::greeting) return {"in time"};
            return {stage <= Stage::service ? "went wrong" : "no SSH"};
        case Fault::endless:
            if (session) return {"the deadline passed", "no output of a command"};
            return {stage == Stage::greeting ? "text without end" : "data without end"};
        case Fault::disconnects:
            return {stage == Stage::greeting ? "fake: clean" : "owned\\x07\\x0D\\x0Afake: clean"};
    }
    return {};
}

bool is_printable(const std::string& text) {
    return std::ranges::all_of(text,
                               [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

class SshLiar : public testing::Test {
  protected:
    static void expect(const HostOutcome& host, Stage stage, Fault fault) {
        SCOPED_TRACE(host.name);
        const Row& row = row_of(stage);
        EXPECT_EQ(host.verdict, row.verdict);
        ASSERT_TRUE(host.error);
        const Error& error = *host.error;
        SCOPED_TRACE(fmt::format("{} {}: {}", error.phase, error.kind, error.message));
        EXPECT_TRUE(is_printable(error.message) && is_printable(error.remedy));
        const auto parts = said(stage, fault);
        EXPECT_TRUE(std::ranges::any_of(
            parts, [&](const std::string& part) { return error.message.find(part) != std::string::npos; }))
            << "it does not say: " << parts[0];
        EXPECT_TRUE(!error.remedy.empty() || error.kind == "connect_failed");
        EXPECT_LT(host.took, 60s);
        if (error.kind == "connect_failed") {  // a reset may be seen before anything else is
            EXPECT_EQ(stage, Stage::greeting);
            EXPECT_EQ(fault, Fault::resets);
            return;
        }
        EXPECT_EQ(error.phase, row.phase);
        if (stage >= Stage::channel && fault == Fault::endless) {  // whichever limit is nearer
            EXPECT_TRUE(error.kind == "output_limit" || error.kind == "timeout");
            return;
        }
        EXPECT_EQ(error.kind, told(stage, fault) == Told::never ? row.waited : row.failed);
    }

    // All stages, each with these faults, at once.
    static void walk(const std::vector<Fault>& faults, std::chrono::milliseconds patience) {
        LiarSweep sweep;
        sweep.patience = patience;
        std::vector<std::pair<Stage, Fault>> cells;
        for (const Stage stage : liar::all_stages())
            for (const Fault fault : faults) {
                cells.emplace_back(stage, fault);
                sweep.add(fmt::format("{}-{}", liar::name_of(stage), liar::name_of(fault)),
                          liar::failing_at(stage, fault));
            }
        const SweepResult result = sweep.run();
        ASSERT_EQ(result.hosts.size(), cells.size());
        for (std::size_t i = 0; i < cells.size(); ++i)
            expect(result.hosts[i], cells[i].first, cells[i].second);
    }
};

// Else the cells prove nothing: each differs from this by its fault alone.
TEST_F(SshLiar, a_server_that_does_not_lie_is_clean) {
    LiarSweep sweep;
    sweep.add("honest", {});
    const SweepResult result = sweep.run();
    ASSERT_EQ(result.hosts.size(), 1u);
    EXPECT_EQ(result.hosts[0].verdict, Verdict::clean);
    EXPECT_FALSE(result.hosts[0].error) << result.hosts[0].error->message;
}

TEST_F(SshLiar, a_server_that_falls_silent_at_any_stage_costs_its_deadline) {
    walk({Fault::stalls, Fault::stops_halfway, Fault::out_of_place}, 5s);
}

TEST_F(SshLiar, a_server_that_goes_away_at_any_stage_is_told_at_once) {
    walk({Fault::closes, Fault::resets, Fault::breaks_off}, 30s);
}

TEST_F(SshLiar, a_server_that_sends_what_is_no_SSH_or_disconnects_at_any_stage_is_told_at_once) {
    walk({Fault::rubbish, Fault::disconnects}, 6s);
}

TEST_F(SshLiar, a_server_that_sends_without_end_at_any_stage_is_cut) { walk({Fault::endless}, 10s); }

}  // namespace
}  // namespace cleanslate::agentless::contract
