// Secrets in command lines, masked: by the name in front of them, by their place in a URL, by their own
// shape.

#include <algorithm>
#include <array>
#include <cctype>

#include "agentless/verdict.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::string_view mask = "***";

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_name_char(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

// "--HF_authToken2" -> hf, auth, token: lower case, split at punctuation and at the humps of camel case,
// trailing digits off.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    char before = 0;
    for (const char c : name) {
        const bool hump = std::islower(static_cast<unsigned char>(before)) != 0 &&
                          std::isupper(static_cast<unsigned char>(c)) != 0;
        if ((hump || !is_alnum(c)) && !words.back().empty()) words.emplace_back();
        if (is_alnum(c)) words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        before = c;
    }
    for (auto& word : words)
        while (!word.empty() && std::isdigit(static_cast<unsigned char>(word.back())) != 0) word.pop_back();
    std::erase(words, "");
    return words;
}

template <std::size_t N>
bool one_of(const std::array<std::string_view, N>& list, std::string_view word) {
    return std::ranges::find(list, word) != list.end();
}

// Whether a flag or variable of this name holds a secret. `--tokenizer`, `--max-tokens`, `--token-pool-size`,
// `--eos-token` and `--password-file` do not.
bool is_secret_name(std::string_view name) {
    if (name.size() > 256) return false;
    const auto words = words_of(name);
    if (words.empty()) return false;
    const std::string& last = words.back();
    const std::string before = words.size() > 1 ? words[words.size() - 2] : "";
    constexpr std::array<std::string_view, 18> key_kinds{
        "api",     "access",  "secret", "private",    "auth",      "account",
        "license", "wandb",   "openai", "encryption", "signing",   "storage",
        "master",  "service", "admin",  "app",        "anthropic", "subscription"};
    if (last == "key") return one_of(key_kinds, before);
    if (last == "token") {
        constexpr std::array<std::string_view, 24> of_text{
            "eos",   "bos",     "pad",   "unk",   "sep",   "cls",   "mask",  "stop",
            "image", "special", "end",   "start", "begin", "max",   "min",   "num",
            "per",   "next",    "first", "last",  "video", "audio", "think", "tool"};
        return !one_of(of_text, before);
    }
    constexpr std::array<std::string_view, 17> endings{
        "password", "passwd",        "passphrase",  "secret",    "apikey",    "token",
        "passcode", "credential",    "credentials", "secretkey", "accesskey", "privatekey",
        "pass",     "authorization", "cookie",      "passwords", "secrets"};
    if (one_of(endings, last)) return true;
    constexpr std::array<std::string_view, 6> suffixes{"password", "passwd", "passphrase",
                                                       "secret",   "apikey", "token"};
    return std::ranges::any_of(suffixes, [&](std::string_view suffix) {
        return last.ends_with(suffix) && last != "maxtoken" && last != "eostoken" && last != "padtoken";
    });
}

bool is_end_of_value(char c) {
    constexpr std::string_view ends = " \t\r\n\"'`;&|,<>(){}";
    return ends.find(c) != std::string_view::npos;
}

// One argument, from left to right: what was looked at is in `out_`, what was masked as ***.
class ArgumentMasker {
  public:
    explicit ArgumentMasker(std::string_view text) : text_(text) {}

    std::string result() {
        while (at_ < text_.size()) {
            if (take_url_password() || take_name() || take_known_shape()) continue;
            out_ += text_[at_++];
        }
        return std::move(out_);
    }

  private:
    bool at_word_start() const { return at_ == 0 || !is_name_char(text_[at_ - 1]); }

    // "://user:password@": the password.
    bool take_url_password() {
        if (!text_.substr(at_).starts_with("://")) return false;
        const auto from = at_ + 3;
        auto end = from;
        while (end < text_.size() && text_[end] != '/' && text_[end] != '?' && text_[end] != '#' &&
               text_[end] != ' ' && text_[end] != '"' && text_[end] != '\'')
            ++end;
        const auto authority = text_.substr(from, end - from);
        const auto host = authority.rfind('@');
        const auto colon = authority.find(':');
        if (host == std::string_view::npos || colon == std::string_view::npos || colon > host) return false;
        out_ += text_.substr(at_, 3 + colon + 1);
        out_ += mask;
        at_ = from + host;
        return true;
    }

