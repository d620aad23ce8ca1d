// docs/nightly.md as a reader walks through it, as far as can be without systemd and cron: their lines are
// taken from the page and from packaging/, and run as another user, with the environment that these two give.

#include <fstream>
#include <sstream>

#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

namespace fs = std::filesystem;

const std::string nobody = "64999";  // has no name, no home and no shell here

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

// What stands behind `beginning` in the only line of a file of the project that begins so.
std::string line_of(const std::string& file, const std::string& beginning) {
    std::istringstream lines(contents(std::string(CLEANSLATE_SOURCE_DIR) + "/" + file));
    std::string line, found;
    while (std::getline(lines, line)) {
        const auto at = line.find_first_not_of(' ');
        if (at == std::string::npos || line.compare(at, beginning.size(), beginning) != 0) continue;
        EXPECT_EQ(found, "") << "two lines of " << file << " begin with " << beginning;
        found = line.substr(at + beginning.size());
    }
    EXPECT_NE(found, "") << "no line of " << file << " begins with " << beginning;
    return found;
}

class Nightly : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        if (testing::run({{"setpriv", "--version"}, "", {}, std::chrono::seconds(20)}).status != 0)
            GTEST_SKIP() << "needs setpriv (Debian: util-linux)";
        descriptions_.add("gpu01", "about idle\ngpus 8\n");
        descriptions_.add(
            "gpu02",
            "about leaked\ngpus 8\n\nprocess worker\n    exe /opt/serve/bin/python3.12\n"
            "    argv python3 -m vllm --api-key hunter2hunter2\n    user alice\n    memory 3=40960\n");
        descriptions_.add("gpu03", "about idle\ngpus 8\n");
        fleet_.emplace(std::vector<std::string>{descriptions_.folder()});
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
        fs::permissions(folder_.path(), fs::perms(0755));
        for (const char* name : {"bin", "etc", "credentials", "sent", "state", "state/cleanslate"})
            fs::create_directory(folder_ / name);
        fs::copy(program(), folder_ / "bin/cleanslate");
        fs::copy(std::string(CLEANSLATE_SOURCE_DIR) + "/packaging/cleanslate-mail",
                 folder_ / "bin/cleanslate-mail");
        std::ofstream(folder_ / "bin/sendmail") << "#!/bin/sh\nn=$(ls " << folder_ / "sent"
                                                << " | wc -l)\n"
                                                << "{ echo \"for: $*\"; cat; } >" << folder_ / "sent"
                                                << "/$n\n";
        fs::permissions(folder_ / "bin/sendmail", fs::perms(0755));
        // Without the key's place, which this user may not read.
        const auto ended = shell("grep -v private_key " + fleet_->folder() + "/inventory.yaml >" +
                                 (folder_ / "etc/inventory.yaml") + "; cp " + fleet_->folder() + "/key " +
                                 (folder_ / "etc/id"));
        ASSERT_EQ(ended.status, 0) << ended.err;
        // Step 2 of the page.
        const auto trusted =
            shell("cleanslate trust --yes" + here(line_of("docs/nightly.md", "cleanslate trust")));
        ASSERT_EQ(trusted.status, 0) << trusted.out << trusted.err;
    }
    // A path of the page in this test's folder.
    std::string here(std::string text) const {
        text = replaced(text, "/usr/local/bin", folder_ / "bin");
        text = replaced(text, "/etc/cleanslate", folder_ / "etc");
        text = replaced(text, "%d", folder_ / "credentials");
        text = replaced(text, "%S", folder_ / "state");
        return replaced(text, "/var/lib", folder_ / "state");
    }
    // As root at a shell.
    Ended shell(const std::string& script) const {
        return testing::run({{"sh", "-c", "PATH=" + (folder_ / "bin") + ":$PATH\n" + script},
                             "",
                             {},
                             std::chrono::seconds(120)});
    }
    void give(const std::string& path) const {
        ASSERT_EQ(shell("chown -R " + nobody + ":" + nobody + " " + (folder_ / path)).status, 0);
    }
    // As that user, with nothing in its environment but `variables`, and no terminal.
    Ended as_user(const std::vector<std::string>& variables, const std::string& command) const {
        std::vector<std::string> words{"setpriv",
                                       "--reuid=" + nobody,
                                       "--regid=" + nobody,
                                       "--clear-groups",
                                       "--no-new-privs",
                                       "setsid",
                                       "-w",
                                       "env",
                                       "-i",
                                       "-C",
                                       "/"};
        words.insert(words.end(), variables.begin(), variables.end());
        words.insert(words.end(), {"/bin/sh", "-c", command});
        return testing::run({words, "", {}, std::chrono::seconds(120)});
    }
    std::size_t mails() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_ / "sent"), fs::directory_iterator()));
    }
    std::string mail(std::size_t number) const {
        return contents(folder_ / ("sent/" + std::to_string(number)));
    }

    simulated::Descriptions descriptions_;
    std::optional<RunningFleet> fleet_;
    TemporaryFolder folder_;
};

