#pragma once
// What the tests of SSH alone share.

#include <gtest/gtest.h>

#include "agentless/ssh/ssh_transport.hpp"
#include "tests/contract/contract.hpp"
#include "tests/contract/sshd.hpp"

namespace cleanslate::agentless::contract {

class SshTest : public testing::Test {
  protected:
    void SetUp() override {
        const std::string why = no_sshd_here();
        if (!why.empty()) GTEST_SKIP() << why;
    }

    Result<std::unique_ptr<Connection>> open(const SshOptions& options, const Endpoint& endpoint,
                                             std::chrono::milliseconds time = std::chrono::seconds(60)) {
        auto context = load_ssh_context(options);
        if (!context) return std::unexpected(context.error());
        context_ = *context;
        transport_ = make_ssh_transport(io_, context_);
        return await(io_, transport_->open(endpoint, in(time)));
    }

    // Opens and runs a command there: the proof that a login is a login.
    void expect_runs(const SshOptions& options, const Endpoint& endpoint) {
        const auto connection = open(options, endpoint);
        ASSERT_TRUE(connection) << connection.error().kind << ": " << connection.error().message;
        const Script script{"echo in", ""};
        const auto ran = await(io_, (*connection)->run(script, Limits{in(std::chrono::seconds(60))}));
        ASSERT_TRUE(ran) << ran.error().message;
        EXPECT_EQ(ran->out, "in\n");
    }

    Error expect_refused(const SshOptions& options, const Endpoint& endpoint, const std::string& kind,
                         const std::string& phase,
                         std::chrono::milliseconds time = std::chrono::seconds(60)) {
        const auto connection = open(options, endpoint, time);
        EXPECT_FALSE(connection) << "it was let in";
        if (connection) return {};
        EXPECT_EQ(connection.error().kind, kind) << connection.error().message;
        EXPECT_EQ(connection.error().phase, phase) << connection.error().message;
        return connection.error();
    }

    static void expect_says(const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" does not say \"" << part << "\"";
    }

    boost::asio::io_context io_{1};
    std::shared_ptr<SshContext> context_;
    std::unique_ptr<Transport> transport_;
};

// With one sshd that lets one in as it is.
class SshdTest : public SshTest {
  protected:
    void SetUp() override {
        SshTest::SetUp();
        if (IsSkipped()) return;
        sshd_ = std::make_unique<Sshd>();
        options_ = sshd_->options();
        endpoint_ = sshd_->endpoint();
    }
    std::unique_ptr<Sshd> sshd_;
    SshOptions options_;
    Endpoint endpoint_;
};

}  // namespace cleanslate::agentless::contract
