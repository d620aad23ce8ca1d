#include "agentless/ssh/keyboard_dialogue.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless::ssh {
namespace {

using Reply = KeyboardDialogue::Reply;

TEST(KeyboardDialogue, AnswersOnePromptForThePasswordOnce) {
    KeyboardDialogue dialogue;
    EXPECT_EQ(dialogue.asked("", "", {}), Reply::nothing) << "PAM's rounds without prompts";
    EXPECT_EQ(dialogue.asked("", "", {{"Password: ", false}}), Reply::password);
    EXPECT_TRUE(dialogue.was_given());
    EXPECT_EQ(dialogue.asked("", "", {}), Reply::nothing);
    EXPECT_EQ(dialogue.asked("", "", {{"Password: ", false}}), Reply::again);
}

TEST(KeyboardDialogue, KnowsAPromptForThePassword) {
    for (const char* text :
         {"Password: ", "password:", "alice@otp.new.example's password: ", "Passwort: ",
          "(root@gpu-code01.example) Password: ", "Mot de passe : ", "Пароль: ", "Enter your UNIX password:"})
        EXPECT_TRUE(asks_for_password({text, false})) << text;
}

TEST(KeyboardDialogue, KnowsWhatIsAnothersPrompt) {
    for (const char* text :
         {"One-time password (OATH) for `alice': ", "Verification code: ", "Enter PASSCODE:",
          "Current password: ", "New password: ", "Retype new password: ", "(current) UNIX password: ",
          "Password + token: ", "Passcode or option (1-3): ", "Password (second factor): ", "", "Name: "})
        EXPECT_FALSE(asks_for_password({text, false})) << text;
    EXPECT_FALSE(asks_for_password({"Password: ", true})) << "what is shown is no password";
    EXPECT_FALSE(asks_for_password({"Password" + std::string(500, ' '), false}));
}

TEST(KeyboardDialogue, NamesWhatItDoesNotAnswer) {
    KeyboardDialogue one;
    EXPECT_EQ(one.asked("Duo", "Two factors", {{"Passcode\x1b[2J: ", true}}), Reply::unknown);
    EXPECT_EQ(one.unanswered(), "\"Passcode\\x1B[2J:\"");
    EXPECT_FALSE(one.was_given());
    EXPECT_NE(one.said().find("Two factors"), std::string::npos);

    KeyboardDialogue two;
    EXPECT_EQ(two.asked("", "", {{"Password: ", false}, {"Token: ", false}}), Reply::unknown);
    EXPECT_EQ(two.unanswered(), "\"Password: / Token:\"");
    EXPECT_FALSE(two.was_given());

    KeyboardDialogue many;
    many.asked("", std::string(100'000, 'x'), std::vector<Prompt>(100, {std::string(1000, 'y'), false}));
    EXPECT_LT(many.unanswered().size(), 200u);
    EXPECT_LT(many.said().size(), 10'000u);
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
