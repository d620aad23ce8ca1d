#include "agentless/ssh/known_hosts_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "agentless/ssh/known_hosts.hpp"
#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string blob(const std::string& secret, const std::string& type = "ssh-ed25519") {
    std::string bytes;
    put_text(bytes, type);
    put_text(bytes, secret);
    return bytes;
}
std::string line(const std::string& name, const std::string& key) {
    return name + " " + std::string(key_type(key)) + " " + encode_base64(key) + "\n";
}

class SshKnownHostsFile : public ::testing::Test {
  protected:
    SshKnownHostsFile() {
        char name[] = "/tmp/cleanslate-test-XXXXXX";
        folder_ = mkdtemp(name);
        file_ = folder_ + "/known_hosts";
    }
    ~SshKnownHostsFile() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& text) const { std::ofstream(file_) << text; }
    std::string text() const {
        std::stringstream all;
        all << std::ifstream(file_).rdbuf();
        return all.str();
    }
    static unsigned mode(const std::string& path) {
        struct stat status {};
        return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
    }
    std::string folder_, file_;
};

TEST_F(SshKnownHostsFile, is_made_for_the_owner_alone_and_its_folder_too) {
    file_ = folder_ + "/.ssh/known_hosts";
    EXPECT_THAT(append_host_keys(file_, {{"gpu01", blob("1")}, {"[gpu02]:2222", blob("2")}}), IsEmpty());
    EXPECT_EQ(text(), line("gpu01", blob("1")) + line("[gpu02]:2222", blob("2")));
    EXPECT_EQ(mode(file_), 0600u);
    EXPECT_EQ(mode(folder_ + "/.ssh"), 0700u);
}

TEST_F(SshKnownHostsFile, keeps_what_is_there_and_its_mode) {
    write("# fleet\n" + line("gpu01", blob("1")));
    chmod(file_.c_str(), 0644);
    EXPECT_THAT(append_host_keys(file_, {{"gpu02", blob("2")}}), IsEmpty());
    EXPECT_EQ(text(), "# fleet\n" + line("gpu01", blob("1")) + line("gpu02", blob("2")));
    EXPECT_EQ(mode(file_), 0644u);
}

TEST_F(SshKnownHostsFile, begins_a_line_of_its_own) {
    write("# no newline");
    EXPECT_THAT(append_host_keys(file_, {{"gpu02", blob("2")}}), IsEmpty());
    EXPECT_EQ(text(), "# no newline\n" + line("gpu02", blob("2")));
}

TEST_F(SshKnownHostsFile, a_key_that_another_program_added_meanwhile_is_not_doubled) {
    write(line("gpu01", blob("1")));
    EXPECT_THAT(append_host_keys(file_, {{"gpu01", blob("1")}}), IsEmpty());
    EXPECT_EQ(text(), line("gpu01", blob("1")));
}

TEST_F(SshKnownHostsFile, several_keys_of_one_host_stand_beside_each_other) {
    const std::string other = blob("1", "ecdsa-sha2-nistp256");
    write(line("gpu01", blob("1")));
    EXPECT_THAT(append_host_keys(file_, {{"gpu01", blob("1")}, {"gpu01", other}}), IsEmpty());
    EXPECT_EQ(text(), line("gpu01", blob("1")) + line("gpu01", other));
}

TEST_F(SshKnownHostsFile, another_key_that_another_program_added_meanwhile_is_told) {
    write(line("gpu00", blob("0")) + line("gpu01", blob("theirs")));
    const Unwritten unwritten = append_host_keys(file_, {{"gpu01", blob("ours")}, {"gpu02", blob("2")}});
    ASSERT_EQ(unwritten.size(), 1u);
    for (const std::string& part :
         {std::string("gpu01"), file_ + ":2", fingerprint(blob("ours")), fingerprint(blob("theirs"))})
        EXPECT_THAT(unwritten.front(), HasSubstr(part));
    EXPECT_EQ(text(), line("gpu00", blob("0")) + line("gpu01", blob("theirs")) + line("gpu02", blob("2")));
}

TEST_F(SshKnownHostsFile, a_key_that_was_revoked_meanwhile_is_told) {
    write("@revoked " + line("*", blob("1")));
    const Unwritten unwritten = append_host_keys(file_, {{"gpu01", blob("1")}});
    ASSERT_EQ(unwritten.size(), 1u);
    EXPECT_THAT(unwritten.front(), HasSubstr("revokes"));
    EXPECT_EQ(text(), "@revoked " + line("*", blob("1")));
}

TEST_F(SshKnownHostsFile, an_authority_does_not_stand_in_a_plain_keys_way) {
    write("@cert-authority " + line("*", blob("ca")));
    EXPECT_THAT(append_host_keys(file_, {{"gpu01", blob("1")}}), IsEmpty());
    EXPECT_THAT(text(), HasSubstr(line("gpu01", blob("1"))));
}

TEST_F(SshKnownHostsFile, a_name_may_be_hashed_and_is_not_doubled_then) {
    for (int i = 0; i < 2; ++i)
        EXPECT_THAT(append_host_keys(file_, {{"gpu01", blob("1"), true}, {"gpu02", blob("2"), true}}),
                    IsEmpty());
    const std::string all = text();
    EXPECT_THAT(all, ::testing::StartsWith("|1|"));
    EXPECT_THAT(all, ::testing::Not(HasSubstr("gpu0")));
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2);
    KnownHosts hosts;
    hosts.read(all, file_);
    EXPECT_EQ(match_host_key(hosts.find("gpu02", 22), blob("2")).answer, HostKeyMatch::Answer::known);
}

