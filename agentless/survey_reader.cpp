#include "agentless/survey_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "agentless/nvidia_smi.hpp"
#include "agentless/proc_text.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::string_view deleted_suffix = " (deleted)";

std::optional<Pid> as_pid(std::string_view text) {
    const auto number = parse_number(text);
    if (!number || *number == 0 || *number > static_cast<std::uint64_t>(std::numeric_limits<Pid>::max()))
        return std::nullopt;
    return static_cast<Pid>(*number);
}

std::optional<std::uint32_t> as_uid(std::string_view text) {
    const auto number = parse_number(text);
    if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

// Values were checked to be escaped text when the frame was read.
std::string text_of(std::string_view value) { return unescape(value).value_or(""); }

}  // namespace

const std::vector<SurveyReader::Rule>& SurveyReader::rules() {
    static const std::vector<Rule> all{
        {"meta", 1, 2, &SurveyReader::meta},
        {"nodes", 0, 0, &SurveyReader::nodes},
        {"node", 1, 1, &SurveyReader::node},
        {"drivers", 0, 0, &SurveyReader::drivers},
        {"stuck", 1, 1, &SurveyReader::stuck},
        {"tool", 2, 2, &SurveyReader::tool},
        {"gpu", 1, 1, &SurveyReader::gpu},
        {"app", 1, 1, &SurveyReader::app},
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

bool SurveyReader::node(const Record& record) {
    const auto minor = parse_number(record.values[0]);
    if (!minor || *minor > 100'000 || !evidence_.device_minors) return false;
    evidence_.device_minors->push_back(static_cast<int>(*minor));
    return true;
}

bool SurveyReader::stuck(const Record& record) {
    const auto pid = as_pid(record.values[0]);
    if (pid) evidence_.stuck.push_back(*pid);
    return pid.has_value();
}

bool SurveyReader::tool(const Record& record) {
    if (record.values[0] != "gpu" && record.values[0] != "app") return false;
    auto& result = record.values[0] == "gpu" ? evidence_.gpu_query : evidence_.app_query;
    if (result.exit_status || result.missing || result.timed_out) return false;
    const auto how = record.values[1];
    if (how == "missing") return result.missing = true;
    if (how == "timeout") return result.timed_out = true;
    const auto status = parse_number(how);
    if (!status || *status > 1000) return false;
    result.exit_status = static_cast<int>(*status);
    return true;
}

bool SurveyReader::add_line(std::string& text, const Record& record) {
    text += text_of(record.values[0]);
    text += '\n';
    return true;
}

// The process that a record is about; null where no `proc` record came before it.
Process* SurveyReader::process_of(const Record& record) {
    const auto pid = as_pid(record.values[0]);
    const auto found = pid ? index_.find(*pid) : index_.end();
    return found == index_.end() ? nullptr : &evidence_.processes[found->second];
}

bool SurveyReader::proc(const Record& record) {
    Process process;
    const auto pid = as_pid(record.values[0]);
    if (!pid || !read_stat(text_of(record.values[2]), process) || process.key.pid != *pid) return false;
    if (record.values[1] != "-") {
        process.uid = as_uid(record.values[1]);
        if (!process.uid) return false;
    }
    if (!index_.emplace(*pid, evidence_.processes.size()).second) return false;
    evidence_.processes.push_back(std::move(process));
    return true;
}

bool SurveyReader::cgroup(const Record& record) {
    auto* process = process_of(record);
    if (process != nullptr) process->cgroup = best_cgroup(text_of(record.values[1]));
    return process != nullptr;
}

bool SurveyReader::exe(const Record& record) {
    auto* process = process_of(record);
    if (process == nullptr || process->exe) return false;
    auto path = text_of(record.values[1]);
    process->exe_deleted = path.ends_with(deleted_suffix);
    if (process->exe_deleted) path.resize(path.size() - deleted_suffix.size());
    process->exe = std::move(path);
    return true;
}

bool SurveyReader::mount(const Record& record) {
    const auto* process = process_of(record);
    return process != nullptr && mounts_.emplace(process->key.pid, text_of(record.values[1])).second;
}

bool SurveyReader::open(const Record& record) {
    auto* process = process_of(record);
    auto files = read_device_files(record.values[1]);
    if (process == nullptr || !files) return false;
    process->open_minors = std::move(files->minors);
    process->opens_control = files->control;
    return true;
}

bool SurveyReader::mapped(const Record& record) {
    auto* process = process_of(record);
    auto files = read_device_files(record.values[1]);
    if (process == nullptr || !files) return false;
    process->mapped_minors = std::move(files->minors);
    process->maps_control = files->control;
    return true;
}

bool SurveyReader::unreadable(const Record& record) {
    const auto* process = process_of(record);
    if (process != nullptr) unreadable_.insert(process->key.pid);
    return process != nullptr;
}

bool SurveyReader::blind(const Record& record) {
    const auto count = parse_number(record.values[0]);
    evidence_.unreadable = count.value_or(0);
    return count.has_value();
}

bool SurveyReader::argv(const Record& record) {
    auto* process = process_of(record);
    if (process == nullptr || process->argv) return false;
    if (record.values.size() == 3 && record.values[2] != "cut") return false;
    process->argv = split_arguments(text_of(record.values[1]));
    if (record.values.size() == 3 && !process->argv->empty()) process->argv->back() += "...";
    return true;
}

// Who may write it, from the mode as `ls -l` prints it.
bool SurveyReader::exefile(const Record& record) {
    auto* process = process_of(record);
    const auto mode = record.values[2];
    if (process == nullptr || mode.size() < 10) return false;
    process->exe_owner = as_uid(record.values[1]);
    process->exe_writable_by_others = mode[5] == 'w' || mode[8] == 'w';
    return process->exe_owner.has_value();
}

bool SurveyReader::driver(const Record& record) {
    driver_ = text_of(record.values[0]);
    if (driver_ == "version") return true;
    if (!evidence_.driver_gpus) return false;
    evidence_.driver_gpus->push_back({normal_bus_id(driver_), {}, {}});
    return true;
}

bool SurveyReader::info(const Record& record) {
    const auto line = text_of(record.values[0]);
    const auto colon = line.find(':');
    if (driver_.empty() || colon == std::string::npos) return false;
    const auto value = trim(std::string_view(line).substr(colon + 1));
    if (driver_ == "version") {
        if (evidence_.driver_version.empty()) evidence_.driver_version = driver_version_in(line);
        return true;
    }
    auto& gpu = evidence_.driver_gpus->back();
    if (line.starts_with("GPU UUID")) gpu.uuid = value;
    if (line.starts_with("Bus Location") && gpu.bus_id.empty()) gpu.bus_id = normal_bus_id(value);
    if (line.starts_with("Device Minor"))
        if (const auto minor = parse_number(value); minor && *minor < 1'000'000)
            gpu.minor = static_cast<int>(*minor);
    return true;
}

bool SurveyReader::user(const Record& record) {
    const auto uid = as_uid(record.values[0]);
    if (uid) users_.emplace(*uid, text_of(record.values[1]));
    return uid.has_value();
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
    if (!pid || !cut_) return false;
    evidence_.cuts.push_back(fmt::format("{} of {}", text_of(record.values[1]), *pid));
    return true;
}

}  // namespace cleanslate::agentless
