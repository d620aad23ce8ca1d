#include "tests/contract/lies.hpp"

namespace cleanslate::agentless::contract {

using namespace std::chrono_literals;
using liar::Conversation;
using liar::Hook;
using liar::Stage;
using ssh::put_number;
using ssh::put_text;

namespace {

void expect(const HostOutcome& host, const Expected& expected) {
    SCOPED_TRACE(host.name);
    const Error error = host.error.value_or(Error{});
    SCOPED_TRACE(fmt::format("{} {}: {}", error.phase, error.kind, error.message));
    EXPECT_EQ(to_string(host.verdict), to_string(expected.verdict));
    EXPECT_EQ(error.kind, expected.kind);
    EXPECT_EQ(error.phase, expected.phase);
    EXPECT_NE(error.message.find(expected.says), std::string::npos) << "it does not say: " << expected.says;
    EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
    EXPECT_LT(host.took, 180s);
}

}  // namespace

void check(const std::vector<Lie>& lies, std::chrono::milliseconds patience) {
    LiarSweep sweep;
    sweep.patience = patience;
    for (const Lie& lie : lies) sweep.add(lie.name, lie.hook);
    const SweepResult result = sweep.run();
    ASSERT_EQ(result.hosts.size(), lies.size());
    for (std::size_t i = 0; i < lies.size(); ++i) expect(result.hosts[i], lies[i].expected);
}

std::string of_type(unsigned char type) { return std::string(1, static_cast<char>(type)); }

Hook before(Stage stage, std::function<void(Conversation&)> act) {
    return [=](Conversation& conversation, Stage reached, std::string&) {
        if (reached == stage) act(conversation);
    };
}
Hook instead(Stage stage, std::string payload) {
    return [=](Conversation&, Stage reached, std::string& own) {
        if (reached == stage) own = payload;
    };
}
Hook instead(Stage stage, std::function<std::string(Conversation&)> make) {
    return [=](Conversation& conversation, Stage reached, std::string& own) {
        if (reached == stage) own = make(conversation);
    };
}
Hook without(std::vector<Stage> stages) {
    return [=](Conversation&, Stage reached, std::string& own) {
        for (const Stage stage : stages)
            if (stage == reached) own.clear();
    };
}
std::string ignored(std::size_t size) {
    std::string payload = of_type(message::ignore);
    put_text(payload, std::string(size, 'i'));
    return payload;
}
std::string debugging(std::string_view text) {
    std::string payload = of_type(message::debug) + '\1';  // to be displayed always
    put_text(payload, text);
    put_text(payload, "");
    return payload;
}
std::string banner(std::string_view text) {
    std::string payload = of_type(message::auth_banner);
    put_text(payload, text);
    put_text(payload, "");
    return payload;
}
std::string global_request(std::string_view name) {
    std::string payload = of_type(message::global_request);
    put_text(payload, name);
    return payload + '\1';  // a reply is wanted
}
std::string auth_failure(std::string_view methods, bool partial) {
    std::string payload = of_type(message::auth_failure);
    put_text(payload, methods);
    return payload + static_cast<char>(partial);
}
std::string data_for(std::uint32_t channel, std::string_view bytes) {
    std::string payload = of_type(message::channel_data);
    put_number(payload, channel);
    put_text(payload, bytes);
    return payload;
}
std::string channel_open(std::string_view type) {
    std::string payload = of_type(message::channel_open);
    put_text(payload, type);
    for (const std::uint32_t number : {7u, 65536u, 32768u}) put_number(payload, number);
    return payload;
}
std::string exit_signal(Conversation& conversation, std::string_view name) {
    std::string payload = conversation.channel_request("exit-signal");
    put_text(payload, name);
    payload += '\0';
    put_text(payload, liar::hostile_text);
    put_text(payload, "");
    return payload;
}
std::string widened(Conversation& conversation, std::uint32_t by) {
    std::string payload = conversation.to_channel(message::channel_window);
    put_number(payload, by);
    return payload;
}
std::string confirmation(Conversation& conversation, std::uint32_t window, std::uint32_t packet) {
    std::string payload = conversation.to_channel(message::channel_confirmation);
    for (const std::uint32_t number : {0u, window, packet}) put_number(payload, number);
    return payload;
}

std::string exit_status(Conversation& conversation, std::uint32_t status) {
    std::string payload = conversation.channel_request("exit-status");
    put_number(payload, status);
    return payload;
}
std::string open_failure(Conversation& conversation, std::string_view reason) {
    std::string payload = conversation.to_channel(message::channel_open_failure);
    put_number(payload, 1);
    put_text(payload, reason);
    put_text(payload, "");
    return payload;
}

}  // namespace cleanslate::agentless::contract
