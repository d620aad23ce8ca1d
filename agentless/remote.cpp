#include "agentless/remote.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <random>

#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_optional.hpp"
#include "agentless/records.hpp"
#include "agentless/remote_text.hpp"
#include "agentless/survey_reader.hpp"
#include "base/text.hpp"
#include "remote_scripts.hpp"

namespace cleanslate::agentless {
namespace {

std::int64_t whole_seconds(Milliseconds duration) {
    return std::clamp<std::int64_t>((duration.count() + 999) / 1000, 1, 86'400);
}

// Which optional fields to ask for. Those of an earlier survey came from the host: none but the project's own
// pass.
std::string optional_questions(const SurveyRequest& request) {
    std::vector<std::string_view> columns;
    std::vector<std::string> pairs;
    for (const auto& field : optional_fields()) {
        if (!request.optional_fields) columns.push_back(field.name);
        if (!field.older.empty()) pairs.push_back(fmt::format("{}:{}", field.name, field.older));
    }
    if (request.optional_fields)
        for (const auto& name : *request.optional_fields)
            if (is_optional_column(name) && std::ranges::find(columns, name) == columns.end())
                columns.push_back(name);
    return fmt::format("optional={}\noptional_columns={}\nolder_columns={}\nlearn={}\n",
                       request.optional_evidence ? 1 : 0, fmt::join(columns, ","), fmt::join(pairs, ","),
                       request.optional_fields ? 0 : 1);
}

// Shell patterns of names, separated by blanks; the script puts them into commands as they are.
std::string shm_questions(const std::vector<std::string>& names) {
    constexpr std::size_t most = 64;
    std::vector<std::string_view> fit;
    for (const auto& name : names)
        if (!name.empty() && name.size() <= 255 && is_made_of(name, "._*?-") && fit.size() < most)
            fit.push_back(name);
    return fmt::format("shm_names='{}'\n", fmt::join(fit, " "));
}

std::optional<SignalReply::Result> read_result(std::string_view word) {
    using enum SignalReply::Result;
    static const std::map<std::string_view, SignalReply::Result> words{
        {"ended", ended},
        {"alive", alive},
        {"zombie", zombie},
        {"changed", changed},
        {"refused", not_permitted},  // pid 1 and the session's own ancestors: the script's last safety net
        {"not-permitted", not_permitted}};
    const auto found = words.find(word);
    if (found == words.end()) return std::nullopt;
    return found->second;
}

// reply PID START RESULT MILLISECONDS STATE PARENT, the last three - where there is nothing to say.
std::optional<SignalReply> read_reply(const Record& record) {
    const auto& values = record.values;
    if (values.size() != 6) return std::nullopt;
    const auto key = read_key(values[0], values[1]);
    const auto result = read_result(values[2]);
    if (!key || !result || values[4].size() != 1) return std::nullopt;
    SignalReply reply;
    reply.key = *key;
    reply.result = *result;
    if (values[3] != "-") {
        const auto took = parse_number(values[3]);
        if (!took || *took > 1'000'000'000) return std::nullopt;
        reply.took = Milliseconds(static_cast<std::int64_t>(*took));
    }
    if (values[4] != "-") reply.state = values[4][0];
    if (reply.result == SignalReply::Result::zombie) {
        const auto parent = read_key(values[5], "0");
        if (parent) reply.parent = parent->pid;
    }
    return reply;
}

// Replies in the order of the signals; a target whose signal went out is among them at once.
class SignalReader {
  public:
    bool take(const Record& record) {
        if (record.word == "sent") return sent(record);
        if (record.word != "reply") return false;
        auto reply = read_reply(record);
        if (!reply || !replied_.insert({reply->key, true}).second) return false;
        for (auto& there : replies_) {
            if (there.key != reply->key) continue;
            reply->sent = true;
            there = *reply;
            return true;
        }
        replies_.push_back(*reply);
        return true;
    }
    std::vector<SignalReply> replies() { return std::move(replies_); }

  private:
    bool sent(const Record& record) {
        if (record.values.size() != 2) return false;
        const auto key = read_key(record.values[0], record.values[1]);
        if (!key || replied_.contains(*key)) return false;
        if (std::ranges::find(replies_, *key, &SignalReply::key) != replies_.end()) return false;
        SignalReply reply;
        reply.key = *key;
        reply.sent = true;
        replies_.push_back(reply);
        return true;
    }

    std::vector<SignalReply> replies_;
    std::map<ProcessKey, bool> replied_;
};

}  // namespace

std::string fresh_nonce() {
    std::random_device random;
    std::string nonce;
    for (int i = 0; i < 4; ++i) nonce += fmt::format("{:08x}", random() & 0xffffffffU);
    return nonce;
}

namespace {

// What is the same for every host, in one piece.
const std::string& survey_body() {
    static const std::string body = [] {
        std::string text;
        for (const auto part : {scripts::process_sh, scripts::queries_sh, scripts::learn_sh,
                                scripts::reading_sh, scripts::links_sh, scripts::maps_sh, scripts::lookups_sh,
                                scripts::leftovers_sh, scripts::join_sh, scripts::survey_sh})
            text += part;
        return text;
    }();
    return body;
}

}  // namespace

std::string survey_script(const SurveyRequest& request, std::string_view nonce) {
    std::string script;
    script.reserve(survey_body().size() + 2048);  // each host under way has its own
    script += fmt::format("nonce={}\nbudget={}\nslack={}\nall_processes={}\ngpu_columns={}\napp_columns={}\n",
                          plain(nonce), whole_seconds(request.budget), whole_seconds(request.slack),
                          request.all_processes ? 1 : 0, core_columns, app_columns);
    script += optional_questions(request);
    script += shm_questions(request.shm_names);
    script += survey_body();
    return script;
}

Result<Evidence> read_survey(std::string_view out, std::string_view nonce) {
    const auto frame = read_frame(out, nonce);
    if (!frame) return std::unexpected(frame.error());
    Evidence evidence;
    if (!frame->complete) {
        evidence.incomplete_reason = frame->problem;
        return evidence;
    }
    SurveyReader reader;
    for (const auto& record : frame->records) {
        if (const auto taken = reader.take(record); !taken) {
            evidence.incomplete_reason = taken.error().message;
            return evidence;
        }
    }
    evidence = reader.finish();
    evidence.complete = true;
    return evidence;
}

std::string signal_script(const SignalRequest& request, std::string_view nonce) {
    std::string targets;
    for (const auto& key : request.targets)
        if (key.pid > 0) targets += fmt::format("{}{}:{}", targets.empty() ? "" : " ", key.pid, key.start);
    const auto wait = std::clamp<std::int64_t>(request.wait.count(), 0, 86'400'000);
    return fmt::format("nonce={}\nsignal={}\nwait_ms={}\nboot={}\ntargets='{}'\n", plain(nonce),
                       plain(request.signal), wait, plain(request.boot_id), targets)
        .append(scripts::process_sh)
        .append(scripts::signal_sh);
}

Result<SignalReport> read_signal(std::string_view out, std::string_view nonce) {
    const auto frame = read_frame(out, nonce);
    if (!frame) return std::unexpected(frame.error());
    SignalReport report;
    report.complete = frame->complete;
    SignalReader reader;
    for (const auto& record : frame->records) {
        if (reader.take(record)) continue;
        report.complete = false;
        break;
    }
    report.replies = reader.replies();
    return report;
}

}  // namespace cleanslate::agentless
