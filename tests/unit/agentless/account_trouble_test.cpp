#include "agentless/account_trouble.hpp"

#include <gtest/gtest.h>

#include "agentless/findings.hpp"
#include "agentless/host_answer.hpp"

namespace cleanslate::agentless {
namespace {

TEST(AccountTrouble, IsReadFromWhatHostsSay) {
    const std::pair<const char*, const char*> texts[] = {
        {"WARNING: Your password has expired.\nPassword change required but no TTY available.\n",
         "password-expired"},
        {"You are required to change your password immediately (administrator enforced).",
         "password-expired"},
        {"You must change your password now and login again!\n", "password-expired"},
        {"sudo: Account or password is expired, reset your password and try again\n", "password-expired"},
        {"Your account has expired; please contact your system administrator.\n", "account-expired"},
        {"Account expired", "account-expired"},
        {"The account is locked due to 3 failed logins.\r\n(9 minutes left to unlock)\r\n", "account-locked"},
        {"sudo: account validation failure, is your account locked?\n", "account-locked"},
        {"\"System is booting up. Unprivileged users are not permitted to log in yet. Please come back "
         "later.\"",
         "logins-closed"},
        {"System is going down. For technical details, see pam_nologin(8).", "logins-closed"},
        {"This account is currently not available.\n", "no-shell"},
        {"This service allows sftp connections only.\n", "no-shell"},
        {"Please login as the user \"ubuntu\" rather than the user \"root\".\n", "root-login-refused"},
        {"motd\nThis ACCOUNT is CURRENTLY not available.\n", "no-shell"},
    };
    for (const auto& [text, code] : texts) EXPECT_EQ(account_trouble(text), code) << text;
}

TEST(AccountTrouble, IsNotReadFromOtherTexts) {
    for (const char* text : {"", "\n\n", "Welcome to Ubuntu 24.04", "sh: 1: cleanslate: not found",
                             "Warning: your password will expire in 6 days.", "Last login: Mon Nov 30"})
        EXPECT_EQ(account_trouble(text), "") << text;
}

TEST(AccountTrouble, IsAnErrorThatShowsTheLineAndTheFindingsOwnRemedy) {
    const auto error = account_error({"",
                                      "hello\nYour account has \x1b"
                                      "expired\nYour account has expired!\n"});
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind, "account_expired");
    EXPECT_EQ(error->message, "the account has expired; the host says: Your account has expired!");
    EXPECT_FALSE(error->remedy.empty());
    EXPECT_FALSE(account_error({"nothing", "of it"}));
}

TEST(AccountTrouble, IsAFindingUnderTheErrorsName) {
    for (const char* code : {"root-login-refused", "password-expired", "account-expired", "account-locked",
                             "logins-closed", "no-shell"}) {
        const Error error = account_error(code, "because");
        EXPECT_EQ(finding_code_of(error), code);
        EXPECT_EQ(finding(code, error.message).severity, Severity::unknown);
    }
    EXPECT_EQ(finding_code_of({"auth_failed", "", "", ""}), "");
    EXPECT_EQ(finding_code_of({"respawned", "", "", ""}), "") << "a finding of another kind";
}

TEST(AccountTrouble, IsWhyAScriptWasNotAnswered) {
    RunOutput output;
    output.err = "WARNING: Your password has expired.\n";
    output.exit_status = 1;
    EXPECT_EQ(not_our_output(output, "no begin record").kind, "password_expired");
    output.err = "something else\n";
    EXPECT_EQ(not_our_output(output, "no begin record").kind, "protocol");
}

}  // namespace
}  // namespace cleanslate::agentless
