#include "tests/liar/conversation.hpp"

#include <openssl/sha.h>

#include <algorithm>

#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::liar {
namespace {

using ssh::put_mpint;
using ssh::put_number;
using ssh::put_text;
using ssh::WireReader;

constexpr std::size_t most_at_once = 32000;  // bytes of one data message

std::string sha256(std::string_view bytes) {
    std::string digest(SHA256_DIGEST_LENGTH, '\0');
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
           reinterpret_cast<unsigned char*>(digest.data()));
    return digest;
}

using KeyHandle = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

std::string public_half(EVP_PKEY* key) {
    std::string half(32, '\0');
    std::size_t size = half.size();
    EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(half.data()), &size);
    return half;
}

// The secret of both, as a magnitude.
std::string agree(EVP_PKEY* own, std::string_view theirs) {
    const KeyHandle peer(
        EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr,
                                    reinterpret_cast<const unsigned char*>(theirs.data()), theirs.size()),
        EVP_PKEY_free);
    const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(EVP_PKEY_CTX_new(own, nullptr),
                                                                              EVP_PKEY_CTX_free);
    std::string secret(32, '\0');
    std::size_t size = secret.size();
    if (!peer || EVP_PKEY_derive_init(context.get()) != 1 ||
        EVP_PKEY_derive_set_peer(context.get(), peer.get()) != 1 ||
        EVP_PKEY_derive(context.get(), reinterpret_cast<unsigned char*>(secret.data()), &size) != 1)
        throw Gone();
    return secret;
}

std::string text_at(WireReader& reader) { return std::string(reader.text().value_or(std::string_view())); }

}  // namespace

std::string kexinit_of(const Offer& offer) {
    std::string payload(1, static_cast<char>(message::kexinit));
    payload.append(16, 'c');  // the cookie
    for (const std::string& names :
         {offer.kex, offer.host_key, offer.cipher, offer.cipher, offer.mac, offer.mac, std::string("none"),
          std::string("none"), std::string(), std::string()})
        put_text(payload, names);
    return payload + std::string(5, '\0');  // no guess follows; reserved
}

std::string Conversation::kexinit() const { return kexinit_of(Offer()); }

std::string Conversation::say(Stage stage, std::string payload) {
    if (hook_) hook_(*this, stage, payload);
    if (payload.empty()) return payload;
    if (stage == Stage::greeting)
        packets_.send_raw(payload);
    else
        packets_.send(payload);
    return payload;
}

// What may come at any time. False where it is none of that.
bool Conversation::note(const std::string& payload) {
    switch (static_cast<unsigned char>(payload[0])) {
        case message::disconnect:
            throw Gone();
        case message::channel_window:
            window_ += WireReader(std::string_view(payload).substr(5)).number().value_or(0);
            return true;
        case message::ignore:
        case message::unimplemented:
        case message::debug:
        case message::global_request:
        case message::global_request + 1:
        case message::global_request + 2:
        case message::channel_open_failure:
        case message::channel_success:
        case message::channel_failure:
            return true;
        default:
            return false;
    }
}

std::string Conversation::receive(unsigned char type) {
    const auto found = std::ranges::find_if(
        waiting_, [&](const std::string& payload) { return static_cast<unsigned char>(payload[0]) == type; });
    if (found != waiting_.end()) {
        std::string payload = std::move(*found);
        waiting_.erase(found);
        return payload;
    }
    for (;;) {
        std::string payload = packets_.receive();
        if (static_cast<unsigned char>(payload[0]) == type) return payload;
        if (!note(payload)) waiting_.push_back(std::move(payload));
    }
}

// Whatever comes next, what came in the middle of something else first.
std::string Conversation::next() {
    if (waiting_.empty()) return packets_.receive();
    std::string payload = std::move(waiting_.front());
    waiting_.pop_front();
    return payload;
}

