#include "agentless/local_transport.hpp"

#include <sys/wait.h>

#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <fstream>

#include "tests/contract/contract.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;

bool lives(pid_t pid) { return kill(pid, 0) == 0; }

class LocalTransportTest : public testing::Test {
  protected:
    Result<RunOutput> run(const Script& script, std::chrono::milliseconds time) {
        auto connection = await(io_, transport_->open(Endpoint{}, in(time)));
        return await(io_, (*connection)->run(script, Limits{in(time)}));
    }
    std::string pid_file_ = testing::TempDir() + "/local_transport_pids." + std::to_string(getpid());
    boost::asio::io_context io_{1};
    std::unique_ptr<Transport> transport_ = make_local_transport(io_);
};

// Cancels once the script has written both pids.
void cancel_when_begun(boost::asio::steady_timer& timer, Transport& transport, const std::string& pid_file) {
    pid_t grandchild = 0, child = 0;
    if (std::ifstream(pid_file) >> grandchild >> child) return transport.cancel_all();
    timer.expires_after(5ms);
    timer.async_wait([&](auto) { cancel_when_begun(timer, transport, pid_file); });
}

TEST_F(LocalTransportTest, a_run_that_is_cut_short_is_killed_with_what_it_started) {
    boost::asio::steady_timer timer(io_);
    cancel_when_begun(timer, *transport_, pid_file_);
    const auto ran = run({"sleep 1000 & echo $! $$ >" + pid_file_ + "; wait", ""}, 60s);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "cancelled");
    pid_t grandchild = 0, child = 0;
    std::ifstream(pid_file_) >> grandchild >> child;
    unlink(pid_file_.c_str());
    ASSERT_GT(child, 0);
    EXPECT_FALSE(lives(child)) << "killed and reaped";
    for (int i = 0; i < 1000 && lives(grandchild); ++i) usleep(1000);  // init or its like reaps it
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string text;
    std::getline(stat, text);
    EXPECT_TRUE(text.empty() || text.find(") Z ") != std::string::npos) << text;
}

TEST_F(LocalTransportTest, the_command_gets_default_signals_and_no_foreign_descriptors) {
    const int foreign = dup(1);  // without O_CLOEXEC
    // No pipe in the script: while the shell starts its second half, it has one more descriptor itself.
    const auto ran = run({"/bin/sh -s", "grep SigIgn /proc/self/status; ls -m /proc/$$/fd; :"}, 10s);
    close(foreign);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "SigIgn:\t0000000000000000\n0, 1, 2\n");
}

TEST_F(LocalTransportTest, the_command_has_a_process_group_of_its_own) {
    const auto ran = run({"echo $$; awk '{print $5}' /proc/$$/stat", ""}, 10s);
    ASSERT_TRUE(ran) << ran.error().message;
    const auto line = ran->out.find('\n');
    EXPECT_EQ(ran->out.substr(0, line + 1), ran->out.substr(line + 1));
}

TEST_F(LocalTransportTest, no_child_is_left_behind) {
    for (int i = 0; i < 5; ++i) {
        (void)run({"exit 1", ""}, 10s);
        (void)run({"sleep 1000", ""}, 20ms);
    }
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace cleanslate::agentless::contract
