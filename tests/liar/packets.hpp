#pragma once
// The binary packets of SSH (RFC 4253, section 6) over a socket, as a server sees them: in the clear, then
// with aes256-ctr and hmac-sha2-256.

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace cleanslate::agentless::liar {

// Numbers of messages (RFC 4250, section 4.1).
namespace message {
enum : unsigned char {
    disconnect = 1,
    ignore = 2,
    unimplemented = 3,
    debug = 4,
    service_request = 5,
    service_accept = 6,
    kexinit = 20,
    newkeys = 21,
    kex_init = 30,
    kex_reply = 31,
    auth_request = 50,
    auth_failure = 51,
    auth_success = 52,
    auth_banner = 53,
    auth_key_ok = 60,
    global_request = 80,
    channel_open = 90,
    channel_confirmation = 91,
    channel_open_failure = 92,
    channel_window = 93,
    channel_data = 94,
    channel_extended_data = 95,
    channel_eof = 96,
    channel_close = 97,
    channel_request = 98,
    channel_success = 99,
    channel_failure = 100,
};
}  // namespace message

// Thrown where the peer is gone, and by whoever has nothing more to say to it.
struct Gone {};

// Keys of one direction.
struct Secrets {
    std::string iv, key, mac;
};

class Packets {
  public:
    explicit Packets(int peer) : peer_(peer) {}

    // What the payload is on the wire, as the next packet. It counts as sent.
    std::string packed(std::string_view payload);
    void send(std::string_view payload) { send_raw(packed(payload)); }
    void send_raw(std::string_view bytes);
    std::string receive();       // the next payload
    std::string receive_line();  // without its line end
    void protect_output(const Secrets& secrets) { out_.use(secrets); }
    void protect_input(const Secrets& secrets) { in_.use(secrets); }

    int peer() const { return peer_; }

  private:
    struct Direction {
        std::shared_ptr<EVP_CIPHER_CTX> cipher;  // null: in the clear
        std::string mac_key;
        std::uint32_t number = 0;  // of the next packet
        void use(const Secrets& secrets);
        std::string crypted(std::string_view bytes);
        std::string mac(std::string_view packet) const;
    };
    std::string take(std::size_t size);

    int peer_;
    Direction out_, in_;
};

}  // namespace cleanslate::agentless::liar