TEST_F(SshKnownHostsFile, a_symbolic_link_stays_one) {
    const std::string target = folder_ + "/elsewhere";
    std::ofstream(target) << line("gpu01", blob("1"));
    ASSERT_EQ(symlink(target.c_str(), file_.c_str()), 0);
    EXPECT_THAT(append_host_keys(file_, {{"gpu02", blob("2")}}), IsEmpty());
    EXPECT_TRUE(std::filesystem::is_symlink(file_));
    EXPECT_EQ(text(), line("gpu01", blob("1")) + line("gpu02", blob("2")));
}

TEST_F(SshKnownHostsFile, writers_beside_each_other_lose_no_line_and_double_none) {
    constexpr int writers = 8, keys = 40;
    std::vector<std::thread> threads;
    for (int writer = 0; writer < writers; ++writer)
        threads.emplace_back([&, writer] {
            // Half of the hosts are everybody's, half of them this writer's own.
            for (int i = 0; i < keys; i += 4) {
                std::vector<NewHostKey> some;
                for (int k = i; k < i + 4; ++k) {
                    const std::string name =
                        (k % 2 == 0 ? "all" : "w" + std::to_string(writer) + "-") + std::to_string(k);
                    some.push_back({name, blob(name)});
                }
                EXPECT_THAT(append_host_keys(file_, some), IsEmpty());
            }
        });
    // ssh takes no lock: it opens, writes one line and closes.
    threads.emplace_back([&] {
        for (int i = 0; i < keys; ++i)
            std::ofstream(file_, std::ios::app) << line("ssh" + std::to_string(i), blob("ssh")) << std::flush;
    });
    for (std::thread& thread : threads) thread.join();
    std::map<std::string, int> lines;
    std::stringstream all(text());
    for (std::string one; std::getline(all, one);) ++lines[one];
    EXPECT_EQ(lines.size(), std::size_t{keys / 2 + writers * keys / 2 + keys});
    for (const auto& [one, times] : lines) EXPECT_EQ(times, 1) << one;
}

TEST_F(SshKnownHostsFile, waits_for_whoever_has_it_locked) {
    write("");
    const int fd = open(file_.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(flock(fd, LOCK_EX), 0);
    std::thread other([&] {
        const std::string line_of_other = line("gpu00", blob("0"));
        EXPECT_EQ(::write(fd, line_of_other.data(), line_of_other.size()),
                  static_cast<ssize_t>(line_of_other.size()));
        close(fd);
    });
    EXPECT_THAT(append_host_keys(file_, {{"gpu01", blob("1")}}), IsEmpty());
    other.join();
    EXPECT_THAT(text(), HasSubstr(line("gpu01", blob("1"))));
}

TEST_F(SshKnownHostsFile, a_lock_that_is_never_given_back_is_said_and_costs_seconds) {
    write("");
    const int fd = open(file_.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(flock(fd, LOCK_EX), 0);
    EXPECT_THAT(append_host_keys(file_, {{"gpu01", blob("1")}}), ElementsAre(HasSubstr("locked")));
    close(fd);
    EXPECT_EQ(text(), "");
}

TEST_F(SshKnownHostsFile, what_cannot_be_written_is_told_with_the_hosts) {
    EXPECT_THAT(append_host_keys("/proc/none/known_hosts", {{"gpu01", blob("1")}, {"gpu02", blob("2")}}),
                ElementsAre("new host keys were not written down: /proc/none/known_hosts: "
                            "No such file or directory (gpu01, gpu02)"));
    EXPECT_THAT(append_host_keys("", {{"gpu01", blob("1")}}), ElementsAre(HasSubstr("no known_hosts file")));
    EXPECT_THAT(append_host_keys(folder_, {{"gpu01", blob("1")}}), ElementsAre(HasSubstr("directory")));
    EXPECT_THAT(append_host_keys("", {}), IsEmpty());
}

TEST_F(SshKnownHostsFile, a_pipe_is_no_file_to_write_to) {
    ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
    EXPECT_THAT(append_host_keys(file_, {{"gpu01", blob("1")}}), ElementsAre(HasSubstr("no regular file")));
}

TEST_F(SshKnownHostsFile, dev_null_takes_everything) {
    EXPECT_THAT(append_host_keys("/dev/null", {{"gpu01", blob("1")}}), IsEmpty());
}

TEST_F(SshKnownHostsFile, a_line_that_a_full_disk_cuts_is_taken_back) {
    write("# fleet\n");
    struct rlimit before {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit small = before;
    small.rlim_cur = 30;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Unwritten unwritten = append_host_keys(file_, {{"gpu01", blob("1")}});
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, old);
    EXPECT_EQ(unwritten.size(), 1u);
    EXPECT_EQ(text(), "# fleet\n");
}

TEST(SshKnownHostsName, is_one_that_means_itself_alone) {
    for (const char* good : {"gpu01", "a", "[gpu01]:2222", "fe80::1%eth0", "10.0.0.1"})
        EXPECT_TRUE(is_known_hosts_name(good)) << good;
    for (const char* bad :
         {"", "a b", "a,b", "*", "gpu?", "!gpu01", "#gpu", "|1|x", "@revoked", "a\nb", "a\tb"})
        EXPECT_FALSE(is_known_hosts_name(bad)) << bad;
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
