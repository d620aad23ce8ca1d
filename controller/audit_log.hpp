#pragma once
// The audit log: JSON lines, one a record. What is going to be sent is on the disk before it is sent.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agentless/fleet.hpp"
#include "base/result.hpp"
#include "controller/file_handle.hpp"
#include "controller/options.hpp"

namespace cleanslate::controller {

// Who is doing it, and with what words.
struct Actor {
    std::string user;
    std::uint32_t uid = 0;
    std::string login;  // who logged in before any sudo, as the kernel keeps it; empty: not known
    std::string from;   // the name of the machine that this runs on
    int pid = 0;
    std::string command_line;  // secrets masked unless raw commands were asked for
    bool raw_commands = false;
};
Actor actor_of_process(const std::vector<std::string>& arguments, bool raw_commands);

// "alice@laptop, cleanslate 4242": who it is, in the words that others are told. Who logged in comes before
// what sudo made of them.
std::string who_text(const Actor& actor);

// The default file; empty where neither $XDG_STATE_HOME (absolute) nor $HOME says where.
std::string default_audit_file(const Environment& environment);

class AuditLog : public agentless::Audit {
  public:
    // Opens (creates: mode 0600, missing folders 0700) and writes the record `begin`. A symbolic link, a file
    // that is not regular, or one that somebody else owns is refused: whoever could redirect or rewrite the
    // log must not be able to. Errors have kind "audit".
    static Result<std::unique_ptr<AuditLog>> open(const std::string& path, const Actor& actor);

    Status intend(const agentless::HostOutcome& host,
                  const std::vector<agentless::SignalAction>& actions) override;
    Status intend(const agentless::HostOutcome& host,
                  const std::vector<agentless::CommandAction>& actions) override;
    void result(const agentless::HostOutcome& host,
                const std::vector<agentless::SignalAction>& actions) override;
    void result(const agentless::HostOutcome& host,
                const std::vector<agentless::CommandAction>& actions) override;

    // The record `end`: why it ended ("done", "declined", "interrupted"), and with what status.
    void end(std::string_view why, int exit_status);
    // The first failure of any record; success: all of them are on the disk.
    Status state() const;

  private:
    AuditLog(FileHandle file, std::string path, Actor actor);
    Status write(const std::string& records);

    FileHandle file_;
    std::string path_;
    Actor actor_;
    std::string sweep_;  // this run's own id, in each record
    mutable std::mutex mutex_;
    bool torn_ = false;  // the file ends in half a record
    Status state_;
};

// For commands that send nothing: refuses every intention.
class NoAudit : public agentless::Audit {
  public:
    Status intend(const agentless::HostOutcome&, const std::vector<agentless::SignalAction>&) override;
    Status intend(const agentless::HostOutcome&, const std::vector<agentless::CommandAction>&) override;
    void result(const agentless::HostOutcome&, const std::vector<agentless::SignalAction>&) override {}
    void result(const agentless::HostOutcome&, const std::vector<agentless::CommandAction>&) override {}
};

}  // namespace cleanslate::controller