    // A name, what stands between it and its value (=, : or, for a flag, blanks), and the value.
    bool take_name() {
        if (!at_word_start() || !is_name_char(text_[at_])) return false;
        auto end = at_;
        while (end < text_.size() && is_name_char(text_[end])) ++end;
        const auto name = text_.substr(at_, end - at_);
        if (has_known_shape(name)) return false;
        const bool bearer = is_scheme(name);
        if (!bearer && !is_secret_name(name)) {
            out_ += name;
            at_ = end;
            return true;
        }
        const bool whole = at_ == 0;
        out_ += name;
        at_ = end;
        take_value(name.starts_with('-') || bearer, whole);
        return true;
    }

    static bool is_scheme(std::string_view name) {
        return name.size() == 6 && words_of(name) == std::vector<std::string>{"bearer"};
    }

    void take_value(bool blank_separates, bool whole) {
        auto at = at_;
        if (at < text_.size() && (text_[at] == '"' || text_[at] == '\'')) ++at;  // {"token": "x"}
        const auto skip_blanks = [&] {
            while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
        };
        const auto blanks_from = at;
        skip_blanks();
        const bool sign = at < text_.size() && (text_[at] == '=' || text_[at] == ':');
        if (sign) {
            whole = whole && text_[at] == '=' && at == at_;
            ++at;
            skip_blanks();
        } else if (!blank_separates || at == blanks_from) {
            return;
        }
        if (at >= text_.size() || (!sign && text_.substr(at).starts_with("--"))) return;
        const bool header = sign && text_[at - 1] != '=';
        std::size_t end = whole ? text_.size() : end_of_value(at);
        if (header) {
            // "Authorization: Bearer x": the scheme stays, what follows goes.
            const auto scheme = text_.substr(at, end - at);
            if (end < text_.size() && text_[end] == ' ' && is_auth_scheme(scheme)) {
                at = end + 1;
                end = end_of_value(at);
            }
        }
        out_ += text_.substr(at_, at - at_);
        if (!whole && (text_[at] == '"' || text_[at] == '\'')) {
            out_ += text_[at];
            end = closing_quote(at);
        }
        out_ += mask;
        at_ = end;
    }

    // Of the one at `open`; in double quotes a backslash takes the next character in.
    std::size_t closing_quote(std::size_t open) const {
        auto at = open + 1;
        while (at < text_.size() && text_[at] != text_[open])
            at += text_[open] == '"' && text_[at] == '\\' ? 2 : 1;
        return std::min(at, text_.size());
    }

    static bool is_auth_scheme(std::string_view word) {
        constexpr std::array<std::string_view, 6> schemes{"bearer", "basic",  "token",
                                                          "digest", "apikey", "negotiate"};
        const auto words = words_of(word);
        return words.size() == 1 && one_of(schemes, words.front());
    }

    std::size_t end_of_value(std::size_t from) const {
        auto end = from;
        while (end < text_.size() && !is_end_of_value(text_[end])) ++end;
        return end;
    }

    // Tokens that show by their first letters what they are, whatever stands before them.
    static bool has_known_shape(std::string_view word) {
        constexpr std::array<std::string_view, 16> beginnings{
            "sk-",   "hf_",    "ghp_",   "gho_",  "ghs_", "ghu_", "ghr_", "github_pat_", "xoxb-",
            "xoxp-", "glpat-", "nvapi-", "pypi-", "npm_", "AIza", "eyJ"};  // eyJ: base64 of {" begins each
                                                                           // part of a JWT
        return word.size() >= 20 &&
               std::ranges::any_of(beginnings, [&](std::string_view b) { return word.starts_with(b); });
    }

    bool take_known_shape() {
        if (!at_word_start() || !is_name_char(text_[at_])) return false;
        auto end = at_;
        while (end < text_.size() && is_name_char(text_[end])) ++end;
        if (!has_known_shape(text_.substr(at_, end - at_))) return false;
        out_ += mask;
        at_ = end;
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string out_;
};

// A flag whose value is the next argument.
bool is_secret_flag(std::string_view argument) {
    return argument.starts_with('-') && std::ranges::all_of(argument, is_name_char) &&
           is_secret_name(argument);
}

}  // namespace

std::string masked_command(const std::vector<std::string>& argv) {
    std::string masked;
    bool value_of_secret = false;
    for (std::size_t i = 0; i < argv.size(); ++i) {
        const auto& argument = argv[i];
        if (i > 0) masked += ' ';
        // After a flag without a value (--use-auth-token) comes the next flag.
        const bool hide = value_of_secret && !argument.starts_with("--");
        if (hide)
            masked += mask;
        else
            masked += ArgumentMasker(argument).result();
        value_of_secret = !hide && is_secret_flag(argument);
    }
    return printable(masked);
}

}  // namespace cleanslate::agentless