TEST_F(Nightly, CronsLineMailsTheFirstNightAndThenEveryChangeAndNothingElse) {
    for (const char* path : {"etc", "sent", "state"}) give(path);
    std::string line = here(line_of("docs/nightly.md", "0 2 * * * cleanslate "));
    line = replaced(line, "--jitter 30m", "--jitter 100ms");
    const auto night = [&] {
        const auto ended = as_user(
            {"SHELL=/bin/sh", "LOGNAME=cleanslate", "PATH=" + here(line_of("docs/nightly.md", "PATH=")),
             "XDG_STATE_HOME=" + here(line_of("docs/nightly.md", "XDG_STATE_HOME="))},
            line);
        EXPECT_EQ(ended.out + ended.err, "") << "cron would mail it";
        return ended.status;
    };
    EXPECT_EQ(night(), 1);
    ASSERT_EQ(mails(), 1u);
    EXPECT_NE(mail(0).find("for: -i -- ops@example.org\n"), std::string::npos) << mail(0);
    EXPECT_NE(mail(0).find("1 newly dirty, 0 newly clean, 0 newly unknown\n"), std::string::npos) << mail(0);
    EXPECT_NE(mail(0).find("gpu02"), std::string::npos) << mail(0);
    EXPECT_NE(mail(0).find("alice"), std::string::npos) << mail(0);
    EXPECT_EQ(mail(0).find("hunter2"), std::string::npos) << "secrets are masked: " << mail(0);

    const auto worker = fleet_->find("gpu02", "worker");
    // The driver gives the memory back a moment after the process's end.
    ASSERT_EQ(fleet_
                  ->on("gpu02", "kill -9 " + std::to_string(worker.pid) +
                                    "; while nvidia-smi --query-gpu=memory.used "
                                    "--format=csv,noheader,nounits | grep -q .....; do :; done")
                  .status,
              0);
    ASSERT_EQ(fleet_->on("gpu01", "exec 9</dev/nvidia0; setsid sleep 86400 >/dev/null 2>&1 &").status, 0);
    EXPECT_EQ(night(), 1);
    ASSERT_EQ(mails(), 2u);
    EXPECT_NE(mail(1).find("1 newly dirty, 1 newly clean, 0 newly unknown\n"), std::string::npos) << mail(1);
    EXPECT_LT(mail(1).find("gpu01"), mail(1).find("The report of this sweep")) << mail(1);
    EXPECT_LT(mail(1).find("gpu02"), mail(1).find("The report of this sweep")) << mail(1);

    EXPECT_EQ(night(), 1);
    EXPECT_EQ(mails(), 2u) << "nothing has changed: " << mail(2);

    ASSERT_EQ(fleet_->on("gpu03", "kill $(pidof sshd)").status, 0);
    EXPECT_EQ(night(), 3);
    ASSERT_EQ(mails(), 3u);
    EXPECT_NE(mail(2).find("0 newly dirty, 0 newly clean, 1 newly unknown\n"), std::string::npos) << mail(2);
    EXPECT_NE(mail(2).find("gpu03"), std::string::npos) << mail(2);

    // Nothing was ended by it, night after night.
    EXPECT_EQ(fleet_->on("gpu01", "grep -l sleep /proc/[0-9]*/comm | wc -l").out.substr(0, 1), "1");
}

