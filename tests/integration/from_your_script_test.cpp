// docs/from-your-script.md: each line that takes an old one's place, run as it stands there.

#include <gmock/gmock.h>

#include <fstream>
#include <future>
#include <set>
#include <sstream>

#include "tests/integration/history_database.hpp"
#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

namespace fs = std::filesystem;
using simulated::ProcessLine;
using ::testing::HasSubstr;

struct Block {
    std::string heading, where, text;  // where: "", "on gpu10", "from cron"
};

std::vector<Block> blocks_of_page() {
    std::istringstream lines(contents(std::string(CLEANSLATE_SOURCE_DIR) + "/docs/from-your-script.md"));
    std::vector<Block> blocks;
    std::string heading;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("## ")) heading = line.substr(3);
        if (line.starts_with("```new")) {
            blocks.push_back({heading, line.size() > 7 ? line.substr(7) : "", ""});
            inside = true;
        } else if (line.starts_with("```")) {
            inside = false;
        } else if (inside) {
            blocks.back().text += line + "\n";
        }
    }
    return blocks;
}

struct Effect {
    int status = 0;
    std::set<std::string> cleared;  // hosts whose worker is gone afterwards
    std::string says;               // part of standard output
};

const std::map<std::string, Effect>& effects() {
    static const std::map<std::string, Effect> all{
        {"pkill, sleep, nvidia-smi", {0, {"gpu01"}, "gpu01 clean"}},
        {"pkill of one kind of server", {0, {"gpu02"}, "gpu02 clean"}},
        {"fuser -k", {0, {"gpu03"}, "gpu03 clean"}},
        {"nvidia-smi | xargs kill", {0, {"gpu04"}, "gpu04 clean"}},
        {"for h in ...; do ssh", {0, {"gpu05", "gpu06"}, "gpu[05-06] (2) clean"}},
        {"pdsh | dshbak -c", {0, {}, "gpu[05-07] (3)"}},
        {"clush -bw", {0, {}, "6 hosts"}},
        {"parallel-ssh", {0, {"gpu07"}, "gpu07 clean"}},
        {"ansible -m shell", {0, {"gpu08"}, ""}},
        {"ansible-playbook with pause", {0, {"gpu09"}, "gpu09 clean"}},
        {"A loop in Slurm's epilog", {0, {"gpu10"}, "clean: 1 host"}},
        {"Watching until the memory is free", {0, {"gpu11"}, "clean: 1 host"}},
        {"A gate before mpirun, torchrun or a server", {0, {"gpu12"}, "started on gpu12 slots=8"}},
        {"cron", {1, {}, ""}},
        {"Again, and only what was left", {0, {"gpu14"}, "gpu14 clean"}},
    };
    return all;
}

