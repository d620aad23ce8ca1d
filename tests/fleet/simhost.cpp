// simhost: starts, shows and ends fleets of simulated GPU hosts. README.md tells how they are described.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tests/fleet/judge.hpp"
#include "tests/fleet/keeper.hpp"

namespace cleanslate::simulated {
namespace {

constexpr const char* usage =
    "simhost up FOLDER [--with PID|none] [--port N] [--many N] DESCRIPTION...\n"
    "    starts a host for each description (*.host; a folder stands for all in it), returns when every sshd "
    "listens.\n"
    "    FOLDER gets key, known_hosts, ssh_config, inventory.yaml; it must be empty or not there.\n"
    "    The fleet ends with `down`, or with the process PID (default: the one that called simhost).\n"
    "    --many N: N hosts of each description, named NAME-01...\n"
    "simhost down FOLDER                    ends the fleet and removes FOLDER\n"
    "simhost ps FOLDER                      every process: host, name, pid, pid outside, start time, state, "
    "user, command\n"
    "simhost judge FOLDER BEFORE [REPORT]   compares with an earlier `ps`, and cleanslate's JSON report with "
    "what was\n"
    "                                       to come: is everything as the descriptions expect?\n"
    "simhost exec FOLDER HOST COMMAND...    runs a command on a host, as root and without its sshd\n";

[[noreturn]] void wrong_usage() {
    std::fputs(usage, stderr);
    ::_exit(2);
}

std::vector<std::string> description_files(const std::vector<std::string>& given) {
    std::vector<std::string> files;
    for (const auto& path : given) {
        std::error_code none;
        if (!std::filesystem::is_directory(path, none)) {
            files.push_back(path);
            continue;
        }
        std::vector<std::string> inside;
        for (const auto& entry : std::filesystem::directory_iterator(path, none))
            if (entry.path().extension() == ".host") inside.push_back(entry.path().string());
        std::sort(inside.begin(), inside.end());
        files.insert(files.end(), inside.begin(), inside.end());
    }
    return files;
}

std::string absolute(const std::string& path) {
    std::error_code error;
    const auto found = std::filesystem::absolute(path, error).lexically_normal().string();
    need(!error, "no such place: " + path);
    return found.size() > 1 && found.back() == '/' ? found.substr(0, found.size() - 1) : found;
}

void add_host(Fleet& fleet, const std::string& file, const std::string& name) {
    errno = 0;
    const auto text = read_file(file);
    need(text.has_value(), "cannot read " + file);
    auto host = parse_host(*text, file, name);
    errno = 0;
    if (!host) die(host.error().message);
    for (const auto& member : fleet.members) need(member.host.name != name, "two hosts are named " + name);
    fleet.members.push_back(Member{std::move(*host), "", -1, 0});
}

void add_hosts(Fleet& fleet, const std::string& file, long many) {
    const std::string base = std::filesystem::path(file).stem().string();
    if (many == 0) return add_host(fleet, absolute(file), base);
    const auto width = std::max<std::size_t>(2, std::to_string(many).size());
    for (long i = 1; i <= many; ++i) {
        std::string number = std::to_string(i);
        number.insert(0, width - number.size(), '0');
        add_host(fleet, absolute(file), base + "-" + number);
    }
}

struct UpOptions {
    pid_t companion = ::getppid();
    long many = 0;
    std::vector<std::string> descriptions;
};

UpOptions read_up_options(const std::vector<std::string>& words, Fleet& fleet) {
    UpOptions options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!words[i].starts_with("--")) {
            options.descriptions.push_back(words[i]);
            continue;
        }
        if (i + 1 == words.size()) wrong_usage();
        const auto number = to_number(words[i + 1]);
        if (words[i] == "--with" && words[i + 1] == "none")
            options.companion = 0;
        else if (words[i] == "--with" && number && *number > 0)
            options.companion = static_cast<pid_t>(*number);
        else if (words[i] == "--port" && number && *number > 0)
            fleet.port = static_cast<int>(*number);
        else if (words[i] == "--many" && number && *number > 0 && *number < 254)
            options.many = *number;
        else
            wrong_usage();
        ++i;
    }
    if (options.descriptions.empty()) wrong_usage();
    return options;
}

