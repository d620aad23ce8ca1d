// Servers that are slow, silent, mad or gone.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>

#include "agentless/ssh/library.hpp"
#include "tests/contract/fake_server.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

class SshHostile : public SshTest {
  protected:
    SshOptions quick() {
        SshOptions options;
        options.home = "/nonexistent";
        options.known_hosts = {"/nonexistent/known_hosts"};
        options.connect_timeout = 500ms;
        return options;
    }
    std::unique_ptr<Sshd> sshd_;
};

// A packet with the first message of a server whose one key exchange method is `method` (RFC 4253, 6
// and 7.1).
std::string key_exchange_offer(std::string_view method) {
    const auto number = [](std::size_t value) {
        std::string bytes;
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
        return bytes;
    };
    std::string message = "\x14" + std::string(16, 'c');  // SSH_MSG_KEXINIT and its cookie
    for (const std::string_view names :
         {method, std::string_view("ssh-ed25519"), std::string_view("aes128-ctr"),
          std::string_view("aes128-ctr"), std::string_view("hmac-sha2-256"),
          std::string_view("hmac-sha2-256"), std::string_view("none"), std::string_view("none"),
          std::string_view(), std::string_view()}) {
        message += number(names.size()) + std::string(names);
    }
    message += std::string(5, '\0');  // no guess follows; reserved
    const std::size_t padding = 16 - (message.size() + 5) % 8;
    return number(message.size() + padding + 1) + static_cast<char>(padding) + message +
           std::string(padding, '\0');
}

TEST_F(SshHostile, a_port_where_nobody_listens_refuses) {
    Endpoint nobody = std::make_unique<FakeServer>([](int) {})->endpoint();  // gone again
    const Error error = expect_refused(quick(), nobody, "connect_refused", "connect");
    expect_says(error.message, "127.0.0.1:" + std::to_string(*nobody.port));
    expect_says(error.remedy, "sshd");
}

TEST_F(SshHostile, a_full_backlog_swallows_the_connection) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    socklen_t size = sizeof where;
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener, reinterpret_cast<sockaddr*>(&where), size);
    listen(listener, 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&where), &size);
    const Endpoint hole{.name = "hole",
                        .address = "127.0.0.1",
                        .port = ntohs(where.sin_port),
                        .user = "root",
                        .identity_file = {}};
    std::vector<int> fillers;
    for (bool full = false; !full && fillers.size() < 16;) {
        const int filler = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        connect(filler, reinterpret_cast<sockaddr*>(&where), size);
        pollfd connected{filler, POLLOUT, 0};
        full = poll(&connected, 1, 100) == 0;
        fillers.push_back(filler);
    }
    const auto begun = Clock::now();
    expect_refused(quick(), hole, "connect_timeout", "connect");
    EXPECT_GE(Clock::now() - begun, 500ms);
    EXPECT_LT(Clock::now() - begun, 10s);
    for (const int filler : fillers) close(filler);
    close(listener);
}

TEST_F(SshHostile, a_server_that_says_nothing_runs_into_the_handshake_deadline) {
    const FakeServer silent([](int peer) { wait_for_close(peer); });
    const auto begun = Clock::now();
    const Error error = expect_refused(quick(), silent.endpoint(), "handshake_timeout", "handshake");
    expect_says(error.message, "said nothing");
    EXPECT_GE(Clock::now() - begun, 500ms);
    EXPECT_LT(Clock::now() - begun, 10s);
    EXPECT_EQ(silent.connections(), 1) << "a deadline is not tried again";
}

TEST_F(SshHostile, the_deadline_for_all_of_it_wins_over_the_phases) {
    const FakeServer silent([](int peer) { wait_for_close(peer); });
    SshOptions patient = quick();
    patient.connect_timeout = 60s;
    const auto begun = Clock::now();
    expect_refused(patient, silent.endpoint(), "handshake_timeout", "handshake", 300ms);
    EXPECT_LT(Clock::now() - begun, 10s);
}

