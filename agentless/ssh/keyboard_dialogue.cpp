#include "agentless/ssh/keyboard_dialogue.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t most_heard = 4096;

// The word in the languages that PAM's own messages are commonly shown in.
constexpr std::array<std::string_view, 13> password_words = {
    "password", "passwort", "kennwort", "mot de passe", "contraseña", "senha",     "wachtwoord",
    "lösenord", "пароль",   "Пароль",   "密码",         "密碼",       "パスワード"};

// Whole words of prompts for something else.
constexpr std::array<std::string_view, 26> other_words = {
    "one",    "onetime",  "otp",    "totp", "hotp",    "oath",      "token",    "tokencode",   "code",
    "pin",    "passcode", "factor", "duo",  "yubikey", "second",    "new",      "current",     "old",
    "retype", "again",    "change", "next", "expired", "challenge", "response", "verification"};

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

bool is_of_a_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80 ||
           c == '_' || c == '@' || c == '.';
}

bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_of_a_word(text[at - 1])) && (end == text.size() || !is_of_a_word(text[end])))
            return true;
    }
    return false;
}

}  // namespace

bool asks_for_password(const Prompt& prompt) {
    if (prompt.echo || prompt.text.size() > 400) return false;
    const std::string text = lower(prompt.text);
    const auto is_there = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    return std::ranges::any_of(password_words, is_there) &&
           std::ranges::none_of(other_words, [&](std::string_view word) { return has_word(text, word); });
}

void KeyboardDialogue::hear(std::string_view text) {
    if (trim(text).empty() || said_.size() > most_heard) return;
    said_ += (said_.empty() ? "" : "\n") + std::string(text.substr(0, most_heard));
}

KeyboardDialogue::Reply KeyboardDialogue::asked(std::string_view name, std::string_view instruction,
                                                const std::vector<Prompt>& prompts) {
    hear(name);
    hear(instruction);
    if (prompts.empty()) return Reply::nothing;
    if (prompts.size() == 1 && asks_for_password(prompts.front())) {
        if (was_given_) return Reply::again;
        was_given_ = true;
        return Reply::password;
    }
    for (const Prompt& prompt : prompts) {
        hear(prompt.text);
        unanswered_ += (unanswered_.empty() ? "\"" : " / ") + printable(trim(prompt.text));
        if (unanswered_.size() > 200) break;
    }
    unanswered_ = std::string(ellipsize(unanswered_, 160)) + "\"";
    return Reply::unknown;
}

}  // namespace cleanslate::agentless::ssh
