#pragma once
// What ssh itself makes of a configuration (`ssh -G`), and what cleanslate does, in one form that can be
// compared.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cleanslate::agentless::contract {

// Keyword -> what is decided, for the keywords of `compared_keywords()`; nothing where the configuration is
// refused.
using Decided = std::optional<std::map<std::string, std::string>>;

struct Asked {
    std::string host;
    std::string user{};
    std::uint16_t port = 0;  // 0: none
};

const std::vector<std::string>& compared_keywords();

// Why ssh cannot be asked here; empty where it can.
std::string no_ssh_here();

Decided decided_by_ssh(const std::string& file, const Asked& asked);
// `why`: the error, where it is refused.
Decided decided_by_cleanslate(const std::string& file, const Asked& asked, std::string& why);

}  // namespace cleanslate::agentless::contract
