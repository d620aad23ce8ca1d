#include "controller/audit_log.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>

#include "agentless/remote.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "controller/files.hpp"
#include "controller/json_text.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {
namespace {

using Json = nlohmann::ordered_json;
using agentless::CommandAction;
using agentless::HostOutcome;
using agentless::SignalAction;

Json record(std::string_view event, const std::string& sweep, const Actor& actor) {
    return {{"time", rfc3339(std::time(nullptr))},
            {"event", event},
            {"sweep", sweep},
            {"by", printable(actor.user)},
            {"from", text_or_null(actor.from)},
            {"by_pid", actor.pid}};
}

void add_host(Json& json, const HostOutcome& host) {
    json["host"] = printable(host.name);
    json["address"] = text_or_null(host.address);
    json["boot_id"] = text_or_null(host.boot_id);
}

void add_signal(Json& json, const SignalAction& action) {
    json["step"] = action.step;
    json["signal"] = printable(action.signal);
    json["pid"] = action.process.key.pid;
    json["start"] = std::to_string(action.process.key.start);
    json["owner"] = text_or_null(action.process.user);
    json["exe"] = text_or_null(action.process.exe);
    json["command"] = text_or_null(action.process.command);
    json["unit"] = text_or_null(action.process.unit);
    json["rule"] = text_or_null(action.rule);
}

void add_command(Json& json, const CommandAction& action, bool raw) {
    json["kind"] = to_string(action.kind);
    json["step"] = action.step;
    json["command"] = shown_command(action.command, raw);
    json["about"] = text_or_null(action.about);
}

std::string line_of(const Json& json) { return dump(json) + '\n'; }

std::string name_of_user(std::uint32_t uid) {
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(16'384);
    if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
        return found->pw_name;
    return "uid " + std::to_string(uid);
}

Error audit_error(const std::string& path, const std::string& what) {
    return {"audit", "audit", "audit log " + printable(path) + ": " + what,
            "nothing is sent without one; --audit FILE names another place"};
}

// The user of the login session, which sudo and su leave as it is.
std::string login_user() {
    const auto text = read_file("/proc/self/loginuid", 64);
    const auto uid = text ? parse_number(trim(*text)) : std::nullopt;
    return uid && *uid < 0xFFFF'FFFFu ? name_of_user(static_cast<std::uint32_t>(*uid)) : std::string{};
}

std::string name_of_machine() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// The checks that a file can only pass if nobody else decides what becomes of it.
Status check_own_file(int fd, const std::string& path) {
    struct stat there {};
    if (::fstat(fd, &there) != 0) return std::unexpected(audit_error(path, reason(errno)));
    if (!S_ISREG(there.st_mode)) return std::unexpected(audit_error(path, "not a regular file"));
    if (there.st_uid != ::geteuid())
        return std::unexpected(audit_error(path, "belongs to " + name_of_user(there.st_uid)));
    if ((there.st_mode & 077) != 0 && ::fchmod(fd, 0600) != 0)
        return std::unexpected(audit_error(path, "others may read it, and chmod failed: " + reason(errno)));
    return {};
}

// True if a run before this one was cut in the middle of a record.
bool ends_in_half_a_record(int fd) {
    const off_t size = ::lseek(fd, 0, SEEK_END);
    char last = '\n';
    return size > 0 && ::pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

Actor actor_of_process(const std::vector<std::string>& arguments, bool raw_commands) {
    Actor actor;
    actor.uid = ::getuid();
    actor.user = name_of_user(actor.uid);
    actor.login = login_user();
    actor.pid = ::getpid();
    actor.from = name_of_machine();
    actor.raw_commands = raw_commands;
    std::vector<std::string> words{"cleanslate"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    if (!raw_commands) {
        actor.command_line = agentless::masked_command(words);
        return actor;
    }
    for (const std::string& word : words)
        actor.command_line += (actor.command_line.empty() ? "" : " ") + word;
    return actor;
}

std::string who_text(const Actor& actor) {
    std::string who = printable(actor.login.empty() ? actor.user : actor.login);
    if (!actor.from.empty()) who += "@" + printable(actor.from);
    return who + ", cleanslate " + std::to_string(actor.pid);
}

std::string default_audit_file(const Environment& environment) {
    const auto absolute = [&](const char* name) -> std::string {
        const auto found = environment.find(name);
        return found != environment.end() && found->second.starts_with('/') ? found->second : "";
    };
    if (const std::string state = absolute("XDG_STATE_HOME"); !state.empty())
        return state + "/cleanslate/audit.jsonl";
    if (const std::string home = absolute("HOME"); !home.empty())
        return home + "/.local/state/cleanslate/audit.jsonl";
    return {};
}

AuditLog::AuditLog(FileHandle file, std::string path, Actor actor)
    : file_(std::move(file)),
      path_(std::move(path)),
      actor_(std::move(actor)),
      sweep_(agentless::fresh_nonce()) {}

Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::string& path, const Actor& actor) {
    if (path.empty())
        return std::unexpected(audit_error("", "neither $XDG_STATE_HOME nor $HOME says where it belongs"));
    if (auto made = make_parents(path); !made)
        return std::unexpected(audit_error(path, made.error().message));
    // Not to wait for a reader where the name is a FIFO.
    const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    FileHandle file(::open(path.c_str(), flags, 0600));
    if (!file.valid() && errno == ELOOP) return std::unexpected(audit_error(path, "is a symbolic link"));
    if (!file.valid()) return std::unexpected(audit_error(path, reason(errno)));
    if (auto checked = check_own_file(file.get(), path); !checked) return std::unexpected(checked.error());
    if (auto durable = sync_folder_of(path); !durable)
        return std::unexpected(audit_error(path, durable.error().message));
    std::unique_ptr<AuditLog> log(new AuditLog(std::move(file), path, actor));
    log->torn_ = ends_in_half_a_record(log->file_.get());
    Json begin = record("begin", log->sweep_, actor);
    begin["by_uid"] = actor.uid;
    begin["login"] = text_or_null(actor.login);
    begin["command_line"] = printable(actor.command_line);
    if (auto written = log->write(line_of(begin)); !written) return std::unexpected(written.error());
    return log;
}

Status AuditLog::write(const std::string& records) {
    Status written;
    {
        const std::lock_guard lock(mutex_);
        written = write_all(file_.get(), torn_ ? "\n" + records : records);
        torn_ = !written;
    }
    // Outside the lock: the file system joins what several hosts wait for.
    if (written && ::fdatasync(file_.get()) != 0)
        written = fail("audit", "cannot be made durable: " + reason(errno));
    if (written) return {};
    const std::lock_guard lock(mutex_);
    const Error error = audit_error(path_, written.error().message);
    if (state_) state_ = std::unexpected(error);
    return std::unexpected(error);
}

Status AuditLog::intend(const HostOutcome& host, const std::vector<SignalAction>& actions) {
    std::string records;
    for (const SignalAction& action : actions) {
        Json json = record("intend", sweep_, actor_);
        add_host(json, host);
        add_signal(json, action);
        records += line_of(json);
    }
    return records.empty() ? Status{} : write(records);
}

Status AuditLog::intend(const HostOutcome& host, const std::vector<CommandAction>& actions) {
    std::string records;
    for (const CommandAction& action : actions) {
        Json json = record("intend", sweep_, actor_);
        add_host(json, host);
        add_command(json, action, actor_.raw_commands);
        records += line_of(json);
    }
    return records.empty() ? Status{} : write(records);
}

void AuditLog::result(const HostOutcome& host, const std::vector<SignalAction>& actions) {
    std::string records;
    for (const SignalAction& action : actions) {
        Json json = record("result", sweep_, actor_);
        add_host(json, host);
        add_signal(json, action);
        json["result"] = result_word(action.result);
        json["seconds"] = seconds_or_null(action.took);
        records += line_of(json);
    }
    if (!records.empty()) (void)write(records);
}

void AuditLog::result(const HostOutcome& host, const std::vector<CommandAction>& actions) {
    std::string records;
    for (const CommandAction& action : actions) {
        Json json = record("result", sweep_, actor_);
        add_host(json, host);
        add_command(json, action, actor_.raw_commands);
        json["result"] = command_word(action);
        json["exit_status"] = number_or_null(action.exit_status);
        json["exit_signal"] = text_or_null(action.exit_signal);
        json["seconds"] = seconds_or_null(action.took);
        records += line_of(json);
    }
    if (!records.empty()) (void)write(records);
}

void AuditLog::end(std::string_view why, int exit_status) {
    Json json = record("end", sweep_, actor_);
    json["why"] = why;
    json["exit_status"] = exit_status;
    (void)write(line_of(json));
}

Status AuditLog::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

Status NoAudit::intend(const HostOutcome&, const std::vector<SignalAction>&) {
    return fail("audit", "this command sends no signal");
}

Status NoAudit::intend(const HostOutcome&, const std::vector<CommandAction>&) {
    return fail("audit", "this command runs no command");
}

}  // namespace cleanslate::controller
