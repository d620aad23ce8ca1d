#include "agentless/survey_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agentless/record_values.hpp"

namespace cleanslate::agentless {
const std::vector<SurveyReader::Rule>& SurveyReader::rules() {
    static const std::vector<Rule> all{
        {"meta", 1, 2, &SurveyReader::meta},
        {"nodes", 0, 0, &SurveyReader::nodes},
        {"node", 1, 1, &SurveyReader::node},
        {"drivers", 0, 0, &SurveyReader::drivers},
        {"pci", 0, 0, &SurveyReader::pci},
        {"pcigpu", 2, 2, &SurveyReader::pcigpu},
        {"nvswitches", 1, 1, &SurveyReader::nvswitches},
        {"session", 4, 4, &SurveyReader::session},
        {"sessions", 0, 0, &SurveyReader::sessions},
        {"cap", 4, 4, &SurveyReader::cap},
        {"stuck", 1, 1, &SurveyReader::stuck},
        {"tool", 2, 2, &SurveyReader::tool},
        {"took", 2, 2, &SurveyReader::took},
        {"fields", 1, 1, &SurveyReader::fields},
        {"unknown-field", 1, 1, &SurveyReader::unknown_field},
        {"gpu", 1, 1, &SurveyReader::gpu},
        {"app", 1, 1, &SurveyReader::app},
        {"opt", 1, 1, &SurveyReader::opt},
        {"list", 1, 1, &SurveyReader::list},
        {"proc", 3, 3, &SurveyReader::proc},
        {"cgroup", 2, 2, &SurveyReader::cgroup},
        {"exe", 2, 2, &SurveyReader::exe},
        {"mount", 2, 2, &SurveyReader::mount},
        {"open", 2, 2, &SurveyReader::open},
        {"mapped", 2, 2, &SurveyReader::mapped},
        {"unreadable", 1, 1, &SurveyReader::unreadable},
        {"blind", 1, 1, &SurveyReader::blind},
        {"argv", 2, 3, &SurveyReader::argv},
        {"exefile", 3, 3, &SurveyReader::exefile},
        {"driver", 1, 1, &SurveyReader::driver},
        {"info", 1, 1, &SurveyReader::info},
        {"user", 2, 2, &SurveyReader::user},
        {"done", 1, 1, &SurveyReader::done},
        {"limit", 1, 1, &SurveyReader::limit},
        {"cut", 0, 0, &SurveyReader::cut},
        {"reading", 2, 2, &SurveyReader::reading},
        {"wedged", 3, 3, &SurveyReader::wedged},
        {"nohup", 1, 1, &SurveyReader::nohup},
        {"shmfile", 8, 8, &SurveyReader::shmfile},
        {"shm", 2, 2, &SurveyReader::shm},
    };
    return all;
}

Status SurveyReader::take(const Record& record) {
    const auto rule = std::ranges::find(rules(), record.word, &Rule::word);
    const auto count = record.values.size();
    if (rule != rules().end() && count >= rule->least && count <= rule->most && (this->*rule->read)(record))
        return {};
    std::string shown(record.word);
    for (const auto value : record.values) shown += " " + std::string(value);
    return fail("protocol", "a record is not as the protocol has it: " + ellipsize(shown, 120));
}

bool SurveyReader::meta(const Record& record) {
    const auto key = record.values[0];
    const auto value = record.values.size() > 1 ? record.values[1] : std::string_view{};
    if (key == "foreign-proc") return foreign_proc_ = true;
    if (key == "hidden") return evidence_.proc_hides_others = true;
    if (value.empty()) return false;
    if (key == "boot") {
        evidence_.boot_id = text_of(value);
    } else if (key == "uid") {
        const auto uid = as_uid(value);
        if (!uid) return false;
        evidence_.uid = *uid;
        evidence_.root = *uid == 0;
    } else if (key == "ticks") {
        evidence_.clock_ticks = parse_number(value);
        return evidence_.clock_ticks.has_value() && *evidence_.clock_ticks > 0;
    } else if (key == "uptime") {
        uptime_ = parse_number(value.substr(0, value.find('.')));
        return uptime_.has_value();
    } else if (key == "shell") {
        shell_ = as_pid(value);
        return shell_.has_value();
    } else if (key == "missing") {
        evidence_.missing_tools.push_back(text_of(value));
    } else {
        return false;
    }
    return true;
}

bool SurveyReader::stuck(const Record& record) {
    const auto pid = as_pid(record.values[0]);
    auto& stuck = evidence_.stuck;
    // After a cut it may be said again.
    if (pid && std::ranges::find(stuck, *pid) == stuck.end()) stuck.push_back(*pid);
    return pid.has_value();
}

ToolResult* SurveyReader::tool_of(std::string_view name) {
    if (name == "gpu") return &evidence_.gpu_query;
    if (name == "app") return &evidence_.app_query;
    if (name == "opt") return &evidence_.optional_query;
    return name == "list" ? &evidence_.list_query : nullptr;
}

bool SurveyReader::tool(const Record& record) {
    auto* result = tool_of(record.values[0]);
    if (result == nullptr) return false;
    if (result->exit_status || result->missing || result->timed_out || result->skipped) return false;
    const bool optional = result == &evidence_.optional_query || result == &evidence_.list_query;
    const auto how = record.values[1];
    if (how == "missing") return result->missing = true;
    if (how == "timeout") return result->timed_out = true;
    if (how == "skipped" && optional) return result->skipped = true;
    result->exit_status = as_number(how, 1000);
    return result->exit_status.has_value();
}

// In hundredths of a second.
bool SurveyReader::took(const Record& record) {
    auto* result = tool_of(record.values[0]);
    const auto hundredths = as_number(record.values[1], 10'000'000);
    if (result == nullptr || !hundredths || result->took) return false;
    result->took = Milliseconds(*hundredths * 10);
    return true;
}

bool SurveyReader::fields(const Record& record) {
    if (fields_) return false;
    fields_.emplace();
    if (record.values[0] == "-") return true;
    for (const auto name : split(record.values[0], ',')) {
        if (!is_field_name(name) || fields_->size() >= most_fields) return false;
        fields_->emplace_back(name);
    }
    return true;
}

bool SurveyReader::unknown_field(const Record& record) {
    auto& unknown = evidence_.unknown_fields;
    const auto name = record.values[0];
    if (!is_field_name(name) || unknown.size() >= most_fields) return false;
    if (std::ranges::find(unknown, name) != unknown.end()) return false;
    unknown.emplace_back(name);
    return true;
}

bool SurveyReader::add_line(Lines& lines, const Record& record) {
    lines.text += text_of(record.values[0]);
    lines.text += '\n';
    ++lines.lines;
    return true;
}

bool SurveyReader::done(const Record& record) {
    const auto known = std::ranges::find(survey_stages, record.values[0]);
    return known != std::end(survey_stages) && done_.insert(*known).second;
}

bool SurveyReader::limit(const Record& record) {
    evidence_.cuts.push_back(fmt::format("{}: too many to print", text_of(record.values[0])));
    return true;
}

bool SurveyReader::reading(const Record& record) {
    const auto pid = as_pid(record.values[0]);
    const auto file = record.values[1];
    if (!pid || !cut_ || !is_field_name(file) || evidence_.stuck_reads.size() >= most_stuck_reads)
        return false;
    evidence_.cuts.push_back(fmt::format("{} of {}", file, *pid));
    evidence_.stuck_reads.push_back({*pid, std::string(file), 0});
    return true;
}

}  // namespace cleanslate::agentless
