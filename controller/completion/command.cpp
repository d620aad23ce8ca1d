// completion: the script for a shell. What that asks on each press of the key is answered here, too: within a
// second, and without a word on what goes wrong.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "agentless/findings.hpp"
#include "completion_scripts.hpp"
#include "controller/commands.hpp"
#include "controller/completion/completion.hpp"
#include "controller/config/config.hpp"
#include "controller/help_topics.hpp"
#include "controller/history/sweeps.hpp"
#include "controller/option_groups.hpp"
#include "controller/option_values.hpp"
#include "inventory/inventory.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::controller {
namespace {

constexpr timeval deadline{1, 0};
constexpr std::size_t most_sweeps = 50;

// No shell takes any of these for more than a letter. What has another one in its name is not offered.
bool is_plain(std::string_view text) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:@%+,/=!&";
    return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

bool is_plain_file(const std::filesystem::path& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 0111) == 0;
}

// A file, or a folder of files, that is only read: whoever presses a key has not asked for a program to be
// run.
bool only_reads(const std::string& inventory) {
    using Walk = std::filesystem::recursive_directory_iterator;
    std::error_code error;
    if (!std::filesystem::is_directory(inventory, error)) return is_plain_file(inventory);
    for (Walk entry(inventory, error), end; !error && entry != end; entry.increment(error))
        if (!entry->is_directory(error) && !is_plain_file(entry->path())) return false;
    return !error;
}

// Of the line, the environment and the config files the first that names any.
std::vector<std::string> inventories_in_use(const Whence& whence, const Environment& environment) {
    if (!whence.inventories.empty()) return whence.inventories;
    const auto given = environment.find("CLEANSLATE_INVENTORY");
    if (given != environment.end() && !given->second.empty()) return {given->second};
    std::vector<std::string> files;
    for (const auto& setting : config::load_config(whence.config, environment).settings())
        if (setting.key->name == "inventory")
            for (const auto& value : setting.values) files.push_back(value.text);
    return files;
}

std::vector<Candidate> names_of(const std::vector<std::string>& files, bool with_groups) {
    std::vector<Candidate> names;
    if (files.empty() || !std::ranges::all_of(files, only_reads)) return names;
    const auto inventory = inventory::Inventory::load(files);
    if (!inventory) return names;
    if (with_groups)
        for (const auto& [group, hosts] : inventory->groups())
            names.push_back({group, "group of " + std::to_string(hosts.size())});
    for (const auto& host : inventory->hosts()) names.push_back({host.name, "host"});
    return names;
}

std::vector<Candidate> sweeps_of(const std::string& file) {
    std::vector<Candidate> ids{{"last", "the newest sweep"}};
    auto store = history::Store::open(file, history::Use::read, [](Milliseconds) { return false; });
    if (!store) return ids;
    const auto sweeps = history::sweeps(**store, {most_sweeps, {}, {}});
    if (!sweeps) return ids;
    for (const auto& sweep : *sweeps) {
        std::string what = sweep.command + (sweep.playbook.empty() ? "" : " -p " + sweep.playbook);
        if (sweep.scope.limit != "all") what += " -l " + sweep.scope.limit;
        ids.push_back({std::to_string(sweep.id), printable(what)});
    }
    return ids;
}

std::vector<Candidate> playbook_names() {
    std::vector<Candidate> names;
    for (const auto& built_in : playbooks::built_in_playbooks())
        names.push_back({std::string(built_in.name), built_in.description});
    return names;
}

std::vector<Candidate> finding_codes() {
    std::vector<Candidate> codes;
    for (const auto& kind : agentless::finding_kinds())
        codes.push_back({std::string(kind.code), std::string(kind.meaning)});
    return codes;
}

std::vector<Candidate> help_topics() {
    std::vector<Candidate> names;
    for (const Topic& topic : topics())
        names.push_back({std::string(topic.name), std::string(topic.summary())});
    for (const CommandNode& command : command_outline().children)
        names.push_back({command.name, command.description});
    return names;
}

std::vector<Candidate> look_up(Lookup what, const Whence& whence, const Environment& environment) {
    switch (what) {
        case Lookup::hosts:
            return names_of(inventories_in_use(whence, environment), false);
        case Lookup::hosts_and_groups:
            return names_of(inventories_in_use(whence, environment), true);
        case Lookup::sweeps:
            return sweeps_of(whence.history.empty() ? default_history_file(environment) : whence.history);
        case Lookup::playbooks:
            return playbook_names();
        case Lookup::codes:
            return finding_codes();
        case Lookup::topics:
            return help_topics();
    }
    return {};
}

// "files 7" or "words", and then a candidate a line, with a tab before what it is about.
std::string lines_of(const Completion& completion) {
    std::string lines =
        completion.file_from ? "files " + std::to_string(*completion.file_from) + "\n" : "words\n";
    for (const Candidate& candidate : completion.candidates) {
        if (!is_plain(candidate.text)) continue;
        std::string about = candidate.about.substr(0, candidate.about.find('\n'));
        std::ranges::replace(about, '\t', ' ');
        lines += candidate.text + "\t" + about + "\n";
    }
    return lines;
}

// An inventory may be a FIFO, or lie on a server that does not answer.
void end_in_time() {
    std::signal(SIGALRM, [](int) { _exit(0); });
    const itimerval timer{{0, 0}, deadline};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

void say_nothing() {
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0) return;
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

}  // namespace

std::optional<Options> read_completion_call(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.front() != to_string(Command::complete)) return std::nullopt;
    Options options;
    options.command = Command::complete;
    options.typed.assign(arguments.begin() + 1, arguments.end());
    return options;
}

void add_completion_options(CLI::App& app, Options& options) {
    const auto read = [&options](const std::string& word) {
        if (word != "bash" && word != "zsh" && word != "fish")
            throw CLI::ValidationError("SHELL", "wants bash, zsh or fish, not '" + printable(word) + "'");
        options.shell = word;
    };
    app.add_option_function<std::string>("SHELL", read, "bash, zsh or fish (required, no default)")
        ->required()
        ->type_name("bash|zsh|fish");
}

int completion_command(const Context& context) {
    const std::string& shell = context.options.shell;
    context.out.write(shell == "bash"  ? completion::cleanslate_bash
                      : shell == "zsh" ? completion::cleanslate_zsh
                                       : completion::cleanslate_fish);
    return finish_output(context);
}

int complete_command(const Context& context) {
    end_in_time();
    say_nothing();
    const auto look = [&](Lookup what, const Whence& whence) {
        return look_up(what, whence, context.environment);
    };
    context.out.write(lines_of(complete(command_outline(), context.options.typed, look)));
    (void)context.out.finish();
    return 0;
}

}  // namespace cleanslate::controller
