#include "inventory/ssh_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

using Words = std::vector<std::string>;

// Letters of options that change nothing here.
constexpr std::string_view passed_over = "1246AaCkKMnqTtvXxYy";
constexpr std::string_view passed_over_with_value = "cEemS";
constexpr std::string_view with_value = "BbcDEeFIiJLlmOopQRSWw";

// The same of -o, in small letters.
constexpr std::array<std::string_view, 50> passed_over_keys{
    "addkeystoagent",
    "addressfamily",
    "batchmode",
    "canonicaldomains",
    "casignaturealgorithms",
    "challengeresponseauthentication",
    "checkhostip",
    "ciphers",
    "clearallforwardings",
    "compression",
    "compressionlevel",
    "connectionattempts",
    "controlmaster",
    "controlpath",
    "controlpersist",
    "enableescapecommandline",
    "escapechar",
    "exitonforwardfailure",
    "fingerprinthash",
    "forwardagent",
    "forwardx11",
    "forwardx11timeout",
    "forwardx11trusted",
    "gssapiauthentication",
    "gssapidelegatecredentials",
    "gssapikeyexchange",
    "hashknownhosts",
    "hostbasedauthentication",
    "hostkeyalgorithms",
    "identitiesonly",
    "ipqos",
    "kbdinteractiveauthentication",
    "kexalgorithms",
    "loglevel",
    "logverbose",
    "macs",
    "numberofpasswordprompts",
    "passwordauthentication",
    "preferredauthentications",
    "protocol",
    "pubkeyacceptedalgorithms",
    "pubkeyacceptedkeytypes",
    "pubkeyauthentication",
    "rekeylimit",
    "requesttty",
    "sendenv",
    "serveralivecountmax",
    "serveraliveinterval",
    "tcpkeepalive",
    "updatehostkeys",
};

// "Key=value", "Key value" and "Key = value", the key in small letters.
struct KeyValue {
    std::string key, value;
};
KeyValue key_value(std::string_view text) {
    text = trim(text);
    const auto end = std::min(text.find_first_of(" \t="), text.size());
    KeyValue read{std::string(text.substr(0, end)), {}};
    for (char& c : read.key) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    auto value = trim(text.substr(end));
    if (value.starts_with('=')) value = trim(value.substr(1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"')
        value = value.substr(1, value.size() - 2);
    read.value = value;
    return read;
}

}  // namespace

std::optional<std::vector<std::string>> shell_words(std::string_view text,
                                                    std::string_view escaped_in_quotes) {
    Words words;
    char quote = '\0';
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
            inside = false;
            continue;
        }
        if (!inside) words.emplace_back();
        inside = true;
        if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        } else if (c == '\\' && quote != '\'' && i + 1 < text.size() &&
                   (quote == '\0' || escaped_in_quotes.find(text[i + 1]) != std::string_view::npos)) {
            words.back() += text[++i];
        } else {
            words.back() += c;
        }
    }
    if (quote != '\0') return std::nullopt;
    return words;
}

std::unexpected<Error> unknown_ssh_option(std::string_view option) {
    return fail("inventory", fmt::format("the option {} of ssh is not known here", printable(option)),
                "leave it out, or say it in ssh's configuration (~/.ssh/config), which counts here, too");
}

std::unexpected<Error> bad_ssh_value(std::string_view option, std::string_view value,
                                     std::string_view wanted) {
    return fail("inventory",
                fmt::format("\"{}\" is no value of ssh's {}", ellipsize(printable(value), 60), option),
                std::string(wanted));
}

Result<std::uint16_t> ssh_port(std::string_view text) {
    const auto port = parse_number(text);
    if (!port || *port < 1 || *port > 65'535) return bad_ssh_value("Port", text, "1 to 65535");
    return static_cast<std::uint16_t>(*port);
}

Status each_ssh_option(const Words& words, const SshWords& told) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (!word.starts_with('-')) {
            if (auto fine = told.plain(word); !fine) return fine;
            continue;
        }
        if (word.size() < 2) return unknown_ssh_option(word);
        for (std::size_t at = 1; at < word.size(); ++at) {
            const char option = word[at];
            const std::string name{'-', option};
            if (with_value.find(option) == std::string_view::npos) {
                if (passed_over.find(option) == std::string_view::npos) return unknown_ssh_option(name);
                continue;
            }
            std::string value = word.substr(at + 1);
            if (value.empty() && ++i < words.size()) value = words[i];
            if (value.empty()) return fail("inventory", fmt::format("ssh's {} has no value", name));
            if (option == 'o') {
                const KeyValue said = key_value(value);
                const bool passes = std::ranges::find(passed_over_keys, said.key) != passed_over_keys.end();
                if (auto fine = passes ? Status() : told.setting(said.key, said.value); !fine) return fine;
            } else if (passed_over_with_value.find(option) == std::string_view::npos) {
                if (auto fine = told.letter(option, value); !fine) return fine;
            }
            break;
        }
    }
    return {};
}

}  // namespace cleanslate::inventory
