#include "tests/liar/packets.hpp"

#include <openssl/hmac.h>
#include <sys/socket.h>

#include <algorithm>

#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::liar {
namespace {

const unsigned char* octets(std::string_view bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

constexpr std::size_t mac_size = 32;

}  // namespace

void Packets::Direction::use(const Secrets& secrets) {
    cipher.reset(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
    // Counter mode: both directions encrypt.
    EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_ctr(), nullptr, octets(secrets.key), octets(secrets.iv));
    mac_key = secrets.mac;
}

std::string Packets::Direction::crypted(std::string_view bytes) {
    std::string result(bytes);
    int size = 0;
    if (cipher)
        EVP_EncryptUpdate(cipher.get(), reinterpret_cast<unsigned char*>(result.data()), &size, octets(bytes),
                          static_cast<int>(bytes.size()));
    return result;
}

std::string Packets::Direction::mac(std::string_view packet) const {
    if (!cipher) return {};
    std::string input;
    ssh::put_number(input, number);
    input += packet;
    std::string digest(mac_size, '\0');
    HMAC(EVP_sha256(), mac_key.data(), static_cast<int>(mac_key.size()), octets(input), input.size(),
         reinterpret_cast<unsigned char*>(digest.data()), nullptr);
    return digest;
}

std::string Packets::packed(std::string_view payload) {
    const std::size_t block = 16;
    const std::size_t padding = block + 4 - (payload.size() + 5 + 4) % block;
    std::string packet;
    ssh::put_number(packet, static_cast<std::uint32_t>(1 + payload.size() + padding));
    packet += static_cast<char>(padding);
    packet += payload;
    packet.append(padding, '\0');
    const std::string mac = out_.mac(packet);
    ++out_.number;
    return out_.crypted(packet) + mac;
}

void Packets::send_raw(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) throw Gone();
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

std::string Packets::take(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t got = 0; got < size;) {
        const ssize_t count = recv(peer_, bytes.data() + got, size - got, 0);
        if (count <= 0) throw Gone();
        got += static_cast<std::size_t>(count);
    }
    return bytes;
}

std::string Packets::receive_line() {
    std::string line;
    while (!line.ends_with('\n')) line += take(1);
    line.pop_back();
    if (line.ends_with('\r')) line.pop_back();
    return line;
}

std::string Packets::receive() {
    const std::size_t first = in_.cipher ? 16 : 8;
    std::string packet = in_.crypted(take(first));
    const std::uint32_t length = *ssh::WireReader(packet).number();
    if (length > 1u << 18 || length + 4 < first) throw Gone();
    packet += in_.crypted(take(length + 4 - first));
    const std::string mac = in_.mac(packet);
    if (mac != take(mac.size())) throw Gone();  // other keys than ours
    ++in_.number;
    const auto padding = static_cast<unsigned char>(packet[4]);
    if (padding + 1u >= length) throw Gone();
    return packet.substr(5, length - padding - 1);
}

}  // namespace cleanslate::agentless::liar
