// The index of known_hosts files against ssh-keygen -F, which looks names up as ssh does.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "agentless/ssh/known_hosts.hpp"
#include "agentless/ssh/wire.hpp"
#include "tests/contract/ssh_fixture.hpp"

namespace cleanslate::agentless::contract {
namespace {

using Lines = std::set<std::size_t>;

// The lines that ssh-keygen finds, as "# Host NAME found: line N" says them.
Lines lines_of_ssh_keygen(const std::string& file, const std::string& name) {
    const std::string printed = shell("ssh-keygen -F '" + name + "' -f " + file + " || true");
    Lines lines;
    const std::regex found("found: line ([0-9]+)");
    for (std::sregex_iterator match(printed.begin(), printed.end(), found), end; match != end; ++match)
        lines.insert(std::stoul((*match)[1]));
    return lines;
}

Lines lines_of_index(const ssh::KnownHosts& hosts, const std::string& name) {
    Lines lines;
    for (const ssh::KnownKey* key : hosts.find(name, 22).keys) lines.insert(key->line);
    return lines;
}

class SshKnownHostsLikeSshKeygen : public SshTest {
  protected:
    void SetUp() override {
        SshTest::SetUp();
        if (IsSkipped()) return;
        for (const char* type : {"ed25519", "ecdsa", "rsa"}) {
            shell("ssh-keygen -q -N '' -C test -t " + std::string(type) + " -f " + folder_.path(type));
            const std::string line = read_text(folder_.path(std::string(type) + ".pub"));
            keys_.push_back(line.substr(0, line.size() - 1));
        }
        file_ = folder_.path("known_hosts");
    }
    // One line for each names field, the keys taken in turn.
    void write_lines(const std::vector<std::string>& names, const std::string& end = "\n") {
        std::string text;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const bool whole = names[i].empty() || names[i].starts_with("#");
            text += names[i] + (whole ? "" : " " + keys_[i % keys_.size()]) + end;
        }
        write_file(file_, text);
    }
    // How many lines were found in all, so that a comparison of nothing with nothing is noticed.
    std::size_t expect_same(const std::vector<std::string>& names) {
        ssh::KnownHosts hosts;
        hosts.read(read_text(file_), file_);
        EXPECT_TRUE(hosts.notes().empty()) << hosts.notes().front();
        std::size_t found = 0;
        for (const std::string& name : names) {
            const Lines lines = lines_of_index(hosts, name);
            EXPECT_EQ(lines, lines_of_ssh_keygen(file_, name)) << name;
            found += lines.size();
        }
        return found;
    }

    TemporaryFolder folder_;
    std::string file_;
    std::vector<std::string> keys_;
};

const std::vector<std::string> lines = {
    "gpu01",
    "gpu01",
    "a",
    "bb",
    "gpu02,10.0.0.2",
    "GPU03.Example.Com",
    "# gpu04 is a comment",
    "",
    "gpu0?",
    "*.example.com,!bad.example.com",
    "!gpu05,gpu*",
    "!gpu06",
    "[gpu07]:2222",
    "[gpu07]:*",
    "[*]:2222",
    "[*.example.com]:2222,![bad*",
    "fe80::1",
    "[fe80::1]:22022",
    "@revoked gpu08",
    "@revoked *",
    "@cert-authority *.example.com",
    "@cert-authority gpu09,!gpu10",
    "gpu11*gpu",
    "**",
    "*1*1*",
    ",gpu12,",
    "gpu13,,gpu14",
    "  gpu15",
    "\tgpu16",
    "gpu17  ",
};
const std::vector<std::string> names = {
    "gpu01",
    "gpu02",
    "10.0.0.2",
    "10.0.0.22",
    "gpu03.example.com",
    "gpu04",
    "gpu05",
    "gpu06",
    "gpu07",
    "[gpu07]:2222",
    "[gpu07]:2223",
    "[gpu99]:2222",
    "[a.example.com]:2222",
    "[bad.example.com]:2222",
    "gpu08",
    "gpu09",
    "gpu10",
    "a.b.example.com",
    "bad.example.com",
    "example.com",
    "fe80::1",
    "[fe80::1]:22022",
    "gpu11gpu",
    "gpu11",
    "gpu12",
    "gpu14",
    "gpu15",
    "gpu16",
    "gpu17",
    "a",
    "b",
    "bb",
    "nobody",
};

TEST_F(SshKnownHostsLikeSshKeygen, plain_names_patterns_negations_ports_and_markers) {
    write_lines(lines);
    EXPECT_GT(expect_same(names), 3 * names.size());
}

TEST_F(SshKnownHostsLikeSshKeygen, with_the_line_ends_of_another_system) {
    write_lines(lines, "\r\n");
    EXPECT_GT(expect_same({"gpu01", "gpu05", "[gpu07]:2222", "bad.example.com"}), 8u);
}

TEST_F(SshKnownHostsLikeSshKeygen, hashed_names) {
    write_lines({"gpu01", "gpu02", "gpu03.example.com", "[gpu07]:2222", "10.0.0.1", "fe80::1", "a", "gpu01",
                 "name-of-more-than-one-block-of-the-hash-so-that-it-takes-two-of-them.example.com"});
    shell("ssh-keygen -q -H -f " + file_);
    ASSERT_EQ(read_text(file_).find("gpu01"), std::string::npos);
    EXPECT_EQ(
        expect_same({"gpu01", "gpu02", "gpu03.example.com", "gpu03", "[gpu07]:2222", "gpu07", "10.0.0.1",
                     "fe80::1", "a", "b",
                     "name-of-more-than-one-block-of-the-hash-so-that-it-takes-two-of-them.example.com"}),
        9u);
}

TEST_F(SshKnownHostsLikeSshKeygen, what_accept_new_writes_is_found_by_ssh_plain_and_hashed) {
    const Sshd sshd;
    SshOptions options = sshd.options();
    options.known_hosts = {file_};
    options.host_keys = HostKeyPolicy::accept_new;
    options.config_file = folder_.path("config");
    const std::string name = ssh::known_hosts_name(sshd.endpoint().address, sshd.port());
    for (const bool hashed : {false, true}) {
        write_file(file_, "");
        write_file(*options.config_file, hashed ? "HashKnownHosts yes\n" : "");
        expect_runs(options, sshd.endpoint());
        EXPECT_TRUE(keep_host_keys(*context_).empty());
        EXPECT_EQ(read_text(file_).starts_with("|1|"), hashed) << read_text(file_);
        EXPECT_EQ(lines_of_ssh_keygen(file_, name), Lines{1});
    }
}

TEST_F(SshKnownHostsLikeSshKeygen, an_alias_is_looked_for_and_written_without_the_port) {
    const Sshd sshd;
    SshOptions options = sshd.options();
    options.known_hosts = {file_};
    options.config_file = folder_.path("config");
    write_file(*options.config_file, "HostKeyAlias Rack1-Gpu\n");
    write_file(file_, "");
    const Error error = expect_refused(options, sshd.endpoint(), "host_key_unknown", "host-key");
    expect_says(error.message, "rack1-gpu");
    options.host_keys = HostKeyPolicy::accept_new;
    expect_runs(options, sshd.endpoint());
    keep_host_keys(*context_);
    EXPECT_EQ(lines_of_ssh_keygen(file_, "rack1-gpu"), Lines{1});
    options.host_keys = HostKeyPolicy::strict;
    expect_runs(options, sshd.endpoint());
}

}  // namespace
}  // namespace cleanslate::agentless::contract
