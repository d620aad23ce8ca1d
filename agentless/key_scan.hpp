#pragma once
// The host keys of many hosts, shown beside what is known of them, and written down where somebody says so.
// Nobody logs in. No Asio here: the controller sees only this header.

#include <memory>
#include <string>
#include <vector>

#include "agentless/fleet.hpp"
#include "agentless/shown_host_key.hpp"
#include "inventory/host.hpp"

namespace cleanslate::agentless {

struct ScannedHost {
    std::string name, address;
    std::uint16_t port = 22;
    std::vector<ShownHostKey> keys;  // at least one, where there is no error
    std::optional<Error> error;      // none was seen
};

// Whether new keys of this host may be added: not beside one that has changed or is revoked, which is no
// place for a yes in passing.
bool may_be_added(const ScannedHost& host);

struct ScanResult {
    std::vector<ScannedHost> hosts;  // in the order of the inventory, one each, always
    bool deadline_passed = false;
    std::vector<std::string> notes;  // things worth saying once
};

class KeyScan {
  public:
    // Of the limits: fanout, and deadline.
    KeyScan(std::vector<inventory::Host> hosts, Reach reach, SweepLimits limits);
    ~KeyScan();
    // Contacts every host. Call once. Errors are those that stop everything before a host is contacted.
    Result<ScanResult> run();
    // From any thread. The first: no new host is begun. The second: everything is cut.
    void stop();

    // After run(): writes the unknown keys of these hosts to the first known_hosts file of each, and marks
    // those that can be read there now as added. Gives back what could not be written, in words.
    std::vector<std::string> add(ScanResult& result);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cleanslate::agentless
