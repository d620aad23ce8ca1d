#pragma once
// One connection of a server that speaks SSH as it should, by itself: whoever wants it to lie changes, adds
// to or drops what it is about to say. Everybody is let in, and every command has the same output.

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "tests/liar/keys.hpp"
#include "tests/liar/packets.hpp"

namespace cleanslate::agentless::liar {

// What the server is about to say, in the order of a good run.
enum class Stage {
    greeting,      // the line "SSH-2.0-..."
    kexinit,       // its algorithms
    kex_reply,     // its key, and the signature by it
    newkeys,       // from here on everything is encrypted
    service,       // SERVICE_ACCEPT
    key_ok,        // the client's key would do
    auth_success,  // the signature was right
    channel,       // the session is open
    exec,          // the command was started
    output,        // the first half of its output
    rest,          // the second half
    eof,           // no more output will come
    exit_status,
    close,  // of the channel
};

class Conversation;

// Called before each message. May change the payload (emptied: it is not sent), send others before it, wait,
// and throw Gone to hang up. The greeting's payload is its line with the line end.
using Hook = std::function<void(Conversation&, Stage, std::string& payload)>;
// What a command prints, from what was sent to its standard input.
using Output = std::function<std::string(const std::string& input)>;

class Conversation {
  public:
    Conversation(int peer, const Key& host_key, const Hook& hook, const Output& output)
        : packets_(peer), host_key_(host_key), hook_(hook), output_(output) {}

    void run();  // until the peer is gone

    // For hooks.
    Packets& packets() { return packets_; }
    void rekey();
    void print(std::string_view bytes, bool to_stderr = false);  // within the client's window
    std::string to_channel(unsigned char type) const;            // the beginning of a message of the channel
    std::string channel_request(std::string_view name) const;    // one that wants no reply
    std::string data(std::string_view bytes) const;
    std::string kexinit() const;  // as it offers itself
    bool is_protected() const { return protected_; }
    const Key& host_key() const { return host_key_; }

  private:
    std::string say(Stage stage, std::string payload);  // what was sent, empty where nothing was
    void exchange_keys(const std::string& client_kexinit, const std::string& own_kexinit);
    std::string receive(unsigned char type);
    std::string next();
    bool note(const std::string& payload);
    void authenticate();
    void serve_command();

    Packets packets_;
    const Key& host_key_;
    const Hook& hook_;
    const Output& output_;
    std::string client_greeting_, own_greeting_, session_id_;
    std::deque<std::string> waiting_;  // what came in the middle of something else
    std::uint32_t channel_ = 0;        // the client's number
    std::uint64_t window_ = 0;         // so much the client takes
    bool protected_ = false;           // by keys
};

// A KEXINIT that offers these, each list as it stands.
struct Offer {
    std::string kex = "curve25519-sha256", host_key = "ssh-ed25519", cipher = "aes256-ctr",
                mac = "hmac-sha2-256";
};
std::string kexinit_of(const Offer& offer);

}  // namespace cleanslate::agentless::liar
