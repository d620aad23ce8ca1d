// Identities::unlock: which keys are to be decrypted, and asking for their passphrases.
#include <fmt/format.h>

#include <algorithm>

#include "agentless/run_errors.hpp"
#include "agentless/ssh/identities.hpp"
#include "agentless/ssh/openssl_handles.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

using namespace std::chrono_literals;

constexpr int max_asks = 3;  // as ssh
constexpr auto agent_patience = 2s;

std::string question(const KeyFile& key, bool again) {
    std::string text = fmt::format("{}passphrase for {}", again ? "wrong; " : "", printable(key.file));
    if (!key.comment.empty()) text += fmt::format(" ({})", printable(ellipsize(key.comment, 60)));
    return text;
}

Error stays_locked(const KeyFile& key, std::string_view why) {
    return {
        "identity", "auth", fmt::format("{}: this key is encrypted, {}", printable(key.file), why),
        fmt::format("load it into the agent (ssh-add {}), or run this on a terminal and give its passphrase",
                    printable(key.file))};
}

}  // namespace

Status Identities::unlock(const std::vector<HostSettings>& hosts, const AskSecret& ask) {
    const std::lock_guard lock(mutex_);
    for (const HostSettings& settings : hosts) {
        if (std::ranges::find(settings.methods, AuthMethod::publickey) == settings.methods.end()) continue;
        for (const std::string& file : settings.identity_files) {
            if (!needs_passphrase(file, settings)) continue;
            Entry& entry = this->entry(file);
            ask_for(entry, ask);
            if (!entry.refusal) continue;
            if (std::ranges::find(flagged_, file) != flagged_.end()) return std::unexpected(*entry.refusal);
            if (!settings.identities_named) note(*entry.refusal);
        }
    }
    agents_.clear();
    return {};
}

bool Identities::needs_passphrase(const std::string& file, const HostSettings& settings) {
    if (is_passed_over(file, settings)) return false;
    const Entry& entry = this->entry(file);
    if (entry.asked || !entry.key || !entry.key->locked) return false;
    if (!entry.key->blob.empty() && agent_of(settings).holds(entry.key->blob)) return false;
    return !settings.identities_default || !has_another(settings);
}

// Whether the host can be offered a key without asking anybody.
bool Identities::has_another(const HostSettings& settings) {
    const AgentList& agent = agent_of(settings);
    if (!settings.identities_only && !agent.keys.empty()) return true;
    return std::ranges::any_of(settings.identity_files, [&](const std::string& file) {
        if (is_passed_over(file, settings)) return false;
        const Entry& entry = this->entry(file);
        return entry.key && (entry.key->key || agent.holds(entry.key->blob));
    });
}

// Each agent is asked once.
const AgentList& Identities::agent_of(const HostSettings& settings) {
    const auto known = agents_.find(settings.agent_socket);
    if (known != agents_.end()) return known->second;
    AgentList list;
    if (!settings.agent_socket.empty()) {
        list = list_agent_now(settings.agent_socket, agent_patience);
        agent_lists_->note(settings.agent_socket, list, Clock::now());
    }
    return agents_.emplace(settings.agent_socket, std::move(list)).first->second;
}

void Identities::ask_for(Entry& entry, const AskSecret& ask) {
    KeyFile& key = *entry.key;
    entry.asked = true;
    if (key.obstacle) {
        entry.refusal = in_phase(with_context(*key.obstacle, printable(key.file)), "auth");
        return;
    }
    if (!ask) {
        entry.refusal = stays_locked(key, "no agent holds it, and nobody can be asked for its passphrase");
        return;
    }
    for (int i = 0; i < max_asks; ++i) {
        auto answer = ask(question(key, i > 0));
        if (!answer || answer->empty()) {
            entry.refusal = stays_locked(key, "and no passphrase was given");
            return;
        }
        const SecretText passphrase(std::move(*answer));
        const Status unlocked = unlock_key_file(key, passphrase.view());
        if (unlocked) return;
        if (unlocked.error().kind != "wrong_passphrase") {
            entry.refusal = in_phase(unlocked.error(), "auth");
            return;
        }
    }
    entry.refusal = stays_locked(key, "and the passphrase was wrong three times");
}

}  // namespace cleanslate::agentless::ssh