TEST_F(Nightly, TheUnitsLinesLeaveAMailInTheOutboxAndDeliverIt) {
    const std::string sweep = "packaging/cleanslate-nightly.service",
                      sender = "packaging/cleanslate-mail.service";
    for (const char* path : {"sent", "state"}) give(path);
    // As LoadCredential= lays it out: 0400 in a folder of 0500.
    ASSERT_EQ(shell(here("cp /etc/cleanslate/id /etc/cleanslate/known_hosts %d/ && chmod 0400 %d/* && "
                         "chmod 0500 %d && chmod 0700 /etc/cleanslate/id"))
                  .status,
              0);
    give("credentials");
    const std::vector<std::string> variables{
        here("PATH=/usr/local/bin:/usr/bin:/bin"),
        "LOGNAME=cleanslate",
        here("HOME=/var/lib/cleanslate"),
        here("CLEANSLATE_INVENTORY=" + line_of(sweep, "Environment=CLEANSLATE_INVENTORY=")),
        here("XDG_STATE_HOME=" + line_of(sweep, "Environment=XDG_STATE_HOME=")),
        "CLEANSLATE_OPTIONS=--deadline 1h"};
    const auto swept = as_user(variables, here(line_of(sweep, "ExecStart=")));
    EXPECT_EQ(swept.status, 1) << swept.err;
    EXPECT_NE((" " + line_of(sweep, "SuccessExitStatus=") + " ").find(" 1 "), std::string::npos);
    EXPECT_NE(swept.out.find("gpu02 dirty"), std::string::npos) << swept.out << swept.err;
    EXPECT_EQ(mails(), 0u) << "the sweep itself sends nothing";
    EXPECT_TRUE(fs::exists(folder_ / "state/cleanslate/history.db"));

    const auto sent =
        as_user({variables[0], "CLEANSLATE_MAILTO=" + line_of(sender, "Environment=CLEANSLATE_MAILTO="),
                 "MONITOR_SERVICE_RESULT=success"},
                here(line_of(sender, "ExecStart=")));
    EXPECT_EQ(sent.status, 0) << sent.err;
    ASSERT_EQ(mails(), 1u);
    EXPECT_NE(mail(0).find("for: -i -- root\n"), std::string::npos) << mail(0);
    EXPECT_NE(mail(0).find("1 newly dirty"), std::string::npos) << mail(0);
    EXPECT_TRUE(fs::is_empty(folder_ / "state/cleanslate/outbox"));
}

TEST_F(Nightly, ACommandThatFailsMakesTheStatusFiveAndTheReportIsThere) {
    const std::string check = "cleanslate check -i " + (folder_ / "etc/inventory.yaml") + " --identity " +
                              (folder_ / "etc/id") + " --known-hosts " + (folder_ / "etc/known_hosts") +
                              " --history " + (folder_ / "own.db");
    auto ended = shell(check + " --on-change 'echo told >&2; exit 7' --format json");
    EXPECT_EQ(ended.status, 5) << ended.err;
    EXPECT_NE(ended.err.find("told\n"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("--on-change: exit status 7"), std::string::npos) << ended.err;
    EXPECT_EQ(json::parse(ended.out, nullptr, false)["summary"]["exit_status"], 1);
    // The sweep is kept all the same: the next one has no news.
    ended = shell(check + " --on-change 'exit 7'");
    EXPECT_EQ(ended.status, 1) << ended.err;
}

TEST_F(Nightly, WithoutAHistoryNothingIsContactedThatShouldTellOfChanges) {
    const auto ended =
        shell("touch " + (folder_ / "file") + "; XDG_STATE_HOME=" + (folder_ / "file") +
              " cleanslate check -i " + (folder_ / "etc/inventory.yaml") + " --on-change true");
    EXPECT_EQ(ended.status, 5) << ended.err;
    EXPECT_EQ(ended.out, "");
}

}  // namespace
}  // namespace cleanslate::testing
