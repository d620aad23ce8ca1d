#include "agentless/gated_input.hpp"
#include "base/secret.hpp"

#include <algorithm>
#include <utility>

namespace cleanslate::agentless {

GatedInput::GatedInput(const Script& script, std::function<void()> wake)
    : script_(script), wake_(std::move(wake)), input_(script.input), is_open_(!script.gate) {
    if (script.gate) answer_line_ = script.gate->answer + "\n";
}

GatedInput::~GatedInput() { wipe(answer_line_); }

void GatedInput::look(RunOutput& output) {
    if (is_open_) return;
    output.gate_passed = false;
    if (!dropped_) look_for_prompt(output);
    if (waits_) ask(output);
    look_for_marker(output);
}

void GatedInput::look_for_prompt(RunOutput& output) {
    const std::string& prompt = script_.gate->prompt;
    if (prompt.empty()) return;
    for (;;) {
        const auto at = output.err.find(prompt, err_seen_);
        if (at == std::string::npos) {
            // Its beginning may be there.
            if (output.err.size() >= prompt.size())
                err_seen_ = std::max(err_seen_, output.err.size() - prompt.size() + 1);
            return;
        }
        output.err.erase(at, prompt.size());
        err_seen_ = at;
        output.gate_asked = true;
        if (asked_ || script_.gate->answer.empty()) {
            output.gate_refused = true;
            return drop();
        }
        asked_ = waits_ = true;
    }
}

void GatedInput::ask(RunOutput& output) {
    if (dropped_) return;
    using Leave = Script::Warden::Leave;
    const auto& warden = script_.gate->warden;
    const Leave leave = warden ? warden->asked(wake_) : Leave::give;
    if (leave == Leave::wait) return;
    waits_ = false;
    if (leave == Leave::withhold) {
        output.gate_refused = true;
        return drop();
    }
    answer_ = answer_line_;
    given_ = true;
}

void GatedInput::look_for_marker(RunOutput& output) {
    const std::string& marker = script_.gate->marker;
    std::size_t line = 0;
    for (;;) {
        const auto end = output.out.find('\n', out_seen_);
        if (end == std::string::npos) {
            out_seen_ = output.out.size();
            return;
        }
        line = std::exchange(out_line_, end + 1);
        out_seen_ = end + 1;
        if (std::string_view(output.out).substr(line, end - line) != marker) continue;
        output.out.erase(line, end + 1 - line);
        out_seen_ = out_line_ = line;
        break;
    }
    // Standard input was closed before: nothing can be sent, whatever the host prints now.
    if (dropped_) return;
    is_open_ = true;
    output.gate_passed = true;
    output.before_gate = line;
    // Who asked goes on without the answer: the next reader would take it for a command.
    if (given_ && answer_.size() == answer_line_.size()) answer_ = {};
    if (script_.gate->warden) script_.gate->warden->passed();
}

void GatedInput::sent(std::size_t count) {
    auto& from = answer_.empty() ? input_ : answer_;
    from.remove_prefix(std::min(count, from.size()));
}

void GatedInput::drop() {
    dropped_ = true;
    answer_ = input_ = {};
}

}  // namespace cleanslate::agentless
