#include "agentless/key_scan.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agentless/engine.hpp"
#include "agentless/ssh/ssh_transport.hpp"
#include "agentless/ssh_reach.hpp"

namespace cleanslate::agentless {

namespace asio = boost::asio;

// One thread: a handshake costs a millisecond or two.
struct KeyScan::State {
    std::vector<inventory::Host> hosts;
    Reach reach;
    SweepLimits limits;
    ScanResult result;
    asio::io_context io{1};
    std::shared_ptr<SshContext> context;
    std::unique_ptr<HostKeyViewer> viewer;
    asio::steady_timer timer{io};
    Clock::time_point deadline = Clock::time_point::max();
    std::size_t next = 0, live = 0;
    std::atomic<int> stops = 0;
    std::atomic<bool> winding_down = false;

    Awaitable<void> work() {
        while (next < hosts.size() && !winding_down) {
            const std::size_t index = next++;
            const Endpoint endpoint = endpoint_of(hosts[index], reach);
            ScannedHost& host = result.hosts[index];
            try {
                auto keys = co_await viewer->look(endpoint, deadline);
                // A host may be told of the deadline before the deadline's own timer is.
                if (Clock::now() >= deadline) result.deadline_passed = winding_down = true;
                host.error.reset();
                if (keys)
                    host.keys = std::move(*keys);
                else
                    host.error = std::move(keys.error());
            } catch (const std::exception& thrown) {  // the others go on, and the scan ends
                host.error = Error{"internal", "", thrown.what(), "try this host again"};
            }
        }
        if (--live == 0) {
            timer.cancel();
            io.stop();
        }
    }

    void contact() {
        live = std::min(hosts.size(), static_cast<std::size_t>(std::max(1, limits.fanout)));
        if (live == 0) return;
        if (limits.deadline) deadline = Clock::now() + *limits.deadline;
        timer.expires_at(deadline);
        timer.async_wait([this](const boost::system::error_code& error) {
            if (error) return;
            result.deadline_passed = winding_down = true;
            viewer->cancel_all();
        });
        for (std::size_t i = 0, n = live; i < n; ++i) asio::co_spawn(io, work(), asio::detached);
        io.run();
    }
};

bool may_be_added(const ScannedHost& host) {
    using Standing = ShownHostKey::Standing;
    return std::ranges::all_of(host.keys, [](const ShownHostKey& key) {
        return key.standing == Standing::known || key.standing == Standing::unknown;
    });
}

KeyScan::KeyScan(std::vector<inventory::Host> hosts, Reach reach, SweepLimits limits)
    : state_(std::make_unique<State>()) {
    state_->hosts = std::move(hosts);
    state_->reach = std::move(reach);
    state_->limits = limits;
}

KeyScan::~KeyScan() = default;

Result<ScanResult> KeyScan::run() {
    State& state = *state_;
    if (!state.reach.ssh) {
        if (auto read = prepare(state.reach, {}, nullptr); !read) return std::unexpected(read.error());
    }
    state.context = state.reach.ssh;
    state.viewer = make_host_key_viewer(state.io, state.context);
    for (const inventory::Host& host : state.hosts) {
        const Error not_tried{"not_tried", "", "not tried: the scan ended first", "try this host again"};
        state.result.hosts.push_back({host.name, host.address, host.port.value_or(22), {}, not_tried});
    }
    state.contact();
    state.result.notes = ssh_notes(*state.context);
    return std::move(state.result);
}

void KeyScan::stop() {
    state_->winding_down = true;
    if (state_->stops++ == 0) return;
    asio::post(state_->io, [state = state_.get()] {
        if (state->viewer) state->viewer->cancel_all();
    });
}

std::vector<std::string> KeyScan::add(ScanResult& result) {
    using Standing = ShownHostKey::Standing;
    std::vector<std::string> unwritten;
    for (std::size_t i = 0; i < result.hosts.size(); ++i) {
        if (!may_be_added(result.hosts[i])) continue;
        for (const ShownHostKey& key : result.hosts[i].keys) {
            if (key.standing != Standing::unknown) continue;
            const auto believed =
                believe_host_key(*state_->context, endpoint_of(state_->hosts[i], state_->reach), key.blob);
            if (!believed) unwritten.push_back(believed.error().message);
        }
    }
    for (std::string& why : keep_host_keys(*state_->context)) unwritten.push_back(std::move(why));
    // Known is what the files say now, whoever wrote it.
    const auto now = load_ssh_context(ssh_options(state_->reach));
    if (!now) unwritten.push_back(now.error().message);
    for (std::size_t i = 0; now && i < result.hosts.size(); ++i) {
        for (ShownHostKey& key : result.hosts[i].keys) {
            if (key.standing != Standing::unknown) continue;
            auto judged = judge_host_key(**now, endpoint_of(state_->hosts[i], state_->reach), key.blob);
            if (!judged) continue;
            key = std::move(*judged);
            key.added = key.standing == Standing::known;
        }
    }
    return unwritten;
}

}  // namespace cleanslate::agentless
