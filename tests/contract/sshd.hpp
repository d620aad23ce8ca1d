#pragma once
// A real sshd and a real ssh-agent for the tests, with keys of their own in a folder of their own.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agentless/ssh/ssh_options.hpp"
#include "agentless/transport.hpp"

namespace cleanslate::agentless::contract {

// A folder that is gone with its owner.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string path(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

void write_file(const std::string& path, const std::string& text, int mode = 0600);
std::string read_text(const std::string& path);
// Runs a shell command and gives what it printed; throws where it fails.
std::string shell(const std::string& command);

// A program that is killed with its owner, or with the test where that dies; as root, with all that it
// started.
class Program {
  public:
    explicit Program(const std::vector<std::string>& arguments);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    bool running() const;
    // Kills all that it started, and what those started, but not the program.
    void kill_children() const;

  private:
    pid_t pid_ = -1;
};

// The command line of a program that is started in a mount namespace of its own, after shell commands there.
std::vector<std::string> in_own_mounts(const std::string& set_up, const std::string& program);
// A port at the test servers' address (127.0.0.77) on which nobody listens.
std::uint16_t free_port();
// Until it accepts connections there; throws where it ends first or takes 20 s.
void wait_for_server(const Program& program, std::uint16_t port);

// Why no sshd can be started here; empty where one can.
std::string no_sshd_here();

class Sshd {
  public:
    // `settings` are further lines of its sshd_config. `set_up`: shell commands that are run before it, as
    // root in a mount namespace of its own, so that it may have an /etc/passwd and a /root of its own;
    // without them root's home is empty. Waits until it answers.
    explicit Sshd(const std::string& settings = {}, const std::string& set_up = {});

    Endpoint endpoint() const;
    // Options with which it lets one in: its key is in known_hosts, the client's key is authorised.
    SshOptions options() const;

    std::string file(const std::string& name) const { return folder_.path(name); }
    std::string log() const { return read_text(file("log")); }
    std::uint16_t port() const { return port_; }
    // Whoever is connected loses the connection. It goes on listening.
    void kill_sessions() const { program_->kill_children(); }
    // It listens no longer either, and can be started again at the same port.
    void stop() { program_.reset(); }
    void start();
    // Makes a key pair in its folder and gives the private file's name. Arguments as for ssh-keygen.
    std::string make_key(const std::string& name, const std::string& arguments) const;
    void authorize(const std::string& name) const;
    std::string known_hosts_line(const std::string& names,
                                 const std::string& host_key = "host_ed25519") const;

  private:
    TemporaryFolder folder_;
    std::uint16_t port_ = 0;
    std::vector<std::string> command_;
    std::unique_ptr<Program> program_;
};

// A running ssh-agent without keys.
class Agent {
  public:
    Agent();
    std::string socket() const { return folder_.path("agent"); }
    void add(const std::string& key_file) const;

  private:
    TemporaryFolder folder_;
    std::unique_ptr<Program> program_;
};

}  // namespace cleanslate::agentless::contract
