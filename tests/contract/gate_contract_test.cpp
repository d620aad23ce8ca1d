// What every transport does with a script that has a gate: its input waits for the marker, a prompt is
// answered once.
#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/contract/contract.hpp"

namespace cleanslate::agentless::contract {
namespace {

using namespace std::chrono_literals;
using Talk = MemoryReply::Talk;

constexpr const char* marker = "marker-7d0a31";
constexpr const char* prompt = "prompt-7d0a31:";

// A host in memory that says what `lines` say, one after another: the first at once, each further one when
// it has read one line more, or the end. It notes everything that it read.
MemoryReply says(std::vector<Talk> lines, std::shared_ptr<std::string> heard = nullptr) {
    MemoryReply reply;
    const auto next = std::make_shared<std::size_t>(0);
    reply.talk = [lines = std::move(lines), heard, next](std::string_view input, bool at_end) {
        if (heard) *heard = input;
        auto read = static_cast<std::size_t>(std::count(input.begin(), input.end(), '\n'));
        if (at_end) ++read;
        Talk now{{}, {}, read + 1 >= lines.size()};
        for (std::size_t& i = *next; i <= read && i < lines.size(); ++i) {
            now.out += lines[i].out;
            now.err += lines[i].err;
        }
        return now;
    };
    return reply;
}

class Porter : public Script::Warden {
  public:
    Leave asked(const std::function<void()>& wake) override {
        if (leave == Leave::wait && !waits.exchange(true)) {
            leave = afterwards;
            opener = std::thread([wake] { wake(); });
            return Leave::wait;
        }
        return leave;
    }
    void passed() override { ++passes; }
    ~Porter() override {
        if (opener.joinable()) opener.join();
    }
    Leave leave = Leave::give, afterwards = Leave::give;
    std::atomic<bool> waits = false;
    std::thread opener;
    int passes = 0;
};

class Gate : public testing::TestWithParam<std::shared_ptr<Flavour>> {
  protected:
    void SetUp() override {
        const std::string why = GetParam()->unavailable();
        if (!why.empty()) GTEST_SKIP() << why;
        transport_ = GetParam()->make(io_);
        auto opened = await(io_, transport_->open(GetParam()->endpoint(), in(60s)));
        ASSERT_TRUE(opened) << opened.error().message;
        connection_ = std::move(*opened);
    }
    // `command` in /bin/sh on a real host, `memory` in memory.
    Result<RunOutput> run(const std::string& command, MemoryReply memory,
                          std::chrono::milliseconds time = 60s, std::size_t max_bytes = 32u << 20) {
        Script script{"/bin/sh -c '" + command + "'", input_, Script::Gate{marker, prompt, answer_, porter_}};
        GetParam()->pretend(std::move(memory));
        return await(io_, connection_->run(script, Limits{in(time), max_bytes}));
    }

