#pragma once
// A fleet before it is started: which hosts, where, and which files it has in its folder.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fleet/description.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

struct Member {
    Host host;
    std::string address;  // 127.0.N.I
    pid_t init = -1;      // pid of its init, as the machine numbers it; -1: unreachable host
    std::uint64_t start = 0;
};

struct Fleet {
    std::string folder;
    int port = 2222;
    std::vector<Member> members;
};

// The files of a fleet's folder:
//   key, key.pub      log in as root, alice, bob, ...
//   known_hosts       of all hosts
//   ssh_config        for `ssh -F`
//   inventory.yaml    for cleanslate
//   hosts.tsv         name, address, port, init's pid, init's start time ("-" where unreachable)
//   keeper            pid and start time of the process that keeps the hosts
//   log               what keeper and inits had to say
//   hosts/NAME/       description and host key
void write_fleet_files(const Fleet& fleet);

// What `up` wrote. Dies where the folder holds no fleet.
Fleet read_fleet(const std::string& folder);

struct Keeper {
    pid_t pid = -1;
    std::uint64_t start = 0;
};
std::optional<Keeper> read_keeper(const std::string& folder);

// Picks 127.0.N and a port that no other fleet and no other server uses: the first address is a socket bound
// to 127.0.N.254 that stays open as long as the fleet lives.
Fd choose_network(Fleet& fleet);

// Creates client and host keys.
void make_keys(const Fleet& fleet);

}  // namespace cleanslate::simulated
