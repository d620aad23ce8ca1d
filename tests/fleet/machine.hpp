#pragma once
// What a simulated host sees of the machine: its own name, /proc, /dev, /run, /root, /home, accounts, cgroups
// and programs below /usr/local/bin and /opt, laid over the machine's in a mount namespace of its own.

#include <string>

#include "tests/fleet/description.hpp"

namespace cleanslate::simulated {

// What is brought along from outside, since it may lie where the host sees something else.
struct Luggage {
    std::string stage;       // an empty folder; what is mounted there is gone when this returns
    std::string programs;    // the folder with simworker and nvidia-smi
    std::string public_key;  // who may log in
    std::string host_key;    // file of the private key
    std::string address;
    int port = 2222;
};

// Called in fresh mount, pid, UTS and cgroup namespaces by their first process. Dies where something cannot
// be done.
void furnish(const Host& host, const Luggage& luggage);

}  // namespace cleanslate::simulated
