// What can only be said when all records are there: rows, names, ages, and whether everything was seen.

#include <algorithm>

#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_list.hpp"
#include "agentless/nvidia_smi_optional.hpp"
#include "agentless/survey_reader.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

void SurveyReader::finish_queries() {
    TableOptions options;
    for (const auto column : split(core_columns, ',')) options.columns.emplace_back(column);
    auto table = read_gpu_table(gpu_.text, options);
    evidence_.gpus = std::move(table.rows);
    evidence_.messages = std::move(table.messages);
    // The query asks for no header. One that names other columns makes the rows something that was not asked
    // for.
    if (table.columns != options.columns)
        evidence_.messages.push_back(
            {Trouble::unreadable, "columns-unknown", "the table has other columns than were asked for", ""});
    auto apps = read_app_table(app_.text);
    evidence_.apps = std::move(apps.apps);
    evidence_.app_problems = std::move(apps.problems);
    evidence_.app_name_rests = std::move(apps.name_rests);
    // None was started beside the stuck one, or ours is stuck itself: no answer within its time either way.
    if (!evidence_.stuck.empty() && !evidence_.gpu_query.exit_status) evidence_.gpu_query.timed_out = true;
}

// The optional query and the list: what was printed counts, also where the query did not end well.
void SurveyReader::finish_optional() {
    if (fields_) {
        std::vector<std::string> columns{"index", "uuid", "pci.bus_id"};
        columns.insert(columns.end(), fields_->begin(), fields_->end());
        auto table = add_optional_table(opt_.text, columns, evidence_.gpus);
        evidence_.optional_problems = std::move(table.problems);
        // Where it had no end it is not known whether this nvidia-smi knows them.
        if (!evidence_.optional_query.timed_out) evidence_.optional_fields = std::move(*fields_);
    }
    auto list = read_gpu_list(list_.text);
    evidence_.list_problems = std::move(list.problems);
    const auto status = evidence_.list_query.exit_status;
    // Half a list would say of the others that it does not know them.
    if (status && (*status == 0 || !list.gpus.empty())) evidence_.listed = std::move(list.gpus);
    if (!done_.contains("queries")) return;
    for (auto* result : {&evidence_.optional_query, &evidence_.list_query})
        if (!result->exit_status && !result->timed_out && !result->missing) result->skipped = true;
}

void SurveyReader::finish_processes() {
    // The host's mount namespace is that of pid 1; who may not look at pid 1 has only the one of the login.
    auto host = mounts_.find(1);
    if (host == mounts_.end() && shell_) host = mounts_.find(*shell_);
    for (auto& process : evidence_.processes) {
        const auto pid = process.key.pid;
        const auto mount = mounts_.find(pid);
        process.host_mount_ns =
            host != mounts_.end() && mount != mounts_.end() && mount->second == host->second;
        if (process.uid)
            if (const auto name = users_.find(*process.uid); name != users_.end())
                process.user = name->second;
        const bool readable = done_.contains("maps") && !unreadable_.contains(pid);
        process.maps_readable = readable && !process.wedged;
        process.fds_readable = readable && done_.contains("files");
        if (evidence_.clock_ticks && uptime_) {
            const auto began = process.key.start / *evidence_.clock_ticks;
            process.age_s = *uptime_ > began ? *uptime_ - began : 0;
        }
    }
}

void SurveyReader::finish_ancestors() {
    for (auto pid = shell_; pid && *pid > 0;) {
        if (std::ranges::find(evidence_.session_ancestors, *pid) != evidence_.session_ancestors.end()) break;
        evidence_.session_ancestors.push_back(*pid);
        const auto found = index_.find(*pid);
        if (found == index_.end()) break;
        pid = evidence_.processes[found->second].parent;
    }
}

void SurveyReader::finish_sight() {
    // Half of what the kernel's driver has would say of the other GPUs that it lost them.
    if (!done_.contains("driver")) {
        evidence_.driver_gpus.reset();
        evidence_.mig_caps.clear();
    }
    if (foreign_proc_) evidence_.proc_hides_others = true;
    for (const auto stage : survey_stages)
        if (!done_.contains(stage)) evidence_.cuts.push_back(std::string(stage));
    evidence_.holders_visible = done_.size() == std::size(survey_stages) && evidence_.unreadable == 0 &&
                                evidence_.stuck_reads.empty() && !evidence_.proc_hides_others;
}

// Who uses a file is known when all descriptors and mappings were read.
void SurveyReader::finish_shm() {
    if (!done_.contains("files") || !done_.contains("maps")) evidence_.shm.reset();
    if (!evidence_.shm) return;
    for (auto& file : *evidence_.shm) {
        if (file.changed <= shm_now_) file.age_s = static_cast<std::uint64_t>(shm_now_ - file.changed);
        if (const auto name = users_.find(file.uid); name != users_.end()) file.user = name->second;
    }
}

Evidence SurveyReader::finish() {
    finish_queries();
    finish_optional();
    finish_processes();
    finish_ancestors();
    finish_sight();
    finish_shm();
    return std::move(evidence_);
}

}  // namespace cleanslate::agentless
