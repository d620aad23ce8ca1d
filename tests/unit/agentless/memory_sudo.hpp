#pragma once
// A sudo of a host in memory, which is asked as become.hpp asks one.

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "agentless/memory_transport.hpp"

namespace cleanslate::agentless {

// What a run's command has between two words.
inline std::string between(const std::string& text, const std::string& left, const std::string& right) {
    const auto begin = text.find(left) + left.size();
    return text.substr(begin, text.find(right, begin) - begin);
}

// A sudo in memory that knows `right` as the password; empty: NOPASSWD. It counts the passwords it read.
struct MemorySudo {
    std::string right;
    std::atomic<int> wrong = 0, asked = 0;

    MemoryReply reply(const Script& script) {
        MemoryReply reply;
        const std::string marker =
            between(script.command, "printf ", ";") + between(script.command, "; echo ", ";");
        const bool may_ask = script.command.find("sudo -S") != std::string::npos;
        const std::string prompt = [&] {
            std::string text = between(script.command, "-p \"", "\"");
            if (const auto at = text.find("%%"); at != std::string::npos) text.erase(at, 1);
            return text;
        }();
        const auto state = std::make_shared<int>(0);
        reply.talk = [=, this](std::string_view input, bool at_end) -> MemoryReply::Talk {
            if (right.empty() && *state == 0) {
                *state = 2;
                return {"\n" + marker + "\n", "", false};
            }
            if (*state == 2) return {"", "", at_end};
            if (!may_ask) return {"", "sudo: a password is required\n", true};
            if (*state == 0) {
                *state = 1;
                ++asked;
                return {"", prompt, false};
            }
            if (at_end) return {"", "sudo: no password was provided\n", true};
            if (input == right + "\n") {
                *state = 2;
                return {"\n" + marker + "\n", "", false};
            }
            ++wrong;
            return {"", "Sorry, try again.\n" + prompt, false};
        };
        reply.out = "ran\n";
        return reply;
    }
};

}  // namespace cleanslate::agentless
