// Records of a survey that are about processes.

#include "agentless/proc_text.hpp"
#include "agentless/record_values.hpp"
#include "agentless/survey_reader.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::string_view deleted_suffix = " (deleted)";

}  // namespace

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
    process->open_caps = std::move(files->caps);
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

bool SurveyReader::user(const Record& record) {
    const auto uid = as_uid(record.values[0]);
    if (uid) users_.emplace(*uid, text_of(record.values[1]));
    return uid.has_value();
}

bool SurveyReader::nohup(const Record& record) {
    auto* process = process_of(record);
    if (process == nullptr || process->ignores_hangup) return false;
    return process->ignores_hangup = true;
}

// What the earlier survey's reader has open is not read again: neither maps nor command line of that process.
bool SurveyReader::wedged(const Record& record) {
    auto* process = process_of(record);
    const auto file = record.values[1];
    const auto reader = as_pid(record.values[2]);
    if (process == nullptr || process->wedged || !is_field_name(file) || !reader) return false;
    if (evidence_.stuck_reads.size() >= most_stuck_reads) return false;
    process->wedged = true;
    evidence_.stuck_reads.push_back({process->key.pid, std::string(file), *reader});
    return true;
}

}  // namespace cleanslate::agentless
