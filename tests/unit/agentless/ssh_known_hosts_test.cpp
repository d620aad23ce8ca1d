#include "agentless/ssh/known_hosts.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using Answer = HostKeyMatch::Answer;

std::string blob(const std::string& type, const std::string& secret) {
    std::string bytes;
    put_text(bytes, type);
    put_text(bytes, secret);
    return bytes;
}
std::string ed(const std::string& secret) { return blob("ssh-ed25519", secret); }
std::string line(const std::string& names, const std::string& key) {
    return names + " " + std::string(key_type(key)) + " " + encode_base64(key) + "\n";
}

KnownHosts index(const std::string& text) {
    KnownHosts hosts;
    hosts.read(text, "known_hosts");
    return hosts;
}
HostKeyMatch match(const KnownHosts& hosts, const std::string& host, const std::string& key,
                   std::uint16_t port = 22) {
    return match_host_key(hosts.find(host, port), key);
}

TEST(SshKnownHosts, knows_a_plain_name) {
    const KnownHosts hosts = index(line("gpu01", ed("one")));
    EXPECT_EQ(match(hosts, "gpu01", ed("one")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu02", ed("one")).answer, Answer::unknown);
    EXPECT_EQ(match(hosts, "gpu0", ed("one")).answer, Answer::unknown);
}

TEST(SshKnownHosts, knows_each_name_of_a_list_in_any_case) {
    const KnownHosts hosts = index(line("gpu01,GPU01.example.com,10.0.0.1", ed("one")));
    for (const char* name : {"gpu01", "Gpu01.Example.com", "10.0.0.1"}) {
        EXPECT_EQ(match(hosts, name, ed("one")).answer, Answer::known) << name;
    }
}

TEST(SshKnownHosts, a_changed_key_names_the_place_of_the_old_one) {
    const KnownHosts hosts = index("# fleet\n\n" + line("gpu01", ed("one")));
    const HostKeyMatch found = match(hosts, "gpu01", ed("two"));
    EXPECT_EQ(found.answer, Answer::changed);
    ASSERT_NE(found.key, nullptr);
    EXPECT_EQ(found.key->place(), "known_hosts:3");
    EXPECT_EQ(found.key->blob, ed("one"));
}

TEST(SshKnownHosts, several_keys_of_one_type_are_all_good) {
    const KnownHosts hosts = index(line("gpu01", ed("one")) + line("gpu01", ed("two")));
    EXPECT_EQ(match(hosts, "gpu01", ed("one")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu01", ed("two")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu01", ed("three")).answer, Answer::changed);
}

TEST(SshKnownHosts, a_key_of_another_type_is_told_apart_from_a_changed_one) {
    const KnownHosts hosts = index(line("gpu01", blob("ssh-rsa", "one")));
    EXPECT_EQ(match(hosts, "gpu01", ed("two")).answer, Answer::other_type);
}

TEST(SshKnownHosts, revoked_comes_first_wherever_it_stands) {
    for (const std::string& text : {line("gpu01", ed("one")) + "@revoked " + line("*", ed("one")),
                                    "@revoked " + line("gpu01", ed("one")) + line("gpu01", ed("one"))}) {
        EXPECT_EQ(match(index(text), "gpu01", ed("one")).answer, Answer::revoked);
    }
    const KnownHosts hosts = index("@revoked " + line("gpu01", ed("one")));
    EXPECT_EQ(match(hosts, "gpu02", ed("one")).answer, Answer::unknown);
    EXPECT_EQ(match(hosts, "gpu01", ed("two")).answer, Answer::unknown)
        << "a revoked key makes no other one changed";
}

TEST(SshKnownHosts, patterns_and_negation) {
    const KnownHosts hosts = index(line("*.example.com,!bad.example.com,gpu?", ed("one")));
    EXPECT_EQ(match(hosts, "a.b.example.com", ed("one")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "GPU7", ed("one")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu77", ed("one")).answer, Answer::unknown);
    EXPECT_EQ(match(hosts, "bad.example.com", ed("one")).answer, Answer::unknown);
    EXPECT_EQ(match(hosts, "example.com", ed("one")).answer, Answer::unknown);
}

TEST(SshKnownHosts, a_list_of_negations_matches_nothing) {
    const KnownHosts hosts = index(line("!gpu01", ed("one")));
    EXPECT_EQ(match(hosts, "gpu01", ed("one")).answer, Answer::unknown);
    EXPECT_EQ(match(hosts, "gpu02", ed("one")).answer, Answer::unknown);
}

TEST(SshKnownHosts, names_with_a_port) {
    const KnownHosts hosts = index(line("[gpu01]:2222", ed("one")) + line("[fe80::1]:22022", ed("six")));
    EXPECT_EQ(match(hosts, "gpu01", ed("one"), 2222).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu01", ed("two"), 2222).answer, Answer::changed);
    EXPECT_EQ(match(hosts, "gpu01", ed("one"), 22).answer, Answer::unknown);
    EXPECT_EQ(match(hosts, "gpu01", ed("one"), 2223).answer, Answer::unknown);
    EXPECT_EQ(match(hosts, "fe80::1", ed("six"), 22022).answer, Answer::known);
}

TEST(SshKnownHosts, a_name_without_port_can_vouch_for_another_port_but_not_against_it) {
    const KnownHosts hosts = index(line("gpu01", ed("one")) + "@revoked " + line("gpu01", ed("bad")));
    EXPECT_EQ(match(hosts, "gpu01", ed("one"), 2222).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu01", ed("two"), 2222).answer, Answer::unknown);
    EXPECT_EQ(match(hosts, "gpu01", ed("bad"), 2222).answer, Answer::revoked);
}

TEST(SshKnownHosts, hashed_names) {
    // "gpu01" and "[gpu02]:2222", hashed as ssh-keygen -H does.
    const std::string first = "|1|AQIDBAUGBwgJCgsMDQ4PEBESExQ=|UZ7YM2xLUTe90vx87JIR0gK6/dM=";
    const std::string second = "|1|AgMEBQYHCAkKCwwNDg8QERITFBU=|nOKwVmqDaow83vU2E7H4iKVhXcg=";
    const KnownHosts hosts = index(line(first, ed("one")) + line(second, ed("two")));
    EXPECT_EQ(match(hosts, "gpu01", ed("one")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "GPU01", ed("one")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu01", ed("other")).answer, Answer::changed);
    EXPECT_EQ(match(hosts, "gpu02", ed("two"), 2222).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu02", ed("two")).answer, Answer::unknown);
}

TEST(SshKnownHosts, crlf_blanks_tabs_and_comments_do_no_harm) {
    std::string entry = line("gpu01", ed("one"));
    entry.pop_back();
    const KnownHosts hosts = index("\r\n  # a comment\r\n\t" + entry + "\tand a comment\r\n");
    EXPECT_EQ(match(hosts, "gpu01", ed("one")).answer, Answer::known);
    EXPECT_TRUE(hosts.notes().empty());
}

TEST(SshKnownHosts, the_last_line_needs_no_newline) {
    std::string entry = line("gpu01", ed("one"));
    entry.pop_back();
    EXPECT_EQ(match(index(entry), "gpu01", ed("one")).answer, Answer::known);
}

TEST(SshKnownHosts, one_and_two_letter_names_are_names) {
    EXPECT_EQ(match(index(line("a,bb", ed("one"))), "a", ed("one")).answer, Answer::known);
    EXPECT_EQ(match(index(line("a,bb", ed("one"))), "bb", ed("one")).answer, Answer::known);
}

TEST(SshKnownHosts, lines_that_make_no_sense_are_noted_with_their_place_and_passed_over) {
    const KnownHosts hosts = index(
        "gpu01\n"
        "gpu01 ssh-ed25519\n"
        "gpu01 ssh-ed25519 %%%%\n" +
        line("gpu01", blob("ssh-rsa", "x")).replace(6, 7, "ssh-dss") +
        "gpu01 1024 35 1234567\n"
        "@what " +
        line("gpu01", ed("w")) + line("|1|abc|def", ed("h")) + "@revoked\n" + line("gpu01", ed("good")));
    EXPECT_EQ(hosts.notes().size(), 8u);
    EXPECT_EQ(hosts.notes().front(), "known_hosts:1: passed over: a line needs names, a key type and a key");
    EXPECT_EQ(hosts.notes()[5], "known_hosts:6: passed over: unknown marker @what");
    EXPECT_EQ(match(hosts, "gpu01", ed("good")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu01", ed("w")).answer, Answer::changed);
}

TEST(SshKnownHosts, an_authority_makes_its_own_key_nobodys) {
    const KnownHosts hosts = index("# fleet\n@cert-authority " + line("*.example.com", ed("ca")) +
                                   line("gpu01.example.com", ed("one")));
    EXPECT_TRUE(hosts.notes().empty());
    EXPECT_EQ(match(hosts, "gpu01.example.com", ed("one")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu01.example.com", ed("ca")).answer, Answer::changed);
    const HostKeyMatch alone = match(hosts, "gpu02.example.com", ed("two"));
    EXPECT_EQ(alone.answer, Answer::authority);
    ASSERT_NE(alone.key, nullptr);
    EXPECT_EQ(alone.key->place(), "known_hosts:2");
    EXPECT_EQ(match(hosts, "gpu02.example.com", ed("ca")).answer, Answer::authority);
    EXPECT_EQ(match(hosts, "gpu02", ed("two")).answer, Answer::unknown);
    EXPECT_EQ(host_key_algorithms(hosts.find("gpu02.example.com", 22)), host_key_algorithms({}))
        << "its type is not asked for";
}

TEST(SshKnownHosts, an_authority_without_the_port_says_nothing_of_another_port) {
    const KnownHosts hosts = index("@cert-authority " + line("gpu01", ed("ca")) + "@cert-authority " +
                                   line("[gpu02]:2222", ed("ca")) + "@cert-authority " +
                                   line("*.example.com", ed("ca")) + line("gpu03.example.com", ed("three")));
    EXPECT_EQ(match(hosts, "gpu01", ed("one"), 2222).answer, Answer::unknown);
    EXPECT_EQ(match(hosts, "gpu02", ed("two"), 2222).answer, Answer::authority);
    EXPECT_EQ(match(hosts, "gpu03.example.com", ed("three"), 2222).answer, Answer::known);
}

TEST(SshKnownHosts, a_key_that_was_cut_in_the_middle_is_damaged_and_not_a_changed_one) {
    const std::string whole = line("gpu01", ed("a key of some length"));
    for (std::size_t cut = 4; cut < 20; cut += 4) {
        const KnownHosts hosts = index(whole.substr(0, whole.size() - 1 - cut));
        EXPECT_EQ(match(hosts, "gpu01", ed("two")).answer, Answer::unknown) << cut;
        EXPECT_EQ(hosts.notes().size(), 1u) << cut;
    }
}

TEST(SshKnownHosts, a_type_that_nobody_has_heard_of_is_a_key_all_the_same) {
    const KnownHosts hosts = index(line("gpu01", blob("ssh-of-2040", "x")));
    EXPECT_TRUE(hosts.notes().empty());
    EXPECT_EQ(match(hosts, "gpu01", ed("one")).answer, Answer::other_type);
    EXPECT_EQ(match(hosts, "gpu01", blob("ssh-of-2040", "x")).answer, Answer::known);
    EXPECT_EQ(host_key_algorithms(hosts.find("gpu01", 22)).front(), "ssh-ed25519");
}

TEST(SshKnownHosts, a_line_may_be_of_any_length) {
    std::string names;
    for (int i = 0; i < 20000; ++i) names += "gpu" + std::to_string(i) + ",";
    const KnownHosts hosts = index(line(names + "last", ed("one")));
    EXPECT_EQ(match(hosts, "last", ed("one")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu19999", ed("one")).answer, Answer::known);
}

TEST(SshKnownHosts, notes_do_not_grow_with_a_file_of_rubbish) {
    std::string rubbish;
    for (int i = 0; i < 10000; ++i) rubbish += "rubbish\n";
    EXPECT_EQ(index(rubbish).notes().size(), 11u);
}

TEST(SshKnownHosts, several_files_add_up) {
    KnownHosts hosts;
    hosts.read(line("gpu01", ed("one")), "a");
    hosts.read(line("gpu01", ed("two")), "b");
    EXPECT_EQ(match(hosts, "gpu01", ed("one")).answer, Answer::known);
    EXPECT_EQ(match(hosts, "gpu01", ed("two")).key->place(), "b:1");
}

TEST(SshKnownHosts, a_pattern_of_stars_is_matched_in_time) {
    std::string stars(2000, '*');
    for (std::size_t i = 1; i < stars.size(); i += 2) stars[i] = 'a';
    const KnownHosts hosts = index(line(stars + "b", ed("one")));
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(match(hosts, std::string(4000, 'a'), ed("one")).answer, Answer::unknown);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

TEST(SshKnownHosts, known_types_are_asked_for_first) {
    const KnownHosts hosts =
        index(line("gpu01", blob("ecdsa-sha2-nistp384", "x")) + line("gpu02", blob("ssh-rsa", "x")) +
              "@revoked " + line("gpu01", blob("ssh-rsa", "bad")));
    EXPECT_EQ(host_key_algorithms(hosts.find("gpu01", 22)).front(), "ecdsa-sha2-nistp384");
    EXPECT_EQ(host_key_algorithms(hosts.find("gpu01", 22))[1], "ssh-ed25519");
    EXPECT_EQ(host_key_algorithms(hosts.find("gpu02", 22)).front(), "rsa-sha2-512");
    EXPECT_EQ(host_key_algorithms(hosts.find("gpu03", 22)).front(), "ssh-ed25519");
    EXPECT_EQ(host_key_algorithms(hosts.find("gpu03", 22)).size(), 7u);
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
