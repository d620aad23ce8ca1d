#include "controller/passwords.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "agentless/shared_secret.hpp"
#include "command_line.hpp"
#include "controller/settings.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;

std::vector<agentless::HostTask> two_hosts(bool second_becomes) {
    std::vector<agentless::HostTask> tasks(2);
    tasks[0].host.name = "gpu01";
    tasks[1].host.name = "gpu02";
    if (second_becomes) tasks[1].host.become = true;
    return tasks;
}

struct Asked {
    std::vector<std::string> questions;
    agentless::Reach reach;
    Status status;
};

Asked fill(const Words& words, const std::vector<agentless::HostTask>& tasks,
           const std::vector<Result<std::string>>& answers = {std::string("geheim")}) {
    Asked asked;
    asked.status = fill_passwords(read(words), tasks, asked.reach, [&](const SecretQuestion& question) {
        asked.questions.push_back(question.text);
        return answers.at(asked.questions.size() - 1);
    });
    return asked;
}

std::optional<std::string> text_of(const std::shared_ptr<agentless::SharedSecret>& secret) {
    if (secret == nullptr) return std::nullopt;
    return secret->password();
}

TEST(BecomePassword, IsAskedOnceAndOnlyWhereItIsAskedFor) {
    const Asked asked = fill({"check", "-i", "x", "--become", "--ask-become-pass"}, two_hosts(false));
    EXPECT_EQ(asked.questions, Words{"Password of sudo on 2 hosts: "});
    EXPECT_EQ(text_of(asked.reach.become_password), "geheim");
    const Asked not_asked = fill({"check", "-i", "x", "--become"}, two_hosts(true));
    EXPECT_TRUE(not_asked.questions.empty());
    EXPECT_EQ(text_of(not_asked.reach.become_password), std::nullopt);
}

TEST(BecomePassword, IsForHostsWhoseInventorySaysThatTheyBecome) {
    const Asked asked = fill({"check", "-i", "x", "--ask-become-pass"}, two_hosts(true));
    EXPECT_EQ(asked.questions, Words{"Password of sudo on 1 host: "});
    EXPECT_EQ(text_of(asked.reach.become_password), "geheim");
}

TEST(BecomePassword, IsAUsageErrorWhereNoHostBecomes) {
    const Asked asked = fill({"check", "-i", "x", "--ask-become-pass"}, two_hosts(false));
    EXPECT_TRUE(asked.questions.empty());
    ASSERT_FALSE(asked.status);
    EXPECT_EQ(asked.status.error().kind, "usage");
    EXPECT_THAT(asked.status.error().message, HasSubstr("no selected host becomes root"));
}

TEST(BecomePassword, ThatCouldNotBeHadIsTheErrorThatSaysWhy) {
    const Asked asked =
        fill({"check", "-i", "x", "--ask-become-pass"}, two_hosts(true), {fail("usage", "interrupted")});
    ASSERT_FALSE(asked.status);
    EXPECT_EQ(asked.status.error().message, "interrupted");
    EXPECT_EQ(text_of(asked.reach.become_password), std::nullopt);
}

// Whoever interrupts a question wants nothing to be contacted.
TEST(PrepareReach, EndsWhereAPassphrasesQuestionIsInterrupted) {
    if (std::system("command -v ssh-keygen >/dev/null") != 0) GTEST_SKIP() << "needs ssh-keygen";
    const TemporaryFolder folder;
    agentless::Reach reach;
    reach.ssh_config = "none";
    for (const char* name : {"one", "two"}) {
        const std::string file = folder.file(name);
        ASSERT_EQ(std::system(("ssh-keygen -q -t ed25519 -a 1 -N secret -f " + file).c_str()), 0);
        reach.identity_files.push_back(file);
    }
    int questions = 0;
    const auto interrupts = [&](const SecretQuestion&) -> Result<std::string> {
        ++questions;
        return fail("interrupted", "passphrase: interrupted; no host was contacted");
    };
    const Status interrupted = prepare_reach(reach, two_hosts(false), interrupts);
    ASSERT_FALSE(interrupted);
    EXPECT_EQ(interrupted.error().kind, "interrupted");
    EXPECT_EQ(questions, 1);
    EXPECT_EQ(reach.ssh, nullptr);

    const auto says_nothing = [](const SecretQuestion&) -> Result<std::string> { return std::string(); };
    const Status silent = prepare_reach(reach, two_hosts(false), says_nothing);
    ASSERT_FALSE(silent);
    EXPECT_THAT(silent.error().message, HasSubstr("no passphrase was given"));

    const auto knows = [](const SecretQuestion&) -> Result<std::string> { return std::string("secret"); };
    const Status prepared = prepare_reach(reach, two_hosts(false), knows);
    EXPECT_TRUE(prepared) << prepared.error().message;
    EXPECT_NE(reach.ssh, nullptr);
}

TEST(Password, OfTheLoginIsAskedForOnce) {
    const Asked asked = fill({"check", "-i", "x", "--ask-pass"}, two_hosts(false));
    EXPECT_EQ(asked.questions, Words{"Password of the login on 2 hosts: "});
    EXPECT_EQ(text_of(asked.reach.password), "geheim");
    EXPECT_EQ(text_of(asked.reach.become_password), std::nullopt);
}

TEST(Password, OfTheLoginIsNoUseWhereNobodyLogsIn) {
    const Asked asked = fill({"check", "--local", "--ask-pass"}, two_hosts(false));
    EXPECT_TRUE(asked.questions.empty());
    ASSERT_FALSE(asked.status);
    EXPECT_THAT(asked.status.error().message, HasSubstr("nobody logs in"));
}

TEST(Passwords, AreAskedForOneAfterTheOther) {
    const Words words{"check", "-i", "x", "--become", "--ask-become-pass", "--ask-pass"};
    const Asked asked = fill(words, two_hosts(false), {std::string("eins"), std::string("zwei")});
    EXPECT_EQ(asked.questions, (Words{"Password of the login on 2 hosts: ",
                                      "Password of sudo on 2 hosts (empty: the one of the login): "}));
    EXPECT_EQ(text_of(asked.reach.password), "eins");
    EXPECT_EQ(text_of(asked.reach.become_password), "zwei");
}

TEST(Passwords, AreOneWhereSudosIsLeftEmptyButWhatIsKnownOfEachIsNot) {
    const Words words{"check", "-i", "x", "--become", "--ask-become-pass", "--ask-pass"};
    const Asked asked = fill(words, two_hosts(false), {std::string("eins"), std::string()});
    EXPECT_EQ(text_of(asked.reach.password), "eins");
    EXPECT_EQ(text_of(asked.reach.become_password), "eins");
    EXPECT_NE(asked.reach.password, asked.reach.become_password);
}

TEST(Become, ReachesTheFleetAndNothingButTheFlagTurnsItOn) {
    EXPECT_TRUE(reach_for(read({"check", "-i", "x", "--become"}), {}).become);
    EXPECT_FALSE(reach_for(read({"check", "-i", "x", "--ask-become-pass"}), {}).become);
}

}  // namespace
}  // namespace cleanslate::controller::testing
