#include <string_view>
#include <vector>

#include "agentless/ssh/proxy_command.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// Whatever a shell might read as more than plain words.
constexpr std::string_view shell_characters = "'\"\\$`|&;<>(){}*?~#!\n\r";

std::vector<std::string> words_of(std::string_view command) {
    std::vector<std::string> words;
    for (const std::string_view part : split(command, ' '))
        for (const std::string_view word : split(part, '\t'))
            if (!word.empty()) words.emplace_back(word);
    return words;
}

bool is_the_host(const std::string& place, const std::string& host, std::uint16_t port) {
    for (const std::string& name : {host, std::string("%h")})
        for (const std::string& number : {std::to_string(port), std::string("%p")})
            if (place == name + ":" + number || place == "[" + name + "]:" + number) return true;
    return false;
}

// What the words of an `ssh` command say. Each at most once.
struct Command {
    std::optional<std::string> user, port, place, destination;
};

bool set_once(std::optional<std::string>& value, std::string text) {
    if (value || text.empty()) return false;
    value = std::move(text);
    return true;
}

// Absent where there is anything else than what is understood.
std::optional<Command> parse(const std::vector<std::string>& words) {
    Command command;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word[0] != '-') {
            if (!set_once(command.destination, word)) return std::nullopt;
            continue;
        }
        if (word == "-q" || word == "-T" || word == "-a" || word == "-x") continue;
        const char option = word.size() > 1 ? word[1] : '-';
        std::optional<std::string>* value = option == 'l'   ? &command.user
                                            : option == 'p' ? &command.port
                                            : option == 'W' ? &command.place
                                                            : nullptr;
        if (value == nullptr) return std::nullopt;
        const bool attached = word.size() > 2;
        if (!attached && i + 1 == words.size()) return std::nullopt;
        if (!set_once(*value, attached ? word.substr(2) : words[++i])) return std::nullopt;
    }
    return command;
}

}  // namespace

std::optional<std::string> hop_of_proxy_command(const std::string& expanded_command,
                                                const std::string& host_name, std::uint16_t port) {
    if (expanded_command.find_first_of(shell_characters) != std::string::npos) return std::nullopt;
    std::vector<std::string> words = words_of(expanded_command);
    if (!words.empty() && words.front() == "exec") words.erase(words.begin());
    if (words.empty() || (words.front() != "ssh" && words.front() != "/usr/bin/ssh")) return std::nullopt;
    words.erase(words.begin());
    const auto command = parse(words);
    if (!command || !command->place || !command->destination) return std::nullopt;
    if (!is_the_host(*command->place, host_name, port)) return std::nullopt;

    std::string user = command->user.value_or(""), host = *command->destination;
    if (host.find("://") != std::string::npos) return std::nullopt;
    if (const auto at = host.rfind('@'); at != std::string::npos) {
        if (command->user) return std::nullopt;
        user = host.substr(0, at);
        host.erase(0, at + 1);
    }
    if (host.empty() || host.find(',') != std::string::npos) return std::nullopt;
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    const auto number = parse_number(command->port.value_or("22"));
    if (!number || *number == 0 || *number > 65535) return std::nullopt;
    return (user.empty() ? "" : user + "@") + host + (command->port ? ":" + *command->port : "");
}

}  // namespace cleanslate::agentless::ssh
