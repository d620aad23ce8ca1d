#pragma once
// The program as an operator runs it, against a simulated fleet of the test's own.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/fleet/selftest/running_fleet.hpp"
#include "tests/support/subprocess.hpp"

namespace cleanslate::testing {

using nlohmann::json;
using simulated::fleet_file;
using simulated::RunningFleet;

inline std::string program() { return std::string(CLEANSLATE_BINARY_DIR) + "/cleanslate"; }

// A folder that goes with the test.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        char name[] = "/tmp/cleanslate-test-XXXXXX";
        path_ = mkdtemp(name);
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

inline std::string contents(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Report {
    int status = -1;
    json document;  // null where stdout was no JSON
    std::string err;
    std::chrono::milliseconds took{0};

    const json& host(const std::string& name) const {
        // With all that tests look for, so that one without a report fails and does not crash.
        static const json none{{"verdict", ""},
                               {"findings", json::array()},
                               {"gpus", json::array()},
                               {"actions", json::array()},
                               {"commands", json::array()},
                               {"plan", json::array()}};
        if (document.is_object())
            for (const auto& h : document["hosts"])
                if (h["name"] == name) return h;
        ADD_FAILURE() << "no host " << name << " in the report; status " << status << ", " << err;
        return none;
    }
    std::string verdict(const std::string& name) const { return host(name)["verdict"].get<std::string>(); }
    // The host's own findings and its GPUs'.
    std::vector<json> findings(const std::string& name) const {
        const auto& h = host(name);
        std::vector<json> all(h["findings"].begin(), h["findings"].end());
        for (const auto& gpu : h["gpus"])
            all.insert(all.end(), gpu["findings"].begin(), gpu["findings"].end());
        return all;
    }
    bool has_finding(const std::string& name, const std::string& code, const std::string& part = "") const {
        for (const auto& f : findings(name))
            if (f["code"] == code && f.dump().find(part) != std::string::npos) return true;
        return false;
    }
};

// An operator's surroundings: own home, own state, the fleet's inventory and known_hosts.
class Operator {
  public:
    explicit Operator(const RunningFleet& fleet) : fleet_(fleet) {}

    std::map<std::string, std::string> environment() const {
        return {{"HOME", home_.path()},
                {"XDG_STATE_HOME", home_ / "state"},
                {"XDG_CONFIG_HOME", home_ / "config"},
                {"CLEANSLATE_CONFIG", ""},
                {"SSH_AUTH_SOCK", ""},
                {"CLEANSLATE_INVENTORY", fleet_.folder() + "/inventory.yaml"}};
    }
    std::vector<std::string> command(std::vector<std::string> arguments) const {
        // Right behind the command: what follows a `--` belongs to the hosts.
        arguments.insert(arguments.begin() + 1, {"--known-hosts", fleet_.folder() + "/known_hosts"});
        arguments.insert(arguments.begin(), program());
        return arguments;
    }
    Ended run(const std::vector<std::string>& arguments) const {
        return testing::run({command(arguments), "", environment(), std::chrono::seconds(120)});
    }
    // check or clear, with --format json; clear with --yes unless it says what else.
    Report report(std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"--format", "json"});
        const auto ended = run(arguments);
        return {ended.status, json::parse(ended.out, nullptr, false), ended.err, ended.took};
    }
    std::string audit() const { return contents(home_ / "state/cleanslate/audit.jsonl"); }
    const TemporaryFolder& home() const { return home_; }

  private:
    const RunningFleet& fleet_;
    TemporaryFolder home_;
};

// `ps` of a fleet in a file, for `simhost judge`.
inline void remember(const RunningFleet& fleet, const std::string& file) {
    std::ofstream(file) << simulated::run({simulated::simhost(), "ps", fleet.folder()}).out;
}

inline bool same(const simulated::ProcessLine& a, const simulated::ProcessLine& b) {
    return a.pid != 0 && a.pid == b.pid && a.start == b.start;
}

#define SKIP_WITHOUT_ROOT() \
    if (geteuid() != 0) GTEST_SKIP() << "simulated hosts need root"

}  // namespace cleanslate::testing