class FromYourScript : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        for (int i = 1; i <= 14; ++i) {
            const std::string host = (i < 10 ? "gpu0" : "gpu") + std::to_string(i);
            descriptions_.add(host,
                              "about leaked\ngpus 8\n\nprocess worker\n    exe /opt/serve/bin/python3.12\n"
                              "    argv python3 -m sglang.launch_server --port 30000\n    user alice\n"
                              "    memory 3=40960\n\nprocess bystander\n    exe /opt/notes/bin/python3.12\n"
                              "    argv python3 -m notebook\n    user bob\n");
        }
        fleet_.emplace(std::vector<std::string>{descriptions_.folder()});
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
        ASSERT_EQ(fleet_->on("gpu13", "kill $(pidof sshd)").status, 0);
        for (const char* name : {"bin", "home/.ssh", "home/.config/cleanslate", "work"})
            fs::create_directories(folder_ / name);
        fs::create_symlink(program(), folder_ / "bin/cleanslate");
        fs::copy(fleet_->folder() + "/ssh_config", folder_ / "home/.ssh/config");
        std::ofstream(folder_ / "home/.config/cleanslate/config.yaml") << "settle: 200ms\n";
        std::ofstream(folder_ / "work/fleet.yaml")
            << "all:\n  vars: {user: root, gpus: 8}\n  children:\n"
               "    rack1: {hosts: {'gpu[01-06]': }}\n    rack2: {hosts: {'gpu[07-14]': }}\n";
        std::ofstream(folder_ / "work/hosts.txt") << "gpu07\n";
        // As an administrator installs it on a node, whose /usr/local/bin is its own.
        fs::copy_file(program(), "/proc/" + std::to_string(fleet_->find("gpu10", "bystander").outer) +
                                     "/root/usr/local/bin/cleanslate");
        script("bin/mpirun", "echo \"started on $(cat \"$2\")\"");
        script("bin/jq", "cat");  // what it makes of it is its own affair
    }
    void script(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << "#!/bin/sh\n" << text << "\n";
        fs::permissions(folder_ / name, fs::perms(0755));
    }
    Ended shell(const std::string& text) const {
        return testing::run({{"sh", "-c", "cd " + (folder_ / "work") + " && " + text},
                             "",
                             {{"HOME", folder_ / "home"},
                              {"PATH", (folder_ / "bin") + ":/usr/bin:/bin"},
                              {"XDG_STATE_HOME", folder_ / "state"},
                              {"XDG_CONFIG_HOME", ""},
                              {"CLEANSLATE_INVENTORY", ""},
                              {"CLEANSLATE_CONFIG", ""},
                              {"SSH_AUTH_SOCK", ""}},
                             std::chrono::seconds(120)});
    }
    int sweeps() const {
        const std::string file = folder_ / "state/cleanslate/history.db";
        return fs::exists(file) ? HistoryDatabase(file).sweeps() : 0;
    }
    // Whoever waits for gpu11 has seen it dirty before its worker ends by itself.
    Ended watched(const std::string& text) const {
        const int before = sweeps();
        auto waiting = std::async(std::launch::async, [&] { return shell(text); });
        EXPECT_TRUE(simulated::comes_true([&] { return sweeps() > before; }));
        EXPECT_EQ(
            fleet_->on("gpu11", "kill -9 " + std::to_string(fleet_->find("gpu11", "worker").pid)).status, 0);
        return waiting.get();
    }
    Ended carry_out(const Block& block) const {
        if (block.where.starts_with("on ")) {
            const auto done = fleet_->on(block.where.substr(3), block.text);
            return {done.status, done.out, "", {}};
        }
        if (block.where == "from cron") return shell(block.text.substr(std::string("0 2 * * * ").size()));
        return block.heading.starts_with("Watching") ? watched(block.text) : shell(block.text);
    }

    simulated::Descriptions descriptions_;
    std::optional<RunningFleet> fleet_;
    TemporaryFolder folder_;
};

TEST_F(FromYourScript, EachLineDoesWhatItsPageSays) {
    const auto before = fleet_->processes();
    std::set<std::string> cleared, seen;
    for (const Block& block : blocks_of_page()) {
        SCOPED_TRACE(block.heading + ": " + block.text);
        ASSERT_TRUE(effects().contains(block.heading)) << "no effect is known of this block";
        const Effect& effect = effects().at(block.heading);
        seen.insert(block.heading);
        const auto ended = carry_out(block);
        EXPECT_EQ(ended.status, effect.status) << ended.out << ended.err;
        EXPECT_THAT(ended.out, HasSubstr(effect.says)) << ended.err;
        cleared.insert(effect.cleared.begin(), effect.cleared.end());
        for (const ProcessLine& was : before) {
            if (was.name != "worker" && was.name != "bystander") continue;
            const bool should_live = was.name == "bystander" || !cleared.contains(was.host);
            EXPECT_EQ(simulated::lives(was.outer, was.start), should_live) << was.host << " " << was.name;
        }
    }
    EXPECT_EQ(seen.size(), effects().size());
    EXPECT_EQ(contents(folder_ / "work/hostfile"), "gpu12 slots=8\n");
    EXPECT_THAT(contents(folder_ / "work/changed.txt"), HasSubstr("\"host\":\"gpu14\""));
    const auto report = json::parse(contents(folder_ / "work/report.json"), nullptr, false);
    EXPECT_EQ(report["summary"]["exit_status"], 0);
}

}  // namespace
}  // namespace cleanslate::testing
