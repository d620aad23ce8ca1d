#pragma once
// What the tests of jump hosts share: an sshd to go through, one to go to, and many visits at once.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {

// A TCP port whose accept queue is full: it never answers.
class BlackHole {
  public:
    BlackHole();
    ~BlackHole();
    BlackHole(const BlackHole&) = delete;
    BlackHole& operator=(const BlackHole&) = delete;
    Endpoint endpoint() const;

  private:
    std::vector<int> descriptors_;
    std::uint16_t port_ = 0;
};

// How one visit ended: what was opened, and what it printed.
struct Visit {
    Result<RunOutput> ran = fail("none", "not visited");
    std::chrono::milliseconds took{0};
    bool ok(const std::string& printed) const { return ran && ran->out == printed; }
    std::string problem() const {
        return ran ? "printed " + ran->out : ran.error().kind + ": " + ran.error().message;
    }
};

// Opens, runs, closes: all at once, until all have ended. `sweep_time` bounds each of them.
std::vector<Visit> visit_all(boost::asio::io_context& io, Transport& transport,
                             const std::vector<Endpoint>& endpoints, const Script& script,
                             std::chrono::milliseconds sweep_time = std::chrono::seconds(120));

int count_of(const std::string& text, const std::string& words);

class SshJump : public SshTest {
  protected:
    void SetUp() override {
        SshTest::SetUp();
        if (IsSkipped()) return;
        target_ = std::make_unique<Sshd>();
    }

    // With keys for, and the host keys of, all of them.
    SshOptions options_for(const std::vector<const Sshd*>& servers) const;
    static std::string hop(const Sshd& sshd);
    Endpoint through(const std::string& hops, const Sshd& sshd) const;
    Endpoint through(const std::string& hops) const { return through(hops, *target_); }
    std::vector<Endpoint> through(const std::string& hops, int count) const {
        return std::vector<Endpoint>(static_cast<std::size_t>(count), through(hops));
    }
    // A new transport, on which the test goes on.
    void start(const SshOptions& options) {
        const auto context = load_ssh_context(options);
        ASSERT_TRUE(context) << context.error().message;
        context_ = *context;
        transport_ = make_ssh_transport(io_, context_);
    }
    std::vector<Visit> visit_each(const std::vector<Endpoint>& endpoints,
                                  const std::string& command = "echo in") {
        return visit_all(io_, *transport_, endpoints, Script{command, ""});
    }
    // All of them failed, with one and the same error.
    static Error one_error(const std::vector<Visit>& visits) {
        Error first;
        for (const Visit& visit : visits) {
            EXPECT_FALSE(visit.ran) << visit.problem();
            if (visit.ran) continue;
            if (first.kind.empty()) first = visit.ran.error();
            EXPECT_EQ(visit.ran.error().message, first.message);
            EXPECT_EQ(visit.ran.error().kind, first.kind);
            EXPECT_EQ(visit.ran.error().phase, first.phase);
        }
        return first;
    }

    std::unique_ptr<Sshd> target_;
};

}  // namespace cleanslate::agentless::contract
