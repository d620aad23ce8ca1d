// Whatever a server does, nothing of it stays behind: no descriptor, no memory.

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/contract/contract.hpp"
#include "tests/contract/liar_sweep.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;
using liar::Fault;
using liar::Stage;

constexpr Fault without_a_retry[] = {Fault::rubbish, Fault::disconnects};
constexpr Stage before_a_session[] = {Stage::kexinit, Stage::kex_reply, Stage::newkeys,
                                      Stage::service, Stage::key_ok,    Stage::auth_success};

std::size_t resident_bytes() {
    std::size_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Fails at another stage and in another way each time.
liar::Hook failing_in_turn(std::atomic<std::size_t>& turn) {
    return [&turn](liar::Conversation& conversation, Stage stage, std::string& payload) {
        if (stage == Stage::greeting) ++turn;
        const std::size_t now = turn;
        const Stage chosen = before_a_session[now / 2 % std::size(before_a_session)];
        liar::failing_at(chosen, without_a_retry[now % 2])(conversation, stage, payload);
    };
}

TEST(SshLiarLeaks, a_sweep_of_failing_hosts_leaves_no_descriptor) {
    const auto sweep_all = [] {
        LiarSweep sweep;
        for (const Stage stage : liar::all_stages())
            for (const Fault fault : {Fault::closes, Fault::breaks_off, Fault::rubbish, Fault::stalls})
                sweep.add(std::string(liar::name_of(stage)) + "-" + std::string(liar::name_of(fault)),
                          liar::failing_at(stage, fault));
        sweep.patience = 3s;
        for (const HostOutcome& host : sweep.run().hosts)
            EXPECT_NE(host.verdict, Verdict::clean) << host.name;
    };
    {
        LiarSweep once;  // what is opened once for the process
        once.add("honest", {});
        once.run();
    }
    const int before = open_descriptors();
    sweep_all();
    EXPECT_EQ(open_descriptors(), before);
}

TEST(SshLiarLeaks, a_thousand_failing_handshakes_leave_no_memory) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer keeps freed memory; it looks for leaks itself";
#endif
    std::atomic<std::size_t> turn = 0;
    LiarSweep sweep;
    const liar::Key key;
    const liar::Hook hook = failing_in_turn(turn);
    // One connection after another in one thread, so that the server's own memory does not grow.
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    listen(listener, 16);  // on any port of any address
    std::thread server([&] {
        for (int peer; (peer = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; close(peer))
            liar::Conversation(peer, key, hook, liar::clean_survey).run();
    });
    const Endpoint endpoint = sweep.endpoint_of(listener, key);
    const auto context = load_ssh_context(sweep.options);
    ASSERT_TRUE(context) << context.error().message;
    boost::asio::io_context io(1);
    const auto transport = make_ssh_transport(io, *context);
    const auto fail = [&](int times) {
        for (int i = 0; i < times; ++i) {
            const auto opened = await(io, transport->open(endpoint, in(60s)));
            EXPECT_FALSE(opened);
        }
    };
    fail(200);
    const std::size_t before = resident_bytes();
    fail(1000);
    const std::size_t after = resident_bytes();
    EXPECT_LT(after, before + (6u << 20));  // a session is some 50 KB
    EXPECT_GE(turn, 1200u);
    shutdown(listener, SHUT_RDWR);
    server.join();
    close(listener);
}

}  // namespace
}  // namespace cleanslate::agentless::contract
