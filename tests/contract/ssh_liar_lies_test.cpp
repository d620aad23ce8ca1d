// Servers that keep to the order of SSH and lie about something: each lie by name, and what comes of it.

#include "tests/contract/lies.hpp"

#include <poll.h>

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;
using liar::Conversation;
using liar::kexinit_of;
using liar::Stage;

const std::string hostile(liar::hostile_text);

// Without end, many at once.
void repeat(Conversation& c, const std::string& payload) {
    for (;;) {
        std::string packets;
        while (packets.size() < 60000) packets += c.packets().packed(payload);
        c.packets().send_raw(packets);
    }
}

void say_nothing_of_note(Conversation& c, Stage, std::string&) {
    if (!c.is_protected()) return;
    c.packets().send(ignored(1000));
    c.packets().send(debugging(hostile));
}

void drip(Conversation& c, Stage stage, std::string& own) {
    if (stage != Stage::greeting) return;
    for (const char byte : own) c.packets().send_raw({&byte, 1});
    own.clear();
}

TEST(SshLies, what_a_server_may_say_in_between_changes_nothing) {
    using enum Stage;
    const std::vector<Lie> lies{
        {"ignore-and-debug-messages", say_nothing_of_note},
        {"greeting-byte-by-byte", drip},
        {"lines-before-the-greeting",
         before(greeting, [](Conversation& c) { c.packets().send_raw("welcome\r\n" + hostile); })},
        {"banner-of-30-KB",
         before(key_ok, [](Conversation& c) { c.packets().send(banner(std::string(30000, 'b'))); })},
        {"hostile-banner", before(key_ok, [](Conversation& c) { c.packets().send(banner(hostile)); })},
        {"let-in-without-a-signature", instead(key_ok, of_type(message::auth_success))},
        {"keepalives-in-the-output", before(rest,
                                            [](Conversation& c) {
                                                for (int i = 0; i < 10; ++i)
                                                    c.packets().send(global_request("keepalive@openssh.com"));
                                            })},
        {"rekey-in-the-output", before(rest, [](Conversation& c) { c.rekey(); })},
        {"rekey-before-the-session", before(channel, [](Conversation& c) { c.rekey(); })},
        {"unknown-message", before(rest, [](Conversation& c) { c.packets().send(of_type(110)); })},
        {"data-for-no-channel",
         before(rest, [](Conversation& c) { c.packets().send(data_for(4242, "clean")); })},
        {"channel-of-its-own", before(rest, [](Conversation& c) { c.packets().send(channel_open("x11")); })},
        {"window-of-more-than-4-GiB", before(rest,
                                             [](Conversation& c) {
                                                 for (int i = 0; i < 3; ++i)
                                                     c.packets().send(widened(c, 0xffffffff));
                                             })},
        {"packets-of-one-byte",
         instead(channel, [](Conversation& c) { return confirmation(c, 1u << 20, 1); })},
        {"two-answers-to-one-request",
         before(exec, [](Conversation& c) { c.packets().send(c.to_channel(message::channel_success)); })},
        {"data-after-the-end", before(exit_status, [](Conversation& c) { c.packets().send(c.data("\n")); })},
        {"no-exit-status", without({exit_status})},
        {"close-without-eof", without({eof})},
    };
    check(lies, 30s);
}

