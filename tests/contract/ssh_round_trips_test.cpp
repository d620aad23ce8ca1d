// How many round trips a check takes, counted at a server that says nothing before it has to: what the client
// could send without waiting for it has to be there already. A client that waits is cut by its deadline.

#include <atomic>

#include "tests/contract/lies.hpp"

namespace cleanslate::agentless::contract {
namespace {

using liar::Conversation;
using liar::Stage;

// One flight of the server's each; TCP's own comes before.
//     greeting, kexinit    once the client has greeted
//     kex_reply, newkeys   once it has offered its algorithms and its half of the keys
//     service              once it has asked for it
//     key_ok               once it has named its key, and no other method
//     auth_success         once it has signed
//     channel              once it has asked for it
//     exec, output, ...    once it has asked for the command and sent all of the script
class LazyServer {
  public:
    liar::Hook hook() {
        return [this](Conversation& conversation, Stage stage, std::string& payload) {
            switch (stage) {
                case Stage::greeting:
                    payload.clear();
                    return;
                case Stage::kexinit:
                    ++flights;
                    conversation.packets().send_raw("SSH-2.0-liar\r\n");
                    return;
                case Stage::exec:
                    exec_ = std::move(payload);
                    payload.clear();
                    return;
                case Stage::output:
                    ++flights;
                    conversation.packets().send(exec_);
                    return;
                case Stage::kex_reply:
                case Stage::service:
                case Stage::key_ok:
                case Stage::auth_success:
                case Stage::channel:
                    ++flights;
                    return;
                default:
                    return;
            }
        };
    }
    std::atomic<int> flights = 0;

  private:
    std::string exec_;  // of the only connection
};

TEST(SshRoundTrips, of_a_check_are_seven_behind_tcp) {
    LazyServer lazy;
    LiarSweep sweep;
    sweep.patience = std::chrono::seconds(20);
    sweep.add("lazy", lazy.hook());
    const SweepResult result = sweep.run();
    ASSERT_FALSE(result.hosts.at(0).error) << result.hosts.at(0).error->message;
    EXPECT_EQ(to_string(result.hosts[0].verdict), "clean");
    EXPECT_EQ(lazy.flights, 7);
}

// Keys exchanged anew while a command is asked for: nothing is lost, and nothing comes before the request.
TEST(SshRoundTrips, are_more_where_keys_are_exchanged_anew_before_the_command) {
    LiarSweep sweep;
    sweep.patience = std::chrono::seconds(20);
    sweep.add("rekeys", before(Stage::exec, [](Conversation& conversation) { conversation.rekey(); }));
    sweep.add("rekeys-too", [](Conversation& conversation, Stage stage, std::string& payload) {
        if (stage != Stage::channel) return;
        conversation.packets().send(payload);
        payload.clear();
        conversation.rekey();
    });
    const SweepResult result = sweep.run();
    for (const HostOutcome& host : result.hosts) {
        EXPECT_FALSE(host.error) << host.name << ": " << host.error->message;
        EXPECT_EQ(to_string(host.verdict), "clean") << host.name;
    }
}

}  // namespace
}  // namespace cleanslate::agentless::contract
