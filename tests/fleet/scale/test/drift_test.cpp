// The model against what it stands for: the same descriptions as real simulated hosts (sshd, sh, processes,
// signals) and as modelled ones, one report of each, and no difference.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <regex>

#include "tests/fleet/scale/test/reports.hpp"
#include "tests/fleet/scale/test/running_simfleet.hpp"

namespace cleanslate::testing {
namespace {

using simulated::RunningSimfleet;

struct Description {
    const char* name;
    const char* file;  // below tests/fleet
};
// Clean; a leaked worker; workers that ignore TERM and that take their time; a lost GPU; protected daemons
// beside a worker with a launcher.
constexpr Description descriptions[] = {{"clean", "hosts/clean.host"},
                                        {"leak", "hosts/leak.host"},
                                        {"h200-busy", "hosts/h200-busy.host"},
                                        {"lost", "hosts/lost.host"},
                                        {"protected", "scale/hosts/protected.host"}};

// The modelled hosts under the names that the real ones have.
class ModelledHosts {
  public:
    ModelledHosts() {
        std::ofstream inventory(folder_ / "inventory.yaml");
        inventory << "all:\n  hosts:\n";
        for (const auto& [name, file] : descriptions) {
            fleets_.push_back(std::make_unique<RunningSimfleet>(
                std::vector<std::string>{"--hosts", "1", "--model", simulated::fleet_file(file)}));
            const auto& fleet = *fleets_.back();
            inventory << "    " << name
                      << ": {ansible_host: 127.64.0.1, ansible_user: root, ansible_port: " << fleet.port()
                      << ", ansible_ssh_private_key_file: " << fleet.file("id") << ", gpus: " << gpus_of(file)
                      << "}\n";
            known_.push_back(fleet.file("known_hosts"));
        }
    }
    std::string inventory() const { return folder_ / "inventory.yaml"; }
    const std::vector<std::string>& known_hosts() const { return known_; }