TEST(SshLies, a_handshake_that_proves_nothing_fails) {
    using enum Stage;
    const Expected no_key{Verdict::unreachable, "handshake_failed", "handshake", "went wrong"};
    const Expected outdated{Verdict::unreachable, "handshake_failed", "handshake", "no algorithm in common"};
    const auto other_key = [key = liar::Key()](Conversation& c, Stage stage, std::string& own) {
        if (stage != kex_reply) return;
        const std::string shown = c.host_key().blob();
        own.replace(own.find(shown), shown.size(), key.blob());
    };
    const auto forged = [](Conversation&, Stage stage, std::string& own) {
        if (stage == kex_reply) own.back() ^= 1;
    };
    const auto cut = [](Conversation&, Stage stage, std::string& own) {
        if (stage == kexinit) own.resize(30);
    };
    const auto too_long = [](Conversation&, Stage stage, std::string& own) {
        if (stage == kexinit) own.replace(17, 4, "\xff\xff\xff\xf0");
    };
    const std::string empty_reply = of_type(message::kex_reply) + std::string(12, '\0');
    const std::vector<Lie> lies{
        {"forged-signature", forged, no_key},
        {"key-of-another", other_key, no_key},
        {"no-key", instead(kex_reply, empty_reply), no_key},
        {"key-of-4-GiB", instead(kex_reply, of_type(message::kex_reply) + "\xff\xff\xff\xff"), no_key},
        {"list-cut", cut, no_key},
        {"list-of-4-GiB", too_long, no_key},
        {"greeting-of-10-KB", instead(greeting, "SSH-2.0-" + std::string(10000, 'x') + "\r\n"), no_key},
        {"old-key-exchange", instead(kexinit, kexinit_of({.kex = "diffie-hellman-group1-sha1"})), outdated},
        {"old-host-key", instead(kexinit, kexinit_of({.host_key = "ssh-dss"})), outdated},
        {"old-cipher", instead(kexinit, kexinit_of({.cipher = "aes128-cbc,3des-cbc,arcfour"})), outdated},
        {"old-mac", instead(kexinit, kexinit_of({.mac = "hmac-md5,hmac-sha1-96"})), outdated},
        {"no-cipher", instead(kexinit, kexinit_of({.cipher = "none"})), outdated},
        {"hostile-names", instead(kexinit, kexinit_of({.kex = hostile})), outdated},
    };
    check(lies, 30s);
}

TEST(SshLies, a_login_that_leads_nowhere_fails) {
    using enum Stage;
    const auto failed = [](const char* says) {
        return Expected{Verdict::unreachable, "auth_failed", "auth", says};
    };
    const std::vector<Lie> lies{
        {"partial-success-for-ever", instead(auth_success, auth_failure("publickey", true)), failed("")},
        {"refused-with-hostile-methods", instead(key_ok, auth_failure(hostile, false)),
         failed("was refused; offered: ssh-ed25519")},
        {"banner-of-200-KB",
         before(key_ok, [](Conversation& c) { c.packets().send(banner(std::string(200000, 'b'))); }),
         failed("no SSH")},
        {"banners-without-end",
         before(key_ok, [](Conversation& c) { repeat(c, banner(std::string(30000, 'b'))); }),
         failed("without end")},
        {"too-many-failures", instead(key_ok, liar::disconnect_with("Too many authentication failures")),
         failed("closed the connection during the login: Too many authentication failures")},
    };
    check(lies, 30s);
}

