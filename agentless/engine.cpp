#include "agentless/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agentless/places.hpp"
#include "agentless/plan_limit.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace asio = boost::asio;

namespace {

// So often it is looked who has waited for too long.
constexpr std::chrono::milliseconds ticks{100};

// The share of the shard with this number.
std::size_t share(std::size_t all, std::size_t shards, std::size_t number) {
    return all / shards + (number < all % shards ? 1 : 0);
}

}  // namespace

// One thread's share of the hosts. Everything but post() is used from that thread alone.
class Engine::Shard {
  public:
    Shard(Engine& engine, const TransportFactory& make_transport, std::size_t at_work, std::size_t under_way)
        : engine_(engine),
          transport_(make_transport(io_)),
          deadline_(io_),
          ticker_(io_),
          places_(at_work, under_way) {}

    void add(std::size_t index) { queue_.push_back(index); }

    void run() {
        if (queue_.empty()) return;
        deadline_.expires_at(engine_.context_.deadline);
        deadline_.async_wait([this](const boost::system::error_code& error) {
            if (error) return;
            engine_.context_.deadline_passed = true;
            engine_.context_.winding_down = true;
            cut();
        });
        fill();
        tick();
        io_.run();
        // Logins at jump hosts that nobody needs any more give their turns back: other shards wait for them.
        cut();
        io_.restart();
        io_.poll();
    }

    // From any thread.
    void post_wake() {
        asio::post(io_, [this] { wake(); });
    }
    void post_cut() {
        asio::post(io_, [this] { cut(); });
    }

  private:
    bool has_next() const { return next_ < queue_.size() && !engine_.context_.winding_down; }

    // Before hosts pass the limit of failures by being silent, no further one is begun in their places.
    std::size_t room() {
        const auto silent = places_.silent();
        engine_.silent_ += silent - told_silent_;
        told_silent_ = silent;
        return places_.room(engine_.failure_limit_is_near());
    }

    // A worker for each place that is free.
    void fill() {
        const auto workers = std::min(room(), queue_.size() - next_);
        for (std::size_t i = 0; i < workers && (has_next() || live_ == 0); ++i) {
            ++live_;
            asio::co_spawn(io_, work(), asio::detached);
        }
    }

    // Gives the places of those that wait to others, where there are others.
    void tick() {
        ticker_.expires_after(ticks);
        ticker_.async_wait([this](const boost::system::error_code& error) {
            if (error || live_ == 0) return;
            if (has_next() || places_.has_line()) places_.release(Clock::now());
            if (has_next()) fill();
            tick();
        });
    }

    // Takes one host after the other, as long as there is a place for it.
    Awaitable<void> work() {
        while (has_next() && room() > 0) {
            const auto index = queue_[next_++];
            const HostTask& task = engine_.tasks_[index];
            Event wakeup(io_, cancellation_);
            sleepers_.insert(&wakeup);
            Places::Host place;
            places_.begin(place);
            HostRun host{engine_.context_,
                         task,
                         index,
                         endpoint_of(task.host, engine_.reach_),
                         engine_.outcomes_[index],
                         *transport_,
                         wakeup,
                         places_,
                         place};
            co_await host.run();
            places_.end(place);
            sleepers_.erase(&wakeup);
            // A host that the deadline cut may be told so before the deadline's own timer is.
            if (engine_.outcomes_[index].error && Clock::now() >= engine_.context_.deadline) {
                engine_.context_.deadline_passed = true;
                engine_.context_.winding_down = true;
            }
            engine_.host_finished(engine_.outcomes_[index]);
        }
        if (--live_ == 0) {
            deadline_.cancel();
            ticker_.cancel();
            io_.stop();
        }
    }

    void wake() {
        for (Event* sleeper : sleepers_) sleeper->notify();
    }

    void cut() {
        transport_->cancel_all();
        cancellation_->request();
    }

    Engine& engine_;
    asio::io_context io_{1};
    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
    std::unique_ptr<Transport> transport_;
    asio::steady_timer deadline_, ticker_;
    Places places_;
    std::set<Event*> sleepers_;
    std::vector<std::size_t> queue_;
    std::size_t next_ = 0;
    std::size_t live_ = 0;         // workers
    std::size_t told_silent_ = 0;  // of this shard's in the engine's count
};

Endpoint endpoint_of(const inventory::Host& host, const Reach& reach) {
    return {host.name,
            host.address,
            host.port,
            host.user.value_or(reach.user),
            host.identity_file.value_or(""),
            reach.become || host.become.value_or(false),
            reach.jump ? reach.jump : host.proxy_jump,
            host.ssh};
}