  private:
    static std::string gpus_of(const std::string& file) {
        const auto text = contents(simulated::fleet_file(file));
        const auto at = text.find("\ngpus ");
        const auto begin = text.find_first_of("0123456789", at);
        return text.substr(begin, text.find('\n', begin) - begin);
    }
    TemporaryFolder folder_;
    std::vector<std::unique_ptr<RunningSimfleet>> fleets_;
    std::vector<std::string> known_;
};

// What differs between two fleets of the same hosts, and nothing else:
//   address, port: where each of them listens
//   boot_id, inventory: of this boot there, made from its number here; each fleet's file
//   uuid: made from the host's name here, from its number there
//   pid (in words, too), start, age_seconds: of real processes, which are as old as the fleet
//   seconds, seconds_to_clean, started: how long it took, and when
//   the order of holders, openers, spared and targets: the survey shows processes as its awk's arrays have
//   them
void neutralise(json& value) {
    static const std::regex pid_in_text("(pid|launcher of) [0-9]+");
    if (value.is_string()) value = std::regex_replace(value.get<std::string>(), pid_in_text, "$1 any");
    if (value.is_object()) {
        for (const auto* key : {"address", "port", "uuid", "boot_id", "inventory", "pid", "start",
                                "age_seconds", "seconds", "seconds_to_clean", "started"})
            if (value.contains(key) && !value[key].is_null()) value[key] = "any";
        for (const auto* key : {"holders", "openers", "spared", "targets"})
            if (value.contains(key) && value[key].is_array()) {
                neutralise(value[key]);
                std::sort(value[key].begin(), value[key].end());
            }
    }
    if (value.is_structured())
        for (auto& inner : value) neutralise(inner);
}

using Verdicts = std::map<std::string, std::string>;

Verdicts verdicts_of(const json& report) {
    Verdicts verdicts;
    for (const auto& host : report["hosts"]) verdicts[host["name"]] = host["verdict"];
    return verdicts;
}

// As long in the model as in fact, as far as two times on a busy machine can say so.
void expect_similar(const json& modelled, const json& real, const std::string& what) {
    EXPECT_EQ(modelled.is_null(), real.is_null()) << what;
    if (!modelled.is_number() || !real.is_number()) return;
    const double one = modelled, other = real;
    EXPECT_LE(std::abs(one - other), 0.3 + 0.5 * std::max(one, other))
        << what << ": " << one << " s in the model, " << other << " s in fact";
}

// Of reports that are equal but for their times.
void expect_similar_times(const json& modelled, const json& real) {
    for (std::size_t i = 0; i < real["hosts"].size(); ++i) {
        const auto &one = modelled["hosts"][i], &other = real["hosts"][i];
        const std::string name = other["name"];
        expect_similar(one["seconds_to_clean"], other["seconds_to_clean"], name + " until clean");
        for (std::size_t k = 0; k < other["actions"].size(); ++k)
            expect_similar(one["actions"][k]["seconds"], other["actions"][k]["seconds"],
                           name + ", signal " + std::to_string(k + 1));
    }
}

// Both at once: what takes time there is waiting.
void expect_same_report(const RunningFleet& real, const ModelledHosts& modelled,
                        const std::vector<std::string>& arguments, const Verdicts& verdicts) {
    auto of_real = std::async(std::launch::async, [&] {
        return report_on(real.folder() + "/inventory.yaml", {real.folder() + "/known_hosts"}, arguments);
    });
    const auto of_modelled = report_on(modelled.inventory(), modelled.known_hosts(), arguments);
    const auto expected = of_real.get();
    ASSERT_TRUE(expected.document.is_object()) << expected.err;
    ASSERT_TRUE(of_modelled.document.is_object()) << of_modelled.err;
    EXPECT_EQ(verdicts_of(expected.document), verdicts);
    EXPECT_EQ(of_modelled.status, expected.status);
    auto without_times = expected.document, modelled_without_times = of_modelled.document;
    neutralise(without_times);
    neutralise(modelled_without_times);
    ASSERT_TRUE(modelled_without_times == without_times)
        << "what turns the model's report into the real one's: "
        << json::diff(modelled_without_times, without_times).dump(1);
    expect_similar_times(of_modelled.document, expected.document);
}

TEST(Drift, AModelledHostsReportsAreThoseOfARealOneBeforeAndAfterAClear) {
    NEEDS_ROOT();
    std::vector<std::string> files;
    for (const auto& description : descriptions) files.emplace_back(description.file);
    const RunningFleet real(files);
    ASSERT_EQ(real.started().status, 0) << real.started().out;
    const ModelledHosts modelled;
    const Verdicts before{{"clean", "clean"},
                          {"leak", "dirty"},
                          {"h200-busy", "dirty"},
                          {"lost", "sick"},
                          {"protected", "dirty"}};
    const Verdicts after{{"clean", "clean"},
                         {"leak", "clean"},
                         {"h200-busy", "clean"},
                         {"lost", "sick"},
                         {"protected", "clean"}};
    auto without_lost = after;
    without_lost.erase("lost");
    const std::vector<std::pair<std::vector<std::string>, Verdicts>> course{
        {{"check"}, before},
        {{"clear", "--dry-run", "-l", "all"}, before},
        {{"clear", "-p", "sweep", "--yes", "-l", "all"}, before},  // nobody is old enough
        {{"clear", "-p", "by-name", "--yes", "-l", "leak"}, {{"leak", "clean"}}},
        {{"clear", "--yes", "-l", "all"}, after},
        {{"check", "-l", "all,!lost"}, without_lost}};
    for (const auto& [arguments, verdicts] : course) {
        SCOPED_TRACE(::testing::PrintToString(arguments));
        expect_same_report(real, modelled, arguments, verdicts);
    }
}

}  // namespace
}  // namespace cleanslate::testing
