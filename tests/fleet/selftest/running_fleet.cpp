#include "tests/fleet/selftest/running_fleet.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cleanslate::simulated {

namespace {

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string fresh_folder(std::string name) {
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return name;
}

std::vector<std::string> fields_of(const std::string& line, char separator) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, separator);) fields.push_back(field);
    return fields;
}

}  // namespace

Output run(const std::vector<std::string>& argv) {
    int pipe[2];
    EXPECT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const int null = ::open("/dev/null", O_RDONLY);
        ::dup2(null, STDIN_FILENO);
        ::dup2(pipe[1], STDOUT_FILENO);
        ::dup2(pipe[1], STDERR_FILENO);
        std::vector<char*> words;
        for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        ::execvp(words[0], words.data());
        ::_exit(127);
    }
    ::close(pipe[1]);
    Output output;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(pipe[0], buffer, sizeof buffer)) != 0;)
        if (got > 0)
            output.out.append(buffer, static_cast<std::size_t>(got));
        else if (errno != EINTR)
            break;
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return output;
}

std::string simhost() { return CLEANSLATE_BINARY_DIR "/fleet/simhost"; }
std::string fleet_file(const std::string& path) { return CLEANSLATE_SOURCE_DIR "/tests/fleet/" + path; }
std::string corpus(const std::string& name) {
    return contents(CLEANSLATE_SOURCE_DIR "/tests/corpus/h200/" + name);
}

Descriptions::Descriptions() : folder_(fresh_folder("/tmp/simulated-hosts-XXXXXX")) {}

Descriptions::~Descriptions() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void Descriptions::add(const std::string& host, const std::string& text) const {
    std::ofstream(folder_ + "/" + host + ".host") << text;
}

RunningFleet::RunningFleet(const std::vector<std::string>& descriptions, const std::string& companion,
                           int many)
    : folder_(fresh_folder("/tmp/simulated-fleet-XXXXXX")) {
    std::vector<std::string> argv{simhost(), "up", folder_};
    if (!companion.empty()) argv.insert(argv.end(), {"--with", companion});
    if (many > 0) argv.insert(argv.end(), {"--many", std::to_string(many)});
    for (const auto& file : descriptions) argv.push_back(file[0] == '/' ? file : fleet_file(file));
    started_ = run(argv);
}

RunningFleet::~RunningFleet() {
    if (std::filesystem::exists(folder_ + "/keeper")) down();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

Output RunningFleet::down() { return run({simhost(), "down", folder_}); }

Output RunningFleet::on(const std::string& host, const std::string& script) const {
    return run({simhost(), "exec", folder_, host, "sh", "-c", script});
}

std::string RunningFleet::smi(const std::string& host, const std::string& options) const {
    return on(host, "nvidia-smi " + options).out;
}

Output RunningFleet::ssh(const std::string& host, const std::string& command, const std::string& user) const {
    return run({"ssh", "-F", folder_ + "/ssh_config", "-l", user, host, command});
}

std::vector<ProcessLine> RunningFleet::processes() const {
    std::vector<ProcessLine> all;
    std::istringstream lines(run({simhost(), "ps", folder_}).out);
    for (std::string line; std::getline(lines, line);) {
        const auto fields = fields_of(line, '\t');
        if (fields.size() != 8) {
            ADD_FAILURE() << "malformed line of simhost ps: " << line;
            continue;
        }
        all.push_back({fields[0], fields[1], std::stoi(fields[2]), std::stoi(fields[3]),
                       std::stoull(fields[4]), fields[5][0], fields[6], fields[7]});
    }
    return all;
}

ProcessLine RunningFleet::find(const std::string& host, const std::string& name) const {
    for (const auto& process : processes())
        if (process.host == host && process.name == name) return process;
    ADD_FAILURE() << "no process " << name << " on " << host;
    return {};
}

bool lives(int outer, unsigned long long start) {
    // Whole: a name may have newlines. Into a stream, which ends where the process ends meanwhile (ESRCH);
    // iterators over the buffer throw there.
    std::ifstream file("/proc/" + std::to_string(outer) + "/stat");
    std::ostringstream stat;
    stat << file.rdbuf();
    const std::string text = stat.str();
    const auto end = text.rfind(')');
    if (end == std::string::npos) return false;
    const auto fields = fields_of(text.substr(end + 2), ' ');
    return fields.size() > 19 && fields[0] != "Z" && std::stoull(fields[19]) == start;
}

bool has_fuse() { return ::access("/dev/fuse", F_OK) == 0; }

bool has_freezer() {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);)
        if (line.find(":freezer:") != std::string::npos) return true;
    return false;
}

bool can_simulate() {
    return ::geteuid() == 0 && ::access("/usr/sbin/sshd", X_OK) == 0 && run({"ssh", "-V"}).status == 0;
}

}  // namespace cleanslate::simulated
