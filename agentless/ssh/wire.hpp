#pragma once
// The SSH wire format (RFC 4251, section 5) and base64. Pure; every read is bounded.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleanslate::agentless::ssh {

// Reads from the front. What does not fit into the rest is absent, and the reader then stays where it was.
class WireReader {
  public:
    explicit WireReader(std::string_view bytes) : rest_(bytes) {}
    std::optional<std::uint8_t> byte();
    std::optional<std::uint32_t> number();
    std::optional<std::string_view> text();  // a number and so many bytes
    std::string_view rest() const { return rest_; }
    bool at_end() const { return rest_.empty(); }

  private:
    std::string_view rest_;
};

void put_number(std::string& out, std::uint32_t number);
void put_text(std::string& out, std::string_view text);
// An unsigned big-endian number as mpint: without leading zeros, with one zero byte before a set top bit.
void put_mpint(std::string& out, std::string_view magnitude);

// Strict: the alphabet, padding only at the end, a length that is possible; no blanks.
std::optional<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

// The type that a public key's blob begins with ("ssh-ed25519"); empty where it begins with none.
std::string_view key_type(std::string_view blob);
// "SHA256:..." as ssh and ssh-keygen print it.
std::string fingerprint(std::string_view blob);

}  // namespace cleanslate::agentless::ssh