void prepare_folder(const Fleet& fleet) {
    std::error_code none;
    need(!std::filesystem::exists(fleet.folder, none) || std::filesystem::is_empty(fleet.folder, none),
         fleet.folder + " is there and not empty");
    make_folder(fleet.folder, 0700);
    make_folder(fleet.folder + "/hosts");
    for (const auto& member : fleet.members) {
        make_folder(fleet.folder + "/hosts/" + member.host.name);
        write_file(fleet.folder + "/hosts/" + member.host.name + "/description", member.host.text);
    }
}

[[noreturn]] void become_keeper(Fleet fleet, pid_t companion, int report) {
    ::setsid();
    const int log = ::open((fleet.folder + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    need(log >= 0 && null >= 0, "open the log");
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    // Whatever the caller had open is none of the fleet's business.
    for (int fd = 3; fd < 1024; ++fd)
        if (fd != report) ::close(fd);
    errno = 0;
    keep(std::move(fleet), companion, report);
}

int up(const std::vector<std::string>& words) {
    errno = 0;
    need(::geteuid() == 0, "simulated hosts need root (namespaces, mounts, sshd)");
    need(::access("/usr/sbin/sshd", X_OK) == 0, "sshd is missing (package openssh-server)");
    Fleet fleet;
    fleet.folder = absolute(words[0]);
    const UpOptions options = read_up_options({words.begin() + 1, words.end()}, fleet);
    for (const auto& file : description_files(options.descriptions)) add_hosts(fleet, file, options.many);
    errno = 0;
    need(!fleet.members.empty(), "no description (*.host) found");
    prepare_folder(fleet);
    int report[2];
    need(::pipe2(report, O_CLOEXEC) == 0, "pipe2");
    const pid_t keeper = ::fork();
    need(keeper >= 0, "fork");
    if (keeper == 0) become_keeper(fleet, options.companion, report[1]);
    ::close(report[1]);
    char text[8];
    if (::read(report[0], text, sizeof text) == 5) return 0;
    ::waitpid(keeper, nullptr, 0);
    std::fputs(read_file(fleet.folder + "/log").value_or("").c_str(), stderr);
    std::error_code none;
    std::filesystem::remove_all(fleet.folder, none);
    errno = 0;
    die("the fleet did not start");
}

int execute(const std::vector<std::string>& words) {
    if (words.size() < 3) wrong_usage();
    const Fleet fleet = read_fleet(absolute(words[0]));
    for (const auto& member : fleet.members)
        if (member.host.name == words[1] && member.init > 0)
            return run_on(member, {words.begin() + 2, words.end()}, false).status;
    die("no host " + words[1]);
}

int judge_since(const std::vector<std::string>& words) {
    if (words.size() < 2 || words.size() > 3) wrong_usage();
    errno = 0;
    const auto before = read_file(words[1]);
    need(before.has_value(), "cannot read " + words[1]);
    const Fleet fleet = read_fleet(absolute(words[0]));
    if (words.size() == 2) return judge(fleet, from_tsv(*before), nullptr) ? 0 : 1;
    const auto report = read_report(words[2]);
    return judge(fleet, from_tsv(*before), &report) ? 0 : 1;
}

int run(int argc, char** argv) {
    if (argc < 3) wrong_usage();
    const std::string verb = argv[1];
    const std::vector<std::string> words(argv + 2, argv + argc);
    if (verb == "up") return up(words);
    if (verb == "exec") return execute(words);
    if (verb == "judge") return judge_since(words);
    if (words.size() != 1) wrong_usage();
    if (verb == "down") return take_down(absolute(words[0])), 0;
    if (verb != "ps") wrong_usage();
    std::fputs(to_tsv(look_at_processes(read_fleet(absolute(words[0])))).c_str(), stdout);
    return 0;
}

}  // namespace
}  // namespace cleanslate::simulated

int main(int argc, char** argv) {
    cleanslate::simulated::remember_arguments(argc, argv);
    return cleanslate::simulated::run(argc, argv);
}