Engine::Engine(std::vector<HostTask> tasks, Job job, Reach reach, SweepLimits limits, Observer& observer,
               Audit& audit)
    : tasks_(std::move(tasks)),
      reach_(std::move(reach)),
      context_{std::move(job), limits, Clock::time_point::max(), observer, audit},
      outcomes_(tasks_.size()),
      doing_(tasks_.size()) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        outcomes_[i].name = tasks_[i].host.name;
        outcomes_[i].address = tasks_[i].host.address;
        outcomes_[i].port = tasks_[i].host.port.value_or(22);
    }
    context_.on_doing = [this](std::size_t index, const std::string& what) {
        const std::lock_guard lock(mutex_);
        doing_[index] = what;
    };
    context_.wake_all = [this] { wake_all(); };
    context_.on_audit_failure = [this](const Error& error) {
        {
            const std::lock_guard lock(mutex_);
            if (audit_error_.empty()) audit_error_ = error.message;
        }
        context_.audit_failed = true;
        wind_down();
    };
}

Engine::~Engine() = default;

int Engine::shard_count() const {
    if (context_.limits.threads > 0) return context_.limits.threads;
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

void Engine::deal(const TransportFactory& make_transport) {
    const auto fanout = static_cast<std::size_t>(std::max(1, context_.limits.fanout));
    const auto under_way = std::max(fanout, static_cast<std::size_t>(std::max(0, context_.limits.under_way)));
    const auto count =
        std::min({static_cast<std::size_t>(shard_count()), fanout, std::max<std::size_t>(1, tasks_.size())});
    std::vector<std::unique_ptr<Shard>> shards;
    for (std::size_t i = 0; i < count; ++i)
        shards.push_back(std::make_unique<Shard>(*this, make_transport, share(fanout, count, i),
                                                 share(under_way, count, i)));
    for (std::size_t i = 0; i < tasks_.size(); ++i) shards[i % count]->add(i);
    const std::lock_guard lock(mutex_);
    shards_ = std::move(shards);
}

SweepResult Engine::run(const TransportFactory& make_transport) {
    if (context_.limits.deadline) context_.deadline = Clock::now() + *context_.limits.deadline;
    deal(make_transport);
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < shards_.size(); ++i) threads.emplace_back([this, i] { shards_[i]->run(); });
    shards_[0]->run();
    for (auto& thread : threads) thread.join();
    return collect();
}

void Engine::wind_down() {
    context_.winding_down = true;
    wake_all();
}

void Engine::wake_all() {
    const std::lock_guard lock(mutex_);
    for (const auto& shard : shards_) shard->post_wake();
}

void Engine::cut() {
    context_.winding_down = true;
    context_.cut = true;
    const std::lock_guard lock(mutex_);
    for (const auto& shard : shards_) shard->post_cut();
}

void Engine::stop() {
    bool again = false;
    {
        const std::lock_guard lock(mutex_);
        again = stops_++ > 0;
    }
    again ? cut() : wind_down();
}

void Engine::host_finished(const HostOutcome& outcome) {
    if (!context_.limits.max_failures) return;
    // A host that was only asked to run a command has no verdict: it failed if it could not be asked.
    const bool unproven = context_.job.kind != Job::Kind::run && outcome.verdict >= Verdict::unknown;
    if (!unproven && !outcome.error) return;
    {
        const std::lock_guard lock(mutex_);
        if (static_cast<double>(++failures_) <= allowed_failures() || failure_limit_reached_) return;
        failure_limit_reached_ = true;
    }
    wind_down();
}

double Engine::allowed_failures() const {
    const double limit = *context_.limits.max_failures;
    return limit < 1 ? limit * static_cast<double>(tasks_.size()) : limit;
}

bool Engine::failure_limit_is_near() const {
    return context_.limits.max_failures && static_cast<double>(failures_ + silent_) > allowed_failures();
}

std::vector<std::pair<std::string, std::string>> Engine::unfinished() const {
    std::vector<std::pair<std::string, std::string>> names;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < doing_.size(); ++i)
        if (!doing_[i].empty()) names.emplace_back(tasks_[i].host.name, doing_[i]);
    return names;
}

SweepResult Engine::collect() {
    SweepResult result;
    const std::lock_guard lock(mutex_);
    result.interrupted = stops_ > 0;
    result.deadline_passed = context_.deadline_passed;
    result.failure_limit_reached = failure_limit_reached_;
    result.audit_failed = context_.audit_failed;
    result.audit_error = audit_error_;
    const std::string_view why = result.interrupted             ? "the sweep was interrupted first"
                                 : result.deadline_passed       ? "the sweep's deadline passed first"
                                 : result.failure_limit_reached ? "the failure limit was reached first"
                                 : result.audit_failed          ? "the audit log could not be written"
                                                                : "the sweep ended first";
    for (auto& outcome : outcomes_)
        if (!outcome.started)
            outcome.error =
                Error{"not_tried", "", fmt::format("not tried: {}", why), "sweep this host again"};
    result.hosts = std::move(outcomes_);
    if (context_.job.dry_run && context_.job.max_kills_total)
        limit_plan(result.hosts, *context_.job.max_kills_total);
    shards_.clear();
    return result;
}

}  // namespace cleanslate::agentless
