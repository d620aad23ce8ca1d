#include "agentless/ssh/ssh_config_tokens.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cleanslate::agentless::ssh {
namespace {

const TokenValues values{
    "/home/op", "gpu01.example.com", "1000", "alias", "laptop", "laptop.lan", "gpu01", "2200", "root", "op"};

std::string shown(const Result<std::string>& text) {
    return text ? *text : "refused: " + text.error().message;
}

TEST(SshConfigTokens, AreReplacedOnceEach) {
    EXPECT_EQ(shown(expand_tokens("%d %h %i %k %L %l %n %p %r %u %%", "dhikLlnpru", values)),
              "/home/op gpu01.example.com 1000 alias laptop laptop.lan gpu01 2200 root op %");
    TokenValues odd = values;
    odd.host_name = "%n";
    EXPECT_EQ(shown(expand_tokens("%h%%h", "hn", odd)), "%n%h") << "what came in is not looked at again";
    EXPECT_EQ(shown(expand_tokens("${HOME} ~", "", values)), "${HOME} ~");
}

TEST(SshConfigTokens, UnknownOnesAreNamed) {
    EXPECT_EQ(shown(expand_tokens("a%qb", "h", values)), "refused: unknown token %q");
    EXPECT_EQ(shown(expand_tokens("a%", "h", values)), "refused: unknown token %");
    EXPECT_EQ(shown(expand_tokens("%p", "h", values)), "refused: unknown token %p") << "not in this keyword";
    EXPECT_EQ(shown(expand_tokens("%\x1b", "h", values)), "refused: unknown token %\\x1B");
    EXPECT_EQ(expand_tokens("%q", "hp", values).error().remedy,
              "write %% for a percent sign; here are %% %h %p");
}

TEST(SshConfigTokens, VariablesComeFromTheEnvironment) {
    ASSERT_EQ(setenv("CLEANSLATE_A", "x%hy", 1), 0);
    ASSERT_EQ(unsetenv("CLEANSLATE_B"), 0);
    EXPECT_EQ(shown(expand_tokens_and_environment("${CLEANSLATE_A}/%n/$CLEANSLATE_A", "n", values)),
              "x%hy/gpu01/$CLEANSLATE_A");
    EXPECT_EQ(shown(expand_tokens_and_environment("${CLEANSLATE_B}", "", values)),
              "refused: the environment variable ${CLEANSLATE_B} is not set");
    EXPECT_EQ(shown(expand_tokens_and_environment("${CLEANSLATE_A", "", values)), "refused: ${ without }");
    EXPECT_EQ(shown(expand_tokens_and_environment("${}", "", values)),
              "refused: the environment variable ${} is not set");
}

TEST(SshConfigTokens, ATildeIsAHome) {
    EXPECT_EQ(shown(expand_tilde("~/k", "/home/op")), "/home/op/k");
    EXPECT_EQ(shown(expand_tilde("~", "/home/op/")), "/home/op/");
    EXPECT_EQ(shown(expand_tilde("a/~/k", "/home/op")), "a/~/k");
    EXPECT_EQ(shown(expand_tilde("~root/k", "/home/op")), "/root/k");
    EXPECT_EQ(shown(expand_tilde("~nobody-of-this-name/k", "/home/op")),
              "refused: there is no user nobody-of-this-name whose home directory is asked for");
}

TEST(SshConfigTokens, WhatAShellWouldActOnIsNotSafeForIt) {
    for (const auto* text : {"gpu01", "10.0.0.1", "2001:db8::1", "fe80::1%eth0", "DOMAIN\\root", "a@b"})
        EXPECT_TRUE(is_safe_for_shell(text)) << text;
    for (const auto* text : {"", "-oProxyCommand=x", "a b", "a;b", "$(id)", "`id`", "a|b", "a&b", "a>b",
                             "'a'", "\"a\"", "a\\", "a\nb"})
        EXPECT_FALSE(is_safe_for_shell(text)) << text;
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