TEST_F(SshHostile, a_greeting_that_drips_runs_into_the_handshake_deadline) {
    const FakeServer drip([](int peer) {
        while (send_all(peer, "x")) poll(nullptr, 0, 20);
    });
    expect_refused(quick(), drip.endpoint(), "handshake_timeout", "handshake");
}

TEST_F(SshHostile, text_without_end_before_the_greeting_is_cut) {
    SshOptions patient = quick();
    patient.connect_timeout = 60s;
    for (const std::string line : {"hello, this is a chargen server\r\n", "no line end at all "}) {
        std::string block;
        while (block.size() < 60000) block += line;
        const FakeServer endless([block](int peer) {
            while (send_all(peer, block)) continue;
        });
        const Error error = expect_refused(patient, endless.endpoint(), "handshake_failed", "handshake");
        EXPECT_FALSE(error.message.empty());
    }
}

TEST_F(SshHostile, what_is_no_ssh_server_is_named_so) {
    for (const std::string answer :
         {"\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "Exceeded MaxStartups\r\n"}) {
        const FakeServer other([answer](int peer) {
            send_all(peer, answer);
            shutdown(peer, SHUT_WR);
            wait_for_close(peer);
        });
        const Error error = expect_refused(quick(), other.endpoint(), "handshake_failed", "handshake");
        expect_says(error.message, "no SSH server");
        if (answer.starts_with("Exceeded")) expect_says(error.message, "Exceeded MaxStartups");
    }
}

TEST_F(SshHostile, a_greeting_and_then_rubbish_is_a_failed_handshake) {
    const FakeServer rubbish([](int peer) {
        send_all(peer, "SSH-2.0-rubbish\r\n" + std::string(100000, '\xff'));
        wait_for_close(peer);
    });
    expect_refused(quick(), rubbish.endpoint(), "handshake_failed", "handshake");
}

TEST_F(SshHostile, a_server_that_closes_at_once_is_tried_three_times) {
    const FakeServer closing([](int) {});
    SshOptions options = quick();
    options.connect_timeout = 5s;
    const Error error = expect_refused(options, closing.endpoint(), "handshake_failed", "handshake");
    expect_says(error.message, "closed the connection");
    expect_says(error.remedy, "MaxStartups");
    EXPECT_EQ(closing.connections(), 3);
}

TEST_F(SshHostile, a_server_that_closes_in_the_middle_of_the_handshake_is_tried_again) {
    const FakeServer closing([](int peer) {
        send_all(peer, "SSH-2.0-busy\r\n");
        char byte = 0;
        recv(peer, &byte, 1, 0);
    });
    SshOptions options = quick();
    options.connect_timeout = 5s;
    const Error error = expect_refused(options, closing.endpoint(), "handshake_failed", "handshake");
    expect_says(error.message, "closed the connection");
    EXPECT_EQ(closing.connections(), 3);
}

TEST_F(SshHostile, a_hardened_host_is_reached_or_refused_with_the_reason) {
    sshd_ = std::make_unique<Sshd>("Ciphers aes128-ctr\nMACs hmac-sha2-256-etm@openssh.com");
    if (ssh::rsa_works()) {
        return expect_runs(sshd_->options(), sshd_->endpoint());
    }
    const Error error = expect_refused(sshd_->options(), sshd_->endpoint(), "handshake_failed", "handshake");
    expect_says(error.message, "no algorithm in common");
    expect_says(error.remedy, "1.11");
}

// What a client announces stands among libssh2's methods, without a function: agreeing on it would call
// nowhere.
TEST_F(SshHostile, a_server_that_lists_the_clients_announcements_as_methods_is_refused) {
#ifndef CLEANSLATE_LIBSSH2_PACKAGE
    if (ssh::library_age() != ssh::LibraryAge::before_1_11)
        GTEST_SKIP() << "needs the libssh2 that ./dev builds: others of 1.11 lack the fix";
#endif
    for (const char* announcement : {"ext-info-c", "kex-strict-c-v00@openssh.com"}) {
        SCOPED_TRACE(announcement);
        const FakeServer lying([&](int peer) {
            send_all(peer, "SSH-2.0-liar\r\n" + key_exchange_offer(announcement));
            wait_for_close(peer);
        });
        const Error error = expect_refused(quick(), lying.endpoint(), "handshake_failed", "handshake");
        expect_says(error.message, "no algorithm in common");
    }
}

TEST_F(SshHostile, there_is_no_retry_for_which_no_time_is_left) {
    const FakeServer closing([](int) {});
    const auto opened = open(quick(), closing.endpoint(), 150ms);  // the shortest pause is 200 ms
    EXPECT_FALSE(opened);
    EXPECT_LE(closing.connections(), 1);
}

TEST_F(SshHostile, a_server_that_is_overrun_once_is_reached_by_the_retry) {
    sshd_ = std::make_unique<Sshd>();
    const Endpoint real = sshd_->endpoint();
    std::atomic<int> count = 0;
    const FakeServer overrun([&](int peer) {
        if (count++ == 0) return;
        relay(peer, real);
    });
    SshOptions options = sshd_->options();
    write_file(sshd_->file("known_hosts"),
               sshd_->known_hosts_line("[127.0.0.1]:" + std::to_string(*overrun.endpoint().port)));
    Endpoint through = overrun.endpoint();
    through.user = real.user;
    expect_runs(options, through);
    EXPECT_EQ(overrun.connections(), 2);
}

TEST_F(SshHostile, a_name_that_does_not_exist_is_said) {
    Endpoint unknown{
        .name = "x", .address = "no-such-host.invalid", .port = 22, .user = "root", .identity_file = {}};
    SshOptions options = quick();
    options.connect_timeout = 20s;
    const Error error = expect_refused(options, unknown, "resolve_failed", "resolve");
    expect_says(error.message, "no-such-host.invalid");
}

TEST_F(SshHostile, a_name_is_resolved) {
    const FakeServer closing([](int) {});
    Endpoint by_name = closing.endpoint();
    by_name.address = "localhost";
    SshOptions options = quick();
    options.connect_timeout = 20s;
    expect_refused(options, by_name, "handshake_failed", "handshake");
    EXPECT_GE(closing.connections(), 1);
}

TEST_F(SshHostile, cancel_all_ends_an_open_under_way) {
    const FakeServer silent([](int peer) { wait_for_close(peer); });
    SshOptions patient = quick();
    patient.connect_timeout = 60s;
    transport_ = make_ssh_transport(io_, load_ssh_context(patient).value());
    boost::asio::steady_timer soon(io_, 100ms);
    soon.async_wait([&](auto) { transport_->cancel_all(); });
    const Endpoint endpoint = silent.endpoint();
    const auto opened = await(io_, transport_->open(endpoint, in(60s)));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, "cancelled");
}