TEST(SshLies, output_that_is_not_whole_is_unknown) {
    using enum Stage;
    const auto no_survey = [](const char* says) {
        return Expected{Verdict::unknown, "protocol", "survey", says};
    };
    const Expected refused{Verdict::unknown, "refused", "survey", ""};
    const Expected lost{Verdict::unknown, "connection_lost", "survey", "closed the connection: \\x1B[2J"};
    const auto killed = [](Conversation& c, Stage stage, std::string& own) {
        if (stage == rest) own.clear();
        if (stage == exit_status) own = exit_signal(c, "KILL");
    };
    const auto killed_by_what = [](Conversation& c, Stage stage, std::string& own) {
        if (stage == rest) own.clear();
        if (stage == exit_status) own = exit_signal(c, hostile);
    };
    const auto status_1 = [](Conversation& c, Stage stage, std::string& own) {
        if (stage == rest) own.clear();
        if (stage == exit_status) own = contract::exit_status(c, 1);
    };
    // Its input is there by then: what a whole survey prints after the end would be a whole survey.
    const auto ended_before_it_began = [](Conversation& c, Stage stage, std::string& own) {
        if (stage == output || stage == rest) own.clear();
        if (stage != exec) return;
        c.packets().send(c.to_channel(message::channel_eof));
        c.packets().send(c.to_channel(message::channel_close));
    };
    const std::vector<Lie> lies{
        {"half-and-killed", killed, no_survey("ended by signal KILL")},
        {"half-and-killed-by-a-hostile-name", killed_by_what, no_survey("\\x1B[2J")},
        {"half-and-a-status", status_1, no_survey("ended with status 1")},
        {"half-and-closed", without({rest, eof, exit_status}), no_survey("the end record is missing")},
        {"half-and-status-0", without({rest}), no_survey("the end record is missing")},
        {"nothing", without({output, rest}), no_survey("printed nothing")},
        {"ended-before-it-began", ended_before_it_began, no_survey("")},
        {"no-session", instead(channel, [](Conversation& c) { return open_failure(c, hostile); }), refused},
        {"no-command", instead(exec, [](Conversation& c) { return c.to_channel(message::channel_failure); }),
         refused},
        {"hostile-farewell", instead(rest, liar::disconnect_with(hostile)), lost},
    };
    check(lies, 30s);
}

TEST(SshLies, a_server_that_takes_or_prints_nothing_costs_its_deadline_and_one_that_prints_all_is_cut) {
    using enum Stage;
    const Expected waited{Verdict::unknown, "timeout", "survey", "the deadline passed"};
    const Expected printed{Verdict::unknown, "output_limit", "survey", "printed more than"};
    const Expected flooded{Verdict::unknown, "output_limit", "survey", "no output of a command"};
    const auto gigabyte = [](bool to_stderr) {
        return before(output, [=](Conversation& c) {
            const std::string block(1u << 20, 'x');
            for (int i = 0; i < 1024; ++i) c.print(block, to_stderr);
        });
    };
    check(
        {
            {"window-never-opens",
             instead(channel, [](Conversation& c) { return confirmation(c, 100, 32768); }), waited},
            {"no-window", instead(channel, [](Conversation& c) { return confirmation(c, 0, 32768); }),
             waited},
            {"stops-reading", before(exec, liar::stop_reading), waited},
        },
        8s);
    check(
        {
            {"one-GB", gigabyte(false), printed},
            {"one-GB-of-errors", gigabyte(true), printed},
            {"more-than-the-window",
             before(output, [](Conversation& c) { repeat(c, c.data(std::string(32000, 'x'))); }), printed},
            {"empty-data-without-end", before(output, [](Conversation& c) { repeat(c, c.data("")); }),
             flooded},
            {"unknown-messages-without-end", before(output, [](Conversation& c) { repeat(c, of_type(110)); }),
             flooded},
        },
        120s);
}

// libssh2 sends empty packets for ever to one that takes no byte in a packet.
TEST(SshLies, a_server_that_takes_no_byte_in_a_packet_holds_up_nobody) {
    const auto slow = [](Conversation& c) {
        for (int i = 0; i < 20; ++i) {
            poll(nullptr, 0, 10);
            c.print("\n");
        }
    };
    LiarSweep sweep;
    sweep.threads = 1;
    sweep.patience = 20s;
    sweep.add("takes-none",
              instead(Stage::channel, [](Conversation& c) { return confirmation(c, 1u << 20, 0); }));
    sweep.add("slow", before(Stage::output, slow));
    const SweepResult result = sweep.run();
    ASSERT_EQ(result.hosts.size(), 2u);
    EXPECT_EQ(result.hosts[0].verdict, Verdict::unknown);
    ASSERT_TRUE(result.hosts[0].error);
    EXPECT_EQ(result.hosts[0].error->kind, "refused");
    EXPECT_EQ(result.hosts[1].verdict, Verdict::clean);
}

}  // namespace
}  // namespace cleanslate::agentless::contract
