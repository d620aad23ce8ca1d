#include "controller/baseline_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "agentless/limits.hpp"
#include "base/units.hpp"
#include "controller/exit_status.hpp"
#include "controller/host_block.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;

std::string range_text(std::int64_t least, std::int64_t most) {
    return least == most ? fmt::format("{} MiB", most) : fmt::format("{} to {} MiB", least, most);
}

// "GPU 0-1,4-7 at 0 to 51 MiB".
std::string recorded_text(const Recording& recording) {
    std::vector<int> indexes;
    std::int64_t least = INT64_MAX, most = 0;
    for (const auto& [uuid, gpu] : recording.gpus) {
        indexes.push_back(gpu.index);
        least = std::min(least, gpu.used.count);
        most = std::max(most, gpu.used.count);
    }
    if (indexes.empty()) return "no GPU";
    std::ranges::sort(indexes);
    return fmt::format("GPU {} at {}", fold_numbers(indexes), range_text(least, most));
}

void write_reason(Page& page, std::size_t indent, const std::string& head, const LeftOut& left_out) {
    page.wrapped(indent, head + left_out.why);
    if (!left_out.remedy.empty()) page.wrapped(indent + 4, "-> " + left_out.remedy, Style::dim);
}

struct Group {
    std::vector<std::string> names;
    const HostOutcome* host = nullptr;
    const Recording* recording = nullptr;
    std::string folded() const {
        const std::string text = inventory::fold(names);
        return names.size() == 1 ? text : fmt::format("{} ({})", text, names.size());
    }
};

// Memory that no verdict would have passed without a baseline: a person should see it.
bool is_plain(const Recording& recording) {
    return std::ranges::all_of(recording.gpus, [](const auto& e) { return e.second.used <= default_limit; });
}

// What must be the same for hosts to share their lines.
std::string key_of(const HostOutcome& host, const Recording& recording) {
    if (recording.left_out.empty())
        return recording.gpus.empty() ? "none" : is_plain(recording) ? "all" : recorded_text(recording);
    std::string key(to_string(host.verdict));
    if (!recording.whole_host) key += "\n" + recorded_text(recording);
    for (const LeftOut& one : recording.left_out)
        key += fmt::format("\n{}\t{}\t{}", one.index.value_or(-1), one.why, one.remedy);
    return key;
}

std::vector<Group> grouped(const Collection& collection, const Report& report) {
    std::vector<Group> groups;
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < collection.hosts.size(); ++i) {
        const HostOutcome& host = report.result.hosts[i];
        const auto [found, fresh] = place.emplace(key_of(host, collection.hosts[i]), groups.size());
        if (fresh) groups.push_back({{}, &host, &collection.hosts[i]});
        groups[found->second].names.push_back(host.name);
    }
    return groups;
}

void write_group(Page& page, const Group& group) {
    const Recording& recording = *group.recording;
    std::vector<Span> line{{group.folded(), Style::bold}, {" "}};
    if (recording.left_out.empty()) {
        line.push_back({recording.gpus.empty() ? "no GPU there" : "recorded: every GPU", Style::green});
        if (!is_plain(recording)) line.push_back({": " + recorded_text(recording)});
        page.line(0, line);
        return;
    }
    line.push_back(word_of(group.host->verdict));
    line.push_back({recording.gpus.empty() ? ", nothing recorded:" : ", recorded in part:"});
    page.line(0, line);
    if (!recording.gpus.empty()) page.line(4, {{recorded_text(recording)}});
    // GPUs that are left out for the same reason share their lines.
    std::vector<std::pair<LeftOut, std::vector<int>>> reasons;
    for (const LeftOut& one : recording.left_out) {
        const auto same = [&](const auto& other) {
            return one.index && !other.second.empty() && other.first.why == one.why;
        };
        auto found = std::ranges::find_if(reasons, same);
        if (found == reasons.end()) found = reasons.insert(reasons.end(), {one, {}});
        if (one.index) found->second.push_back(*one.index);
    }
    for (const auto& [left_out, indexes] : reasons) {
        const std::string which = recording.whole_host ? ""
                                  : indexes.empty()    ? "a GPU left out: "
                                                    : fmt::format("GPU {} left out: ", fold_numbers(indexes));
        write_reason(page, 4, which, left_out);
    }
}

}  // namespace

Collection collect(const std::vector<HostOutcome>& hosts, Mebibytes most) {
    Collection collection;
    for (const HostOutcome& host : hosts) {
        Recording recording = record_idle(host, most);
        std::erase_if(recording.gpus, [&](const auto& entry) {
            const auto [there, fresh] = collection.baseline.gpus.insert(entry);
            if (!fresh)
                recording.left_out.push_back(
                    {entry.second.index,
                     fmt::format("its uuid is that of GPU {} of {}", there->second.index, there->second.host),
                     "name each machine once"});
            return !fresh;
        });
        if (recording.whole_host)
            ++collection.hosts_left_out;
        else
            collection.gpus_left_out += recording.left_out.size();
        collection.hosts.push_back(std::move(recording));
    }
    return collection;
}

std::string reason_not_to_write(const Collection& collection, const SweepResult& result) {
    if (result.interrupted || result.deadline_passed || result.failure_limit_reached)
        return "the sweep was stopped before its end";
    return collection.baseline.gpus.empty() ? "no GPU could be recorded" : "";
}

int recording_status(const Collection& collection, int status_of_check) {
    if (status_of_check > 1) return status_of_check;
    return collection.complete() && !collection.baseline.gpus.empty() ? 0 : 1;
}

void write_collection(Page& page, const Collection& collection, const Report& report) {
    auto groups = grouped(collection, report);
    std::ranges::stable_partition(groups, [](const Group& g) { return g.recording->left_out.empty(); });
    for (const Group& group : groups) write_group(page, group);
}

void write_recording_summary(Page& page, const Collection& collection, const Report& report,
                             const std::string& file, bool written) {
    std::set<std::string_view> hosts;
    std::int64_t least = INT64_MAX, most = 0;
    for (const auto& [uuid, gpu] : collection.baseline.gpus) {
        hosts.insert(gpu.host);
        least = std::min(least, gpu.used.count);
        most = std::max(most, gpu.used.count);
    }
    std::string text =
        written ? fmt::format("{} of {} recorded, at {}", count_of(collection.baseline.gpus.size(), "GPU"),
                              count_of(hosts.size(), "host"), range_text(least, most))
                : "left as it was";
    std::string left_out;
    if (collection.gpus_left_out > 0) left_out = count_of(collection.gpus_left_out, "GPU");
    if (collection.hosts_left_out > 0)
        left_out += (left_out.empty() ? "" : " and ") + count_of(collection.hosts_left_out, "host");
    if (!left_out.empty()) text += "; " + left_out + " left out";
    const int status = report.exit_status;
    const std::string_view meaning = status == 0   ? "every GPU is recorded"
                                     : status == 1 ? "some GPUs are not recorded"
                                                   : meaning_of(status, false);
    page.line(0,
              {{file, Style::bold},
               {fmt::format(": {}; {}; exit {}: {}", text, format_duration(report.took), status, meaning)}});
}

}  // namespace cleanslate::controller
