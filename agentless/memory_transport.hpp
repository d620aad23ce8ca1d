#pragma once
// Hosts that exist only in memory, for tests of everything above the transport. What a host does is a
// function of the script that it is given.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agentless/transport.hpp"

namespace cleanslate::agentless {

// What one run does. `delay` passes before anything else; then the run ends as `end` says.
struct MemoryReply {
    enum class End { normal, hang, close };  // hang: never ends by itself; close: the connection is lost

    std::string out;
    std::string err;
    std::optional<int> exit_status = 0;
    std::string exit_signal;
    Milliseconds delay{0};
    End end = End::normal;
    // For scripts with a gate, before all else: what the host prints once it has read so much of its standard
    // input, which may be at its end. Asked again after each thing that came, until it says that it is over;
    // out and err go in front of the above.
    struct Talk {
        std::string out, err;
        bool over = false;
    };
    std::function<Talk(std::string_view input, bool at_end)> talk;
};

struct MemoryHost {
    std::function<MemoryReply(const Script&)> reply;  // empty: every script ends with 0 and no output
    std::optional<Error> open_error;                  // after open_delay, in place of a connection
    Milliseconds open_delay{0};
    bool open_hangs = false;
};

// By the endpoint's name; one that is not here refuses the connection.
using MemoryFleet = std::map<std::string, MemoryHost>;

// Several shards may share one fleet: `reply` is then called from their threads.
std::unique_ptr<Transport> make_memory_transport(boost::asio::io_context& io,
                                                 std::shared_ptr<const MemoryFleet> fleet);

}  // namespace cleanslate::agentless
