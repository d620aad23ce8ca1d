#include "tests/liar/faults.hpp"

#include <poll.h>
#include <sys/socket.h>

#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::liar {
namespace {

// What the message is on the wire.
std::string wire(Conversation& conversation, Stage stage, const std::string& payload) {
    return stage == Stage::greeting ? payload : conversation.packets().packed(payload);
}

void send_half(Conversation& conversation, Stage stage, const std::string& payload) {
    const std::string bytes = wire(conversation, stage, payload);
    conversation.packets().send_raw(std::string_view(bytes).substr(0, bytes.size() / 2));
}

[[noreturn]] void reset(Conversation& conversation) {
    const linger at_once{1, 0};
    setsockopt(conversation.packets().peer(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    throw Gone();
}

[[noreturn]] void talk_without_end(Conversation& conversation, Stage stage) {
    std::string nothing(1, static_cast<char>(message::ignore));
    ssh::put_text(nothing, std::string(8000, 'i'));
    const std::string line = std::string(200, 'i') + "\r\n";
    for (;;) {
        if (stage == Stage::greeting)
            conversation.packets().send_raw(line);
        else
            conversation.packets().send(nothing);
    }
}

// A message that fits nowhere: data for a channel that was never opened.
std::string data_for_nobody() {
    std::string payload(1, static_cast<char>(message::channel_data));
    ssh::put_number(payload, 4242);
    ssh::put_text(payload, "clean");
    return payload;
}

void fail(Conversation& conversation, Stage stage, Fault fault, const std::string& payload) {
    switch (fault) {
        case Fault::closes:
            throw Gone();
        case Fault::resets:
            reset(conversation);
        case Fault::stalls:
            break;
        case Fault::stops_halfway:
            send_half(conversation, stage, payload);
            break;
        case Fault::breaks_off:
            send_half(conversation, stage, payload);
            throw Gone();
        case Fault::rubbish:
            conversation.packets().send_raw(std::string(64, '\xa5'));
            break;
        case Fault::endless:
            talk_without_end(conversation, stage);
        case Fault::disconnects:
            conversation.packets().send_raw(
                wire(conversation, stage,
                     stage == Stage::greeting ? std::string(hostile_text) : disconnect_with(hostile_text)));
            break;
        case Fault::out_of_place:
            conversation.packets().send_raw(
                wire(conversation, stage, stage == Stage::greeting ? "220 mail\r\n" : data_for_nobody()));
            break;
    }
    stall(conversation);
}

}  // namespace

const std::vector<Stage>& all_stages() {
    using enum Stage;
    static const std::vector<Stage> stages{greeting, kexinit,      kex_reply,   newkeys, service,
                                           key_ok,   auth_success, channel,     exec,    output,
                                           rest,     eof,          exit_status, close};
    return stages;
}

const std::vector<Fault>& all_faults() {
    using enum Fault;
    static const std::vector<Fault> faults{closes,  resets,  stalls,      stops_halfway, breaks_off,
                                           rubbish, endless, disconnects, out_of_place};
    return faults;
}

std::string_view name_of(Stage stage) {
    static constexpr std::string_view names[] = {
        "greeting", "kexinit", "kex-reply", "newkeys", "service", "key-ok",      "auth-success",
        "channel",  "exec",    "output",    "rest",    "eof",     "exit-status", "close"};
    return names[static_cast<std::size_t>(stage)];
}

std::string_view name_of(Fault fault) {
    static constexpr std::string_view names[] = {"closes",        "resets",      "stalls",
                                                 "stops-halfway", "breaks-off",  "rubbish",
                                                 "endless",       "disconnects", "out-of-place"};
    return names[static_cast<std::size_t>(fault)];
}

Hook failing_at(Stage stage, Fault fault) {
    return [=](Conversation& conversation, Stage reached, std::string& payload) {
        if (reached == stage) fail(conversation, stage, fault, payload);
    };
}

std::string disconnect_with(std::string_view reason) {
    std::string payload(1, static_cast<char>(message::disconnect));
    ssh::put_number(payload, 2);  // protocol error
    ssh::put_text(payload, reason);
    ssh::put_text(payload, "");
    return payload;
}

void stall(Conversation& conversation) {
    char buffer[4096];
    while (recv(conversation.packets().peer(), buffer, sizeof buffer, 0) > 0) continue;
    throw Gone();
}

void stop_reading(Conversation& conversation) {
    pollfd gone{conversation.packets().peer(), POLLRDHUP, 0};
    poll(&gone, 1, -1);
    throw Gone();
}

}  // namespace cleanslate::agentless::liar
