// Property: any text is read to its end; every line is an entry, a comment or a note; no key of an authority
// is a host's; and a key that any line marks as revoked for all hosts is never known.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "agentless/ssh/known_hosts.hpp"
#include "agentless/ssh/wire.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cleanslate::agentless::ssh;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::string blob;
    put_text(blob, "ssh-ed25519");
    put_text(blob, "0123456789abcdef0123456789abcdef");

    KnownHosts hosts;
    hosts.read(text, "fuzz");
    for (const std::uint16_t port : {std::uint16_t{22}, std::uint16_t{2222}}) {
        const KnownKeys known = hosts.find("gpu01.example.com", port);
        for (const KnownKey* key : known.keys) {
            if (key_type(key->blob) != key->type) std::abort();
        }
        const HostKeyMatch match = match_host_key(known, blob);
        if ((match.answer == HostKeyMatch::Answer::unknown) != (match.key == nullptr)) std::abort();
        if (match.answer == HostKeyMatch::Answer::known && match.key->role != KnownKey::Role::host)
            std::abort();
        if (host_key_algorithms(known).size() != 7) std::abort();
    }
    if (hosts.notes().size() > 11) std::abort();

    hosts.read("\n@revoked * ssh-ed25519 " + encode_base64(blob) + "\n", "own");
    const HostKeyMatch match = match_host_key(hosts.find("gpu01.example.com", 22), blob);
    if (match.answer != HostKeyMatch::Answer::revoked) std::abort();
    return 0;
}
