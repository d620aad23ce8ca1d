#include "tests/fleet/scale/fleet_state.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

constexpr std::uint32_t first_address = 0x7f400001;  // 127.64.0.1

constexpr const char* worker =
    "process leaked\n    exe /opt/serve/bin/python3.12\n    argv python3 -m sglang.launch_server --port "
    "30000\n"
    "    user alice\n    memory 0=40960\n";

bool has_leaked_worker(Kind kind) {
    return kind == Kind::dirty || kind == Kind::stubborn || kind == Kind::lost_mid_kill;
}

// What a kind adds to the fleet's description.
std::string addition(Kind kind) {
    if (kind == Kind::dirty || kind == Kind::lost_mid_kill) return worker;
    if (kind == Kind::stubborn) return std::string(worker) + "    term ignore\n";
    if (kind == Kind::sick) return "gpu 0 state lost\n";
    return {};
}

std::string base_name(const std::string& path) {
    const auto name = path.substr(path.rfind('/') + 1);
    return name.substr(0, name.rfind('.'));
}

std::shared_ptr<Blueprint> blueprint(const FleetOptions& options, const std::string& text, Kind kind) {
    const std::string file = options.model.empty() ? "the model" : options.model;
    auto host = parse_host(text + addition(kind), file + " and what is " + name_of(kind) + " in it",
                           options.model.empty() ? "sim" : base_name(options.model));
    if (!host) die(host.error().message);
    if (options.release_ms) host->release_ms = *options.release_ms;
    if (const auto beyond = beyond_model(*host); !beyond.empty())
        die(fmt::format("{}: the model cannot do this: {}", file, beyond));
    return std::make_shared<Blueprint>(std::move(*host));
}

std::string description(const FleetOptions& options) {
    if (options.model.empty()) return fmt::format("gpus {}\n", options.gpus);
    const auto text = read_file(options.model);
    need(text.has_value(), "cannot read " + options.model);
    return *text + "\n";
}

}  // namespace

std::uint32_t address_of(std::size_t host) { return first_address + static_cast<std::uint32_t>(host); }

std::optional<std::size_t> host_at(std::uint32_t address, std::size_t hosts) {
    if (address < first_address || address - first_address >= hosts) return std::nullopt;
    return address - first_address;
}

std::string dotted(std::uint32_t address) {
    return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
}

std::string host_name(std::size_t host, std::size_t hosts) {
    const std::size_t width = std::max<std::size_t>(5, std::to_string(hosts).size());
    return fmt::format("sim{:0{}}", host + 1, width);
}

FleetState::FleetState(const FleetOptions& asked)
    : options(asked), kinds_(choose_kinds(asked.hosts, asked.shares, asked.seed)), counts_(asked.hosts) {
    const auto text = description(options);
    std::map<std::string, std::shared_ptr<Blueprint>> blueprints;
    hosts_.reserve(kinds_.size());
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
        auto& shared = blueprints[addition(kinds_[i])];
        if (!shared) shared = blueprint(options, text, kinds_[i]);
        hosts_.emplace_back(shared, static_cast<std::uint32_t>(i + 1),
                            has_leaked_worker(kinds_[i]) ? options.redirty : std::nullopt);
    }
}

std::uint64_t FleetState::connection_begins(std::size_t host) {
    ++counts_[host];
    const auto current = ++now_;
    auto peak = peak_.load();
    while (peak < current && !peak_.compare_exchange_weak(peak, current)) {
    }
    return ++connections_;
}

std::string FleetState::served() const {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    std::string repeated;
    for (std::size_t i = 0; i < counts_.size(); ++i)
        if (counts_[i] > 1)
            repeated += fmt::format("{}\n    \"{}\": {}", repeated.empty() ? "" : ",", host_name(i, size()),
                                    counts_[i].load());
    return fmt::format(
        "{{\n  \"connections\": {},\n  \"peak\": {},\n  \"cpu_s\": {:.3f},\n  \"maxrss_mib\": {:.1f},\n"
        "  \"more_than_one\": {{{}{}}}\n}}\n",
        connections_.load(), peak_.load(), seconds(usage.ru_utime) + seconds(usage.ru_stime),
        static_cast<double>(usage.ru_maxrss) / 1024, repeated, repeated.empty() ? "" : "\n  ");
}

}  // namespace cleanslate::simulated