TEST_F(SshHostile, two_hundred_opens_that_fail_or_succeed_leave_no_descriptor) {
    sshd_ = std::make_unique<Sshd>();
    const FakeServer closing([](int) {});
    const FakeServer silent([](int peer) { wait_for_close(peer); });
    SshOptions options = sshd_->options();
    options.identity_files.push_back(sshd_->make_key("stranger", "-t ed25519"));
    options.connect_timeout = 30s;
    transport_ = make_ssh_transport(io_, load_ssh_context(options).value());
    Endpoint refused = sshd_->endpoint();
    refused.identity_file = options.identity_files.back();
    Endpoint nobody = sshd_->endpoint();
    nobody.port = 1;
    const Endpoint endpoints[] = {sshd_->endpoint(), nobody, closing.endpoint(), silent.endpoint(), refused};
    (void)await(io_, transport_->open(endpoints[0], in(60s)));
    io_.restart();
    io_.poll();
    const int before = open_descriptors();
    for (int i = 0; i < 200; ++i) {
        const bool cut = i % 5 == 2 || i % 5 == 3;
        const auto opened = await(io_, transport_->open(endpoints[i % 5], in(cut ? 10ms : 60000ms)));
        EXPECT_EQ(opened.has_value(), i % 5 == 0) << i;
    }
    io_.restart();
    io_.poll();
    // The servers' ends in this process are closed by their threads, a moment later.
    for (int i = 0; i < 2000 && open_descriptors() > before; ++i) poll(nullptr, 0, 5);
    EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace cleanslate::agentless::contract
