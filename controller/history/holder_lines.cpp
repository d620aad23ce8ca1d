#include "controller/history/holder_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "base/units.hpp"
#include "controller/host_block.hpp"

namespace cleanslate::controller::history {
namespace {

constexpr std::size_t most_lines = 3;
constexpr std::size_t command_shown = 200;  // code points

// Processes of one user with one command.
struct Kind {
    const StoredHolder* first = nullptr;
    std::size_t processes = 0;
    std::set<int> gpus;
    Mebibytes used;
};

std::vector<Kind> kinds_of(const std::vector<StoredHolder>& holders) {
    std::vector<Kind> kinds;
    std::map<std::tuple<std::string, std::string, std::string, bool, bool>, std::size_t> place;
    for (const StoredHolder& holder : holders) {
        const auto [found, fresh] = place.emplace(
            std::tuple(holder.user, holder.command, holder.unit, holder.ghost, holder.is_protected),
            kinds.size());
        if (fresh) kinds.push_back({&holder, 0, {}, {}});
        Kind& kind = kinds[found->second];
        ++kind.processes;
        kind.gpus.insert(holder.gpus.begin(), holder.gpus.end());
        kind.used += holder.used.value_or(Mebibytes{});
    }
    return kinds;
}

std::string who_text(const Kind& kind) {
    const StoredHolder& holder = *kind.first;
    if (kind.processes > 1)
        return fmt::format("{}, {}", holder.user.empty() ? "not known whose" : holder.user,
                           count_of(kind.processes, "process", "processes"));
    const std::string pid = holder.pid ? fmt::format("pid {}", *holder.pid) : "a process without pid";
    return holder.user.empty() ? pid : pid + " " + holder.user;
}

std::string text_of(const Kind& kind) {
    const StoredHolder& holder = *kind.first;
    std::string text = who_text(kind);
    if (holder.age_s && kind.processes == 1) text += ", " + span_text(*holder.age_s);
    if (!kind.gpus.empty())
        text += ", GPU " + fold_numbers(std::vector<int>(kind.gpus.begin(), kind.gpus.end()));
    if (kind.used.count > 0) text += fmt::format(", {} MiB", kind.used.count);
    if (holder.ghost) text += ", a ghost: it no longer lives";
    if (holder.is_protected) text += ", protected";
    if (!holder.unit.empty()) text += ", in " + holder.unit;
    const std::string& what = holder.command.empty() ? holder.exe : holder.command;
    return what.empty() ? text : text + ": " + ellipsize(what, command_shown);
}

}  // namespace

std::string span_text(std::int64_t seconds) {
    constexpr std::int64_t most = 10'000LL * 365 * 86'400;
    return format_duration(std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, most)));
}

std::string gpu_list(const std::vector<StoredGpu>& gpus, const std::function<bool(const StoredGpu&)>& fits) {
    std::set<int> indexes;
    for (const StoredGpu& gpu : gpus)
        if (gpu.index && fits(gpu)) indexes.insert(*gpu.index);
    if (indexes.empty()) return {};
    return "GPU " + fold_numbers(std::vector<int>(indexes.begin(), indexes.end()));
}

void write_holders(Page& page, std::size_t indent, const std::vector<StoredHolder>& holders) {
    const auto kinds = kinds_of(holders);
    for (const Kind& kind : kinds) {
        if (static_cast<std::size_t>(&kind - kinds.data()) == most_lines) break;
        page.boxed(indent, text_of(kind), Style::dim);
    }
    if (kinds.size() > most_lines)
        page.boxed(indent, fmt::format("and {} more", kinds.size() - most_lines), Style::dim);
}

}  // namespace cleanslate::controller::history
