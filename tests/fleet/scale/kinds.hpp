#pragma once
// What is wrong with which host of a fleet, by share and by seed.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cleanslate::simulated {

enum class Kind {
    healthy,
    dirty,          // one leaked worker that ends on TERM
    stubborn,       // one that ignores TERM
    sick,           // one GPU is lost
    black_hole,     // SYNs are dropped
    refused,        // nothing listens at its port
    no_banner,      // accepts, says nothing
    hang_login,     // never answers the authentication
    deny,           // refuses every key
    hang_exec,      // accepts the command, never answers
    cut_survey,     // closes the TCP connection in the middle of a survey's output
    no_end,         // a survey lacks its end record
    slow,           // each answer comes 2 s late
    garbage,        // rubbish in place of what a script prints
    lost_mid_kill,  // dirty, and the connection is closed when a signal script is there
};

const char* name_of(Kind kind);
// Absent for a word that is none, and for `healthy`.
std::optional<Kind> find_kind(std::string_view name);

struct Share {
    Kind kind;
    double percent = 0;
};

// One kind for each host: of each share so many as its percentage, rounded, gives; at which places, the seed
// says. The same arguments give the same answer on every machine. Shares of more than 100 % together are cut
// off.
std::vector<Kind> choose_kinds(std::size_t hosts, const std::vector<Share>& shares, std::uint64_t seed);

}  // namespace cleanslate::simulated
