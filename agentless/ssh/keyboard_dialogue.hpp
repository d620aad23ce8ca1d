#pragma once
// What a host asks by keyboard-interactive (RFC 4256), and which of it a password answers. Knows no libssh2.

#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::agentless::ssh {

struct Prompt {
    std::string text;
    bool echo = false;  // what is typed would be shown
};

// The dialogue of one login.
class KeyboardDialogue {
  public:
    enum class Reply {
        nothing,   // no prompts: the round is answered without any text
        password,  // the one prompt asks for the password, which was not given before
        again,     // it asks for the password a second time: it was refused
        unknown,   // it asks for something else, or for more
    };
    // One round. After `again` or `unknown` the dialogue is over: nothing may be sent.
    Reply asked(std::string_view name, std::string_view instruction, const std::vector<Prompt>& prompts);

    bool was_given() const { return was_given_; }
    // What was asked and not answered, for messages: printable, bounded, quoted. Empty: nothing.
    const std::string& unanswered() const { return unanswered_; }
    // Everything that the host said beside its prompts, and the prompts that were not answered.
    const std::string& said() const { return said_; }

  private:
    void hear(std::string_view text);

    bool was_given_ = false;
    std::string unanswered_, said_;
};

// Whether this asks for the password of the account and for nothing else: no one-time password, no token, no
// new or old password where one is to be changed.
bool asks_for_password(const Prompt& prompt);

}  // namespace cleanslate::agentless::ssh