    boost::asio::io_context io_{1};
    std::unique_ptr<Transport> transport_;
    std::unique_ptr<Connection> connection_;
    std::shared_ptr<Porter> porter_ = std::make_shared<Porter>();
    std::string input_ = "echo in\n", answer_ = "secret";
    std::shared_ptr<std::string> heard_ = std::make_shared<std::string>();
};

TEST_P(Gate, input_is_sent_after_the_marker_and_the_markers_line_is_taken_out) {
    const auto ran = run("echo hello; printf noise; echo; echo marker-7d0a31; exec /bin/sh -s",
                         says({{"hello\nnoise\nmarker-7d0a31\n", "", false}, {"in\n", "", false}}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "hello\nnoise\nin\n");
    EXPECT_EQ(ran->before_gate, 12u);
    EXPECT_TRUE(ran->gate_passed);
    EXPECT_FALSE(ran->gate_asked);
    EXPECT_FALSE(ran->gate_refused);
    EXPECT_EQ(porter_->passes, 1);
}

TEST_P(Gate, a_command_that_ends_before_the_marker_got_not_one_byte) {
    const auto ran = run("echo sorry; timeout 0.3 head -c 1 | wc -c; exit 3", [&] {
        auto reply = says({{"sorry\n0\n", "", false}}, heard_);
        reply.exit_status = 3;
        return reply;
    }());
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_FALSE(ran->gate_passed);
    EXPECT_EQ(ran->out, "sorry\n0\n");
    EXPECT_EQ(ran->exit_status, 3);
    EXPECT_EQ(*heard_, "");
    EXPECT_EQ(porter_->passes, 0);
}

TEST_P(Gate, what_is_only_like_the_marker_opens_nothing) {
    const auto ran =
        run("echo xmarker-7d0a31; echo marker-7d0a31x; echo marker; echo marker-7d0a31 >&2; "
            "timeout 0.3 head -c 1 | wc -c",
            says({{"xmarker-7d0a31\nmarker-7d0a31x\nmarker\n0\n", "marker-7d0a31\n", false}}, heard_));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_FALSE(ran->gate_passed);
    EXPECT_EQ(ran->out, "xmarker-7d0a31\nmarker-7d0a31x\nmarker\n0\n");
    EXPECT_EQ(ran->err, "marker-7d0a31\n");
    EXPECT_EQ(*heard_, "");
}

TEST_P(Gate, a_prompt_is_answered_and_taken_out) {
    const auto ran = run(
        "printf \"note\\nprompt-7d0a31:\" >&2; read -r x; echo \"got $x\"; echo marker-7d0a31; exec /bin/sh "
        "-s",
        says({{"", "note\nprompt-7d0a31:", false},
              {"got secret\nmarker-7d0a31\n", "", false},
              {"in\n", "", false}}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "got secret\nin\n");
    EXPECT_EQ(ran->err, "note\n");
    EXPECT_TRUE(ran->gate_asked);
    EXPECT_TRUE(ran->gate_passed);
    EXPECT_FALSE(ran->gate_refused);
}

// As sudo-rs does, which puts its own name before the prompt that it was given, and words behind it.
TEST_P(Gate, a_prompt_between_words_of_the_programs_own_is_answered) {
    const auto ran =
        run("printf \"[sudo: prompt-7d0a31:] Password: \" >&2; read -r x; echo \"got $x\"; echo "
            "marker-7d0a31; exec "
            "/bin/sh -s",
            says({{"", "[sudo: prompt-7d0a31:] Password: ", false},
                  {"got secret\nmarker-7d0a31\n", "", false},
                  {"in\n", "", false}}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "got secret\nin\n");
    EXPECT_TRUE(ran->gate_asked);
    EXPECT_TRUE(ran->gate_passed);
    EXPECT_FALSE(ran->gate_refused);
}

TEST_P(Gate, prompt_and_marker_may_come_in_pieces) {
    const auto ran =
        run("for x in p r ompt-7d 0a31:; do printf \"%s\" $x >&2; sleep 0.02; done; read -r x; "
            "for x in m ark er-7d0a3 1; do printf \"%s\" $x; sleep 0.02; done; echo; exec /bin/sh -s",
            says({{"", "prompt-7d0a31:", false}, {"marker-7d0a31\n", "", false}, {"in\n", "", false}}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "in\n");
    EXPECT_EQ(ran->err, "");
    EXPECT_TRUE(ran->gate_passed);
}

TEST_P(Gate, a_second_prompt_closes_standard_input) {
    const auto ran =
        run("printf prompt-7d0a31: >&2; read -r x; printf prompt-7d0a31: >&2; "
            "read -r y || echo closed; echo marker-7d0a31; cat",
            says({{"", "prompt-7d0a31:", false},
                  {"", "prompt-7d0a31:", false},
                  {"closed\nmarker-7d0a31\n", "", false}},
                 heard_));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_TRUE(ran->gate_refused);
    EXPECT_FALSE(ran->gate_passed) << "a marker after that opens nothing";
    EXPECT_EQ(ran->out.substr(0, 7), "closed\n");
    EXPECT_EQ(ran->out.find("echo in"), std::string::npos);
    EXPECT_EQ(ran->err, "");
    if (!GetParam()->runs_processes()) {
        EXPECT_EQ(*heard_, "secret\n");
    }
}

TEST_P(Gate, a_prompt_without_an_answer_closes_standard_input) {
    answer_.clear();
    const auto ran = run("printf prompt-7d0a31: >&2; cat; echo closed",
                         says({{"", "prompt-7d0a31:", false}, {"closed\n", "", false}}, heard_));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_TRUE(ran->gate_asked);
    EXPECT_TRUE(ran->gate_refused);
    EXPECT_FALSE(ran->gate_passed);
    EXPECT_EQ(ran->out, "closed\n");
    EXPECT_EQ(*heard_, "");
}

TEST_P(Gate, a_flood_of_prompts_gets_one_answer_at_most) {
    std::string flood;
    for (int i = 0; i < 1000; ++i) flood += prompt;
    const auto ran = run("i=0; while [ $i -lt 1000 ]; do printf prompt-7d0a31: >&2; i=$((i+1)); done; cat",
                         says({{"", flood, false}, {"", "", false}}, heard_));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_TRUE(ran->gate_refused);
    EXPECT_FALSE(ran->gate_passed);
    EXPECT_TRUE(ran->out.empty() || ran->out == "secret\n") << ran->out;
}

TEST_P(Gate, a_warden_may_let_the_answer_wait_and_wakes_from_another_thread) {
    porter_->leave = Script::Warden::Leave::wait;
    const auto ran =
        run("printf prompt-7d0a31: >&2; read -r x; echo \"$x\"; echo marker-7d0a31; exec /bin/sh -s",
            says({{"", prompt, false}, {"secret\nmarker-7d0a31\n", "", false}, {"in\n", "", false}}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "secret\nin\n");
}

TEST_P(Gate, a_warden_may_withhold_the_answer_in_the_end) {
    porter_->leave = Script::Warden::Leave::wait;
    porter_->afterwards = Script::Warden::Leave::withhold;
    const auto ran = run("printf prompt-7d0a31: >&2; read -r x || echo closed",
                         says({{"", prompt, false}, {"closed\n", "", false}}, heard_));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->out, "closed\n");
    EXPECT_TRUE(ran->gate_refused);
    EXPECT_EQ(*heard_, "");
}

TEST_P(Gate, megabytes_before_the_marker_do_not_block_and_megabytes_follow_it) {
    input_.clear();
    while (input_.size() < (3u << 20)) input_ += "some line of input\n";
    MemoryReply memory =
        says({{std::string(3000000, '\0') + "\nmarker-7d0a31\n", std::string(4000000, '\0'), false}});
    memory.out = input_;
    const auto ran =
        run("head -c 4000000 /dev/zero >&2 & head -c 3000000 /dev/zero; wait; echo; "
            "echo marker-7d0a31; exec cat",
            std::move(memory));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->err.size(), 4000000u);
    EXPECT_EQ(ran->before_gate, 3000001u);
    EXPECT_TRUE(std::string_view(ran->out).substr(3000001) == input_);
}

TEST_P(Gate, a_marker_that_never_comes_runs_into_the_deadline) {
    MemoryReply hangs;
    hangs.talk = [](std::string_view, bool) { return Talk{}; };
    const auto begun = Clock::now();
    const auto ran = run("exec cat", std::move(hangs), 300ms);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "timeout");
    EXPECT_LT(Clock::now() - begun, 10s);
}

TEST_P(Gate, output_without_end_before_the_marker_runs_into_the_limit) {
    MemoryReply floods;
    floods.talk = [](std::string_view, bool) { return Talk{std::string(200000, 'y'), "", false}; };
    const auto ran =
        run("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done", std::move(floods), 60s, 100000);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().kind, "output_limit");
}

TEST_P(Gate, the_next_run_has_a_gate_of_its_own) {
    (void)run("echo marker-7d0a31; exec /bin/sh -s", says({{"marker-7d0a31\n", "", false}}));
    const auto ran = run("timeout 0.2 head -c 1 | wc -c", says({{"0\n", "", false}}));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_FALSE(ran->gate_passed);
    EXPECT_EQ(ran->out, "0\n");
}

INSTANTIATE_TEST_SUITE_P(Every, Gate,
                         testing::Values(std::shared_ptr<Flavour>(memory_flavour()),
                                         std::shared_ptr<Flavour>(local_flavour()),
                                         std::shared_ptr<Flavour>(ssh_flavour())),
                         [](const auto& flavour) { return flavour.param->name(); });

}  // namespace
}  // namespace cleanslate::agentless::contract
