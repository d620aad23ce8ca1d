#include "agentless/become.hpp"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "tests/unit/agentless/memory_sudo.hpp"

namespace cleanslate::agentless {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using Talk = MemoryReply::Talk;

const std::string password = "open-sesame-4711";

// --- the command ------------------------------------------------------------------------------------------

TEST(ThroughSudo, NeitherMarkerNorPromptNorPasswordStandsInTheCommand) {
    const SharedSecret secret(password);
    const Script inside = through_sudo({"/bin/sh -s", "exit 0\n", {}}, &secret, nullptr);
    ASSERT_TRUE(inside.gate);
    EXPECT_THAT(inside.command, Not(HasSubstr(inside.gate->marker)));
    EXPECT_THAT(inside.command, Not(HasSubstr(inside.gate->prompt)));
    EXPECT_THAT(inside.command, Not(HasSubstr(password)));
    EXPECT_THAT(inside.command, HasSubstr("sudo -S -p "));
    EXPECT_EQ(inside.gate->answer, password);
    EXPECT_EQ(inside.input, "exit 0\n");
}

TEST(ThroughSudo, EveryRunHasItsOwnNonce) {
    const Script script;
    EXPECT_NE(through_sudo(script, nullptr, nullptr).gate->marker,
              through_sudo(script, nullptr, nullptr).gate->marker);
}

TEST(ThroughSudo, WithoutAPasswordNothingCanBeAsked) {
    const Script inside = through_sudo({}, nullptr, nullptr);
    EXPECT_THAT(inside.command, HasSubstr("sudo -n "));
    EXPECT_EQ(inside.gate->prompt, "");
    EXPECT_EQ(inside.gate->answer, "");
}

TEST(ThroughSudo, TheCommandHasNothingThatLoginShellsReadDifferently) {
    const SharedSecret secret(password);
    for (const auto* offered : {&secret, static_cast<const SharedSecret*>(nullptr)}) {
        const std::string command = through_sudo({}, offered, nullptr).command;
        const auto open = command.find('\''), close = command.rfind('\'');
        ASSERT_LT(open, close);
        EXPECT_EQ(close, command.size() - 1);
        EXPECT_EQ(command.substr(0, open), "/bin/sh -c ");
        EXPECT_EQ(command.substr(open + 1, close - open - 1).find_first_of("'\\!\n\r"), std::string::npos);
    }
}

// --- why it failed ----------------------------------------------------------------------------------------

struct Failure {
    std::string err;
    int status = 1;
    bool given = false;
    bool again = false;
    std::string part, remedy;
    bool bars = false;
};

class Explained : public ::testing::TestWithParam<Failure> {};

TEST_P(Explained, HasCauseAndRemedy) {
    const auto& failure = GetParam();
    const auto secret = std::make_shared<SharedSecret>(password);
    SecretTurn turn(secret, "gpu01");
    if (failure.given) turn.asked([] {});
    RunOutput output;
    output.err = failure.err;
    output.exit_status = failure.status;
    output.gate_passed = false;
    output.gate_asked = failure.given;
    output.gate_refused = failure.again;
    const Error error = explain_become(output, turn, secret.get(), std::nullopt);
    EXPECT_EQ(error.kind, "become_failed");
    EXPECT_EQ(error.phase, "become");
    EXPECT_THAT(error.message, HasSubstr(failure.part));
    EXPECT_THAT(error.remedy, HasSubstr(failure.remedy));
    EXPECT_THAT(error.message + error.remedy, Not(HasSubstr(password)));
    EXPECT_EQ(secret->barred("gpu02").has_value(), failure.bars);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Explained,
    ::testing::Values(
        Failure{"/bin/sh: 1: exec: sudo: not found\n", 127, false, false, "there is no sudo on the host",
                "install", false},
        Failure{"motd\nsudo: a password is required\n", 1, false, false,
                "sudo asks for a password there: sudo: a password is required", "NOPASSWD", false},
        Failure{"sudo: interactive authentication is required\n", 1, false, false, "asks for a password",
                "--ask-become-pass", false},
        Failure{"alice is not in the sudoers file.\n", 1, true, false, "may not use sudo", "sudoers", false},
        Failure{"Sorry, user alice is not allowed to execute '/bin/sh' as root on gpu01.\n", 1, false, false,
                "may not use sudo", "sudoers", false},
        Failure{"Sorry, user alice may not run sudo on gpu01.\n", 1, true, false, "may not use sudo",
                "sudoers", false},
        Failure{"sudo: sorry, you must have a tty to run sudo\n", 1, false, false, "wants a terminal",
                "requiretty", false},
        Failure{"Sorry, try again.\nsudo: no password was provided\nsudo: 1 incorrect password attempt\n", 1,
                true, true, "sudo refused the password", "no further host", true},
        Failure{"sudo: 1 incorrect password attempt\n", 1, true, false, "sudo refused the password", "",
                true},
        // It says so, and yet it asked again: the password was refused.
        Failure{"alice is not in the sudoers file.\nSorry, try again.\n", 1, true, true,
                "sudo refused the password", "", true},
        Failure{"sudo: echoed open-sesame-4711\n", 1, true, false, "sudo: echoed [password]", "", true},
        Failure{"sudo: The \"no new privileges\" flag is set\n", 1, false, false, "no new privileges",
                "by hand", false},
        Failure{"", 1, false, false, "sudo ran nothing and said nothing", "by hand", false},
        Failure{"\x1b[31msudo: \xff\n", 1, false, false, "\\x1B[31msudo: \\xFF", "", false}));

TEST(ExplainBecome, AHostThatWasNotOfferedAPasswordSaysWhere) {
    const auto secret = std::make_shared<SharedSecret>(password);
    SecretTurn turn(secret, "gpu02");
    RunOutput output;
    output.err = "sudo: a password is required\n";
    output.exit_status = 1;
    output.gate_passed = false;
    EXPECT_EQ(explain_become(output, turn, secret.get(), "the password was refused on gpu01: not tried here")
                  .message,
              "the password was refused on gpu01: not tried here");
}

// --- over a transport
// ---------------------------------------------------------------------------------------

class Becoming : public ::testing::Test {
  protected:
    void host(const std::string& name, const std::string& right) {
        sudos[name].right = right;
        (*fleet)[name].reply = [this, name](const Script& script) { return sudos[name].reply(script); };
    }
    void start(bool with_password = true) {
        if (with_password) secret = std::make_shared<SharedSecret>(password);
        transport = becoming(make_memory_transport(io, fleet), secret);
    }
    Awaitable<void> visit(std::string name, int runs) {
        Endpoint endpoint;
        endpoint.name = name;
        endpoint.become = true;
        auto connection = co_await transport->open(endpoint, Clock::now() + 60s);
        for (int i = 0; i < runs; ++i) {
            const Script script{"/bin/sh -s", "exit 0\n", {}};
            auto ran = co_await (*connection)->run(script, Limits{Clock::now() + time});
            results[name].push_back(std::move(ran));
            if (!results[name].back()) break;
        }
    }
    // Three runs; from the second on the host wants another password.
    Awaitable<void> visit_while_it_changes(std::string name) {
        Endpoint endpoint;
        endpoint.name = name;
        endpoint.become = true;
        auto connection = co_await transport->open(endpoint, Clock::now() + 60s);
        for (int i = 0; i < 3; ++i) {
            const Script script{"/bin/sh -s", "exit 0\n", {}};
            auto ran = co_await (*connection)->run(script, Limits{Clock::now() + time});
            results[name].push_back(std::move(ran));
            sudos[name].right = "another one";
        }
    }
    void visit_all(int runs = 1) {
        for (const auto& [name, host] : *fleet)
            boost::asio::co_spawn(io, visit(name, runs), [](std::exception_ptr thrown) {
                if (thrown) std::rethrow_exception(thrown);
            });
        io.run();
    }
    int wrong() const {
        int sum = 0;
        for (const auto& [name, sudo] : sudos) sum += sudo.wrong;
        return sum;
    }
    boost::asio::io_context io{1};
    std::shared_ptr<MemoryFleet> fleet = std::make_shared<MemoryFleet>();
    std::map<std::string, MemorySudo> sudos;
    std::shared_ptr<SharedSecret> secret;
    std::unique_ptr<Transport> transport;
    std::chrono::milliseconds time = 60s;
    std::map<std::string, std::vector<Result<RunOutput>>> results;
    std::string plain;
};

TEST_F(Becoming, ARightPasswordRunsEverywhereAndEveryTime) {
    for (const auto* name : {"gpu01", "gpu02", "gpu03"}) host(name, password);
    start();
    visit_all(3);
    for (const auto& [name, ran] : results) {
        ASSERT_EQ(ran.size(), 3u) << name;
        for (const auto& one : ran) {
            ASSERT_TRUE(one) << one.error().message;
            EXPECT_EQ(one->out, "ran\n") << "and not the line in front of the marker";
        }
        EXPECT_EQ(sudos[name].asked, 3);
    }
}

TEST_F(Becoming, AHostThatRefusesWhatItHasAcceptedIsNotGivenItASecondTime) {
    host("gpu01", password);
    start();
    boost::asio::co_spawn(io, visit_while_it_changes("gpu01"), [](std::exception_ptr thrown) {
        if (thrown) std::rethrow_exception(thrown);
    });
    io.run();
    EXPECT_EQ(wrong(), 1) << "as where the lock is given back behind a script that was refused";
    const auto& ran = results["gpu01"];
    EXPECT_TRUE(ran.at(0));
    EXPECT_FALSE(ran.at(1));
    ASSERT_FALSE(ran.at(2));
    EXPECT_THAT(ran.at(2).error().message, HasSubstr("refused on gpu01"));
}

TEST_F(Becoming, AWrongPasswordIsTriedOnOneOf64Hosts) {
    for (int i = 0; i < 64; ++i) host("gpu" + std::to_string(100 + i), "another");
    start();
    visit_all();
    EXPECT_EQ(wrong(), 1);
    int refused = 0, withheld = 0;
    for (const auto& [name, ran] : results) {
        ASSERT_FALSE(ran.front()) << name;
        EXPECT_EQ(ran.front().error().kind, "become_failed");
        refused += ran.front().error().message.starts_with("sudo refused the password") ? 1 : 0;
        withheld += ran.front().error().message.find("not tried here") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(withheld, 63);
}

TEST_F(Becoming, AHostWhoseSudoAsksForNothingIsNoneTheWorseForAWrongPassword) {
    host("gpu01", "another");
    start();
    visit_all();
    EXPECT_TRUE(secret->barred("gpu02"));
    fleet->erase("gpu01");
    host("gpu02", "");
    host("gpu03", password);
    io.restart();
    visit_all();
    EXPECT_TRUE(results["gpu02"].front());
    ASSERT_FALSE(results["gpu03"].front());
    EXPECT_EQ(results["gpu03"].front().error().message, "the password was refused on gpu01: not tried here");
    EXPECT_EQ(sudos["gpu03"].asked, 0) << "not even its prompt was reached";
}

TEST_F(Becoming, WithoutAPasswordAHostThatAsksFails) {
    host("gpu01", "any");
    host("gpu02", "");
    start(false);
    visit_all();
    ASSERT_FALSE(results["gpu01"].front());
    EXPECT_THAT(results["gpu01"].front().error().remedy, HasSubstr("NOPASSWD"));
    EXPECT_TRUE(results["gpu02"].front());
}

TEST_F(Becoming, ASudoThatNeverAnswersIsABecomeThatFailed) {
    (*fleet)["gpu01"].reply = [](const Script&) {
        MemoryReply hangs;
        hangs.talk = [](std::string_view, bool) { return Talk{}; };
        return hangs;
    };
    time = 50ms;
    start();
    visit_all();
    ASSERT_FALSE(results["gpu01"].front());
    EXPECT_EQ(results["gpu01"].front().error().kind, "become_failed");
    EXPECT_THAT(results["gpu01"].front().error().message, HasSubstr("neither asked"));
}

TEST_F(Becoming, ThePasswordIsHiddenInWhatIsShownAndEvidenceStaysAsItCame) {
    (*fleet)["gpu01"].reply = [](const Script& script) {
        MemoryReply echoes;
        const std::string marker = script.gate->marker;
        echoes.talk = [=](std::string_view, bool) {
            return Talk{"you typed " + password + "\n" + marker + "\n", "", true};
        };
        echoes.out = "process " + password + "\n";
        echoes.err = "sh: 1: " + password + ": not found\n";
        return echoes;
    };
    start();
    visit_all();
    const auto& ran = results["gpu01"].front();
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->err, "sh: 1: [password]: not found\n");
    EXPECT_EQ(ran->out, "you typed [password]\nprocess " + password + "\n");
}

TEST_F(Becoming, WhatALoginFilePrintedBeforeStaysAsItCame) {
    (*fleet)["gpu01"].reply = [](const Script& script) {
        MemoryReply noisy;
        const std::string marker = script.gate->marker;
        noisy.talk = [=](std::string_view, bool) { return Talk{"motd\nno end\n" + marker + "\n", "", true}; };
        noisy.out = "ran\n";
        return noisy;
    };
    start();
    visit_all();
    EXPECT_EQ(results["gpu01"].front()->out, "motd\nno end\nran\n");
}

TEST_F(Becoming, AnEndpointThatDoesNotBecomeRunsAsItIs) {
    (*fleet)["gpu01"].reply = [](const Script& script) {
        MemoryReply echo;
        echo.out = script.command + (script.gate ? "gate" : "");
        return echo;
    };
    start();
    Endpoint endpoint;
    endpoint.name = "gpu01";
    boost::asio::co_spawn(
        io,
        [](Transport& over, Endpoint where, std::string& out) -> Awaitable<void> {
            auto connection = co_await over.open(where, Clock::now() + 60s);
            const Script script;
            const auto ran = co_await (*connection)->run(script, Limits{Clock::now() + 60s});
            out = ran->out;
        }(*transport, endpoint, plain),
        [](std::exception_ptr) {});
    io.run();
    EXPECT_EQ(plain, "/bin/sh -s");
}

}  // namespace
}  // namespace cleanslate::agentless