void Conversation::exchange_keys(const std::string& client_kexinit, const std::string& own_kexinit) {
    const std::string init = receive(message::kex_init);
    WireReader reader(std::string_view(init).substr(1));
    const std::string theirs = text_at(reader);
    const KeyHandle own(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"), EVP_PKEY_free);
    std::string secret;
    put_mpint(secret, agree(own.get(), theirs));
    std::string hashed;
    for (const std::string& text : {client_greeting_, own_greeting_, client_kexinit, own_kexinit,
                                    host_key_.blob(), theirs, public_half(own.get())})
        put_text(hashed, text);
    const std::string hash = sha256(hashed + secret);
    if (session_id_.empty()) session_id_ = hash;

    std::string reply(1, static_cast<char>(message::kex_reply));
    put_text(reply, host_key_.blob());
    put_text(reply, public_half(own.get()));
    put_text(reply, host_key_.signature(hash));
    say(Stage::kex_reply, reply);
    say(Stage::newkeys, std::string(1, static_cast<char>(message::newkeys)));
    const auto derived = [&](char letter) { return sha256(secret + hash + letter + session_id_); };
    packets_.protect_output({derived('B').substr(0, 16), derived('D'), derived('F')});
    protected_ = true;
    receive(message::newkeys);
    packets_.protect_input({derived('A').substr(0, 16), derived('C'), derived('E')});
}

void Conversation::rekey() {
    const std::string own = kexinit();
    packets_.send(own);
    const std::string theirs = receive(message::kexinit);
    exchange_keys(theirs, own);
}

void Conversation::authenticate() {
    receive(message::service_request);
    std::string accept(1, static_cast<char>(message::service_accept));
    put_text(accept, "ssh-userauth");
    say(Stage::service, accept);
    for (std::string answer; !answer.starts_with(static_cast<char>(message::auth_success));) {
        const std::string request = receive(message::auth_request);
        WireReader reader(std::string_view(request).substr(1));
        text_at(reader);  // user
        text_at(reader);  // service
        const std::string method = text_at(reader);
        const bool is_signed = reader.byte().value_or(0) != 0;
        const std::string algorithm = text_at(reader), blob = text_at(reader);
        if (method == "publickey" && is_signed) {
            answer = say(Stage::auth_success, std::string(1, static_cast<char>(message::auth_success)));
            continue;
        }
        std::string reply(1, static_cast<char>(message::auth_key_ok));
        put_text(reply, algorithm);
        put_text(reply, blob);
        if (method != "publickey") {
            reply = static_cast<char>(message::auth_failure);
            put_text(reply, "publickey");
            reply += '\0';
        }
        answer = say(Stage::key_ok, reply);
    }
}

std::string Conversation::to_channel(unsigned char type) const {
    std::string payload(1, static_cast<char>(type));
    put_number(payload, channel_);
    return payload;
}

std::string Conversation::channel_request(std::string_view name) const {
    std::string payload = to_channel(message::channel_request);
    put_text(payload, name);
    return payload + '\0';
}

std::string Conversation::data(std::string_view bytes) const {
    std::string payload = to_channel(message::channel_data);
    put_text(payload, bytes);
    return payload;
}

void Conversation::print(std::string_view bytes, bool to_stderr) {
    while (!bytes.empty()) {
        while (window_ == 0) {
            std::string payload = packets_.receive();
            if (!note(payload)) waiting_.push_back(std::move(payload));
        }
        const std::size_t size = std::min({bytes.size(), most_at_once, static_cast<std::size_t>(window_)});
        std::string payload = to_channel(to_stderr ? message::channel_extended_data : message::channel_data);
        if (to_stderr) put_number(payload, 1);
        put_text(payload, bytes.substr(0, size));
        packets_.send(payload);
        window_ -= size;
        bytes.remove_prefix(size);
    }
}

void Conversation::serve_command() {
    const std::string open = receive(message::channel_open);
    WireReader reader(std::string_view(open).substr(1));
    text_at(reader);  // "session"
    channel_ = reader.number().value_or(0);
    window_ = reader.number().value_or(0);
    std::string confirmation = to_channel(message::channel_confirmation);
    for (const std::uint32_t number : {0u, 0x7fffffffu, 32768u}) put_number(confirmation, number);
    say(Stage::channel, confirmation);
    receive(message::channel_request);
    say(Stage::exec, to_channel(message::channel_success));

    std::string input;
    for (std::string payload; (payload = next())[0] != message::channel_eof;) {
        if (payload[0] != message::channel_data) {
            note(payload);
            continue;
        }
        WireReader text(std::string_view(payload).substr(5));
        input += text_at(text);
    }
    const std::string printed = output_(input);
    const std::size_t half = printed.size() / 2;
    say(Stage::output, data(printed.substr(0, half)));
    say(Stage::rest, data(printed.substr(half)));
    say(Stage::eof, to_channel(message::channel_eof));
    std::string status = channel_request("exit-status");
    put_number(status, 0);
    say(Stage::exit_status, status);
    say(Stage::close, to_channel(message::channel_close));
    receive(message::channel_close);
}

void Conversation::run() try {
    own_greeting_ = say(Stage::greeting, "SSH-2.0-liar\r\n");
    own_greeting_ =
        own_greeting_.empty() ? "SSH-2.0-liar" : own_greeting_.substr(0, own_greeting_.find('\r'));
    client_greeting_ = packets_.receive_line();
    const std::string own = say(Stage::kexinit, kexinit());
    const std::string theirs = receive(message::kexinit);
    exchange_keys(theirs, own);
    authenticate();
    for (;;) serve_command();
} catch (const Gone&) {
}

}  // namespace cleanslate::agentless::liar
