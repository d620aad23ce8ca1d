#include "agentless/ssh/wire.hpp"

#include <openssl/evp.h>

#include <array>

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> make_values() {
    std::array<std::int8_t, 256> values{};
    for (auto& value : values) value = -1;
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
    }
    return values;
}
constexpr std::array<std::int8_t, 256> base64_values = make_values();

}  // namespace

std::optional<std::uint8_t> WireReader::byte() {
    if (rest_.empty()) return std::nullopt;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
}

std::optional<std::uint32_t> WireReader::number() {
    if (rest_.size() < 4) return std::nullopt;
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i)
        value = value << 8 | static_cast<std::uint8_t>(rest_[static_cast<std::size_t>(i)]);
    rest_.remove_prefix(4);
    return value;
}

std::optional<std::string_view> WireReader::text() {
    WireReader ahead(rest_);
    const auto length = ahead.number();
    if (!length || *length > ahead.rest_.size()) return std::nullopt;
    const std::string_view value = ahead.rest_.substr(0, *length);
    rest_ = ahead.rest_.substr(*length);
    return value;
}

void put_number(std::string& out, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift & 0xff));
}

void put_text(std::string& out, std::string_view text) {
    put_number(out, static_cast<std::uint32_t>(text.size()));
    out.append(text);
}

void put_mpint(std::string& out, std::string_view magnitude) {
    while (!magnitude.empty() && magnitude.front() == '\0') magnitude.remove_prefix(1);
    const bool top_bit = !magnitude.empty() && (static_cast<unsigned char>(magnitude.front()) & 0x80) != 0;
    put_number(out, static_cast<std::uint32_t>(magnitude.size() + (top_bit ? 1 : 0)));
    if (top_bit) out.push_back('\0');
    out.append(magnitude);
}

std::optional<std::string> decode_base64(std::string_view text) {
    std::size_t padding = 0;
    while (padding < 2 && !text.empty() && text.back() == '=') {
        text.remove_suffix(1);
        ++padding;
    }
    if ((text.size() + padding) % 4 != 0 || text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t window = 0;
    int bits = 0;
    for (const char character : text) {
        const int value = base64_values[static_cast<unsigned char>(character)];
        if (value < 0) return std::nullopt;
        window = (window << 6 | static_cast<std::uint32_t>(value)) & 0xffffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes.push_back(static_cast<char>(window >> bits & 0xff));
        }
    }
    return bytes;
}

std::string encode_base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
        }
        const std::size_t used = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t k = 0; k < 4; ++k)
            text.push_back(k <= used ? alphabet[group >> (18 - 6 * k) & 0x3f] : '=');
    }
    return text;
}

std::string_view key_type(std::string_view blob) {
    return WireReader(blob).text().value_or(std::string_view());
}

std::string fingerprint(std::string_view blob) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(blob.data(), blob.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
        return "SHA256:?";
    std::string text = encode_base64({reinterpret_cast<const char*>(digest.data()), size});
    while (!text.empty() && text.back() == '=') text.pop_back();
    return "SHA256:" + text;
}

}  // namespace cleanslate::agentless::ssh
