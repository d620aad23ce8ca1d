#include "tests/fleet/outside.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <map>

#include "tests/fleet/launch.hpp"

namespace cleanslate::simulated {

namespace {

std::string link_of(const std::string& path) {
    char text[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), text, sizeof text);
    return length < 0 ? std::string() : std::string(text, static_cast<std::size_t>(length));
}

std::vector<pid_t> all_pids() {
    std::vector<pid_t> pids;
    DIR* proc = ::opendir("/proc");
    need(proc != nullptr, "open /proc");
    while (const dirent* entry = ::readdir(proc))
        if (const auto pid = to_number(entry->d_name)) pids.push_back(static_cast<pid_t>(*pid));
    ::closedir(proc);
    return pids;
}

std::map<pid_t, std::string> started_on(const Member& member) {
    std::map<pid_t, std::string> names;
    const auto text = read_file("/proc/" + std::to_string(member.init) + "/root" + started_file());
    for (const auto& line : split(text.value_or(""), '\n')) {
        const auto words = split(line, ' ');
        if (words.size() == 2) names[static_cast<pid_t>(to_number(words[0]).value_or(0))] = words[1];
    }
    return names;
}

// The last number of NSpid, and the real uid, of /proc/PID/status.
bool read_status(pid_t outer, Seen& seen) {
    const auto text = read_file("/proc/" + std::to_string(outer) + "/status");
    if (!text) return false;
    for (const auto& line : split(*text, '\n')) {
        const auto words = split(line, '\t');
        if (words.size() < 2) continue;
        if (words[0] == "NSpid:") seen.pid = static_cast<pid_t>(to_number(words.back()).value_or(0));
        if (words[0] != "Uid:") continue;
        seen.user = words[1];
        for (const auto& user : users())
            if (std::to_string(user.uid) == words[1]) seen.user = user.name;
    }
    return seen.pid > 0;
}

std::string command_of(pid_t outer, const std::string& comm) {
    auto text = read_file("/proc/" + std::to_string(outer) + "/cmdline").value_or("");
    while (!text.empty() && text.back() == '\0') text.pop_back();
    if (text.empty()) return "(" + comm + ")";
    for (auto& c : text)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return text;
}

[[noreturn]] void enter_and_execute(const Member& member, const std::vector<std::string>& argv) {
    const bool of_machine = argv[0].find('/') != std::string::npos;
    Fd program;
    if (of_machine) program.reset(::open(argv[0].c_str(), O_PATH));
    need(!of_machine || program, "cannot open " + argv[0]);
    const Fd init(static_cast<int>(::syscall(SYS_pidfd_open, member.init, 0)));
    need(init && ::setns(init.get(),
                         CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWCGROUP) == 0,
         "cannot enter " + member.host.name);
    const pid_t inside = ::fork();
    need(inside >= 0, "fork");
    if (inside != 0) {
        int status = 0;
        ::waitpid(inside, &status, 0);
        ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    if (::chdir("/root") != 0) errno = 0;
    ::setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
    ::setenv("HOME", "/root", 1);
    std::vector<char*> words;
    for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    if (of_machine)
        ::fexecve(program.get(), words.data(), environ);
    else
        ::execvp(words[0], words.data());
    errno = 0;
    ::_exit(127);
}

}  // namespace

std::vector<Seen> look_at_processes(const Fleet& fleet) {
    std::map<std::string, const Member*> spaces;
    std::map<const Member*, std::map<pid_t, std::string>> names;
    for (const auto& member : fleet.members) {
        if (member.init < 0) continue;
        const auto space = link_of("/proc/" + std::to_string(member.init) + "/ns/pid");
        if (!space.empty()) spaces[space] = &member;
        names[&member] = started_on(member);
    }
    std::vector<Seen> all;
    for (const pid_t outer : all_pids()) {
        const auto space = spaces.find(link_of("/proc/" + std::to_string(outer) + "/ns/pid"));
        const auto stat = stat_of(outer);
        if (space == spaces.end() || !stat) continue;
        Seen seen;
        if (!read_status(outer, seen) || seen.pid <= 2) continue;
        seen.host = space->second->host.name;
        seen.outer = outer;
        seen.start = stat->start;
        seen.state = stat->state;
        const auto& started = names[space->second];
        const auto name = started.find(seen.pid);
        seen.process = name == started.end() ? "-" : name->second;
        const auto* spec = space->second->host.find(seen.process);
        const bool unreadable = spec != nullptr && !spec->unreadable.empty();
        seen.command = unreadable ? "(" + stat->comm + ")" : command_of(outer, stat->comm);
        all.push_back(std::move(seen));
    }
    std::sort(all.begin(), all.end(), [](const Seen& a, const Seen& b) {
        return a.host != b.host ? a.host < b.host : a.pid < b.pid;
    });
    errno = 0;
    return all;
}

std::string to_tsv(const std::vector<Seen>& all) {
    std::string text;
    for (const auto& seen : all)
        text += seen.host + "\t" + seen.process + "\t" + std::to_string(seen.pid) + "\t" +
                std::to_string(seen.outer) + "\t" + std::to_string(seen.start) + "\t" + seen.state + "\t" +
                seen.user + "\t" + seen.command + "\n";
    return text;
}

std::vector<Seen> from_tsv(const std::string& text) {
    std::vector<Seen> all;
    for (const auto& line : split(text, '\n')) {
        const auto fields = split(line, '\t');
        need(fields.size() == 8, "malformed process list");
        Seen seen;
        seen.host = fields[0];
        seen.process = fields[1];
        seen.pid = static_cast<pid_t>(to_number(fields[2]).value_or(0));
        seen.outer = static_cast<pid_t>(to_number(fields[3]).value_or(0));
        seen.start = static_cast<std::uint64_t>(to_number(fields[4]).value_or(0));
        seen.state = fields[5][0];
        seen.user = fields[6];
        seen.command = fields[7];
        all.push_back(std::move(seen));
    }
    return all;
}

Ran run_on(const Member& member, const std::vector<std::string>& argv, bool captured) {
    int pipe[2] = {-1, -1};
    if (captured) need(::pipe2(pipe, O_CLOEXEC) == 0, "pipe2");
    const pid_t child = ::fork();
    need(child >= 0, "fork");
    if (child == 0) {
        if (captured) ::dup2(pipe[1], STDOUT_FILENO);
        enter_and_execute(member, argv);
    }
    Ran ran;
    if (captured) {
        ::close(pipe[1]);
        const Fd reader(pipe[0]);
        char buffer[4096];
        for (ssize_t got = 0; (got = ::read(reader.get(), buffer, sizeof buffer)) != 0;)
            if (got > 0)
                ran.out.append(buffer, static_cast<std::size_t>(got));
            else if (errno != EINTR)
                break;
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    errno = 0;
    return ran;
}

}  // namespace cleanslate::simulated
