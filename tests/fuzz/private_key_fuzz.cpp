// Property: any text is a key or an error in words; a key that was read signs under its own type, and its
// public half begins with that type.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "agentless/ssh/private_key.hpp"
#include "agentless/ssh/wire.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cleanslate::agentless::ssh;
    const auto parsed = parse_private_key({reinterpret_cast<const char*>(data), size});
    if (!parsed) {
        if (parsed.error().kind != "identity" || parsed.error().message.empty()) std::abort();
        return 0;
    }
    if (!parsed->key) return 0;
    const std::string_view type = key_type(parsed->blob);
    if (type.empty() || parsed->key->blob() != parsed->blob) std::abort();
    if (type != "ssh-rsa" && parsed->key->sign("data", type).empty()) std::abort();
    return 0;
}
