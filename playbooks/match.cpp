// `match:` of a signal or stop step.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "playbooks/lists.hpp"
#include "playbooks/steps.hpp"

namespace cleanslate::playbooks {
namespace {

using namespace std::chrono_literals;

constexpr int max_pid = 4'194'304;  // the kernel's PID_MAX_LIMIT
constexpr std::int64_t max_uid = 4'294'967'294;
constexpr std::string_view right =
    "write at least one key that picks: `holding: gpu`, `gpus`, `cmdline`, `name`, `exe`, `pid`, `user`, "
    "`cgroup`, `used_at_least`, `orphaned: true`, or an id or name in `slurm_job`, `pod`, `container` or "
    "`unit`; all that are given must hold";

struct Key {
    std::string_view name;
    Status (*read)(const Reader& in, const yaml::Node& value, std::string_view key, Match& match);
};

Status read_holding(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    auto holding = in.text(value, key);
    if (!holding) return std::unexpected(holding.error());
    if (*holding != "gpu")
        return in.refuse(value, fmt::format("`holding: {}`", ellipsize(printable(*holding), 40)),
                         "write `holding: gpu`, the only one so far");
    match.holding_gpu = true;
    return {};
}

Status read_pid(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    const auto entries = entries_of(in, value, key);
    if (!entries) return std::unexpected(entries.error());
    for (const yaml::Node* entry : *entries) {
        auto pid = in.integer(*entry, key, 1, max_pid);
        if (!pid) return std::unexpected(pid.error());
        if (*pid == 1) return in.refuse(*entry, "pid 1 is never signalled", "name another process");
        match.pid.push_back(static_cast<int>(*pid));
    }
    return {};
}

Status read_uid(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    const auto uid = in.integer(value, key, 0, max_uid);
    if (!uid) return std::unexpected(uid.error());
    match.uid_at_least = static_cast<std::uint32_t>(*uid);
    return {};
}

// The age of a process is known in whole seconds.
Status read_age(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    const auto age = in.duration(value, key, 1s, 24h * 3650);
    if (!age) return std::unexpected(age.error());
    if (*age % 1s != 0s)
        return in.refuse(value, fmt::format("`{}` is no whole number of seconds", key), "write it in s");
    match.older_than = *age;
    return {};
}

Status read_used(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    const auto used = in.size(value, key);
    if (!used) return std::unexpected(used.error());
    if (used->count == 0)
        return in.refuse(value, fmt::format("`{}` of nothing would mean every process", key),
                         "write 1MiB or more");
    match.used_at_least = *used;
    return {};
}

// `false` would read as "those that are not", which no key says.
Status read_orphaned(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    if (auto read = keep(match.orphaned, in.boolean(value, key)); !read) return read;
    if (!match.orphaned)
        return in.refuse(value, "`orphaned: false` would leave nobody out",
                         "write `orphaned: true`, or leave the key out");
    return {};
}

template <auto member>
Status patterns(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    return keep(match.*member, read_patterns(in, value, key));
}

template <auto member>
Status accounts(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    return keep(match.*member, read_accounts(in, value, key));
}

template <auto member, Owner kind>
Status owners(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    return keep(match.*member, read_owners(in, value, key, kind));
}

template <auto member>
Status flag(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    return keep(match.*member, in.boolean(value, key));
}

Status gpus(const Reader& in, const yaml::Node& value, std::string_view key, Match& match) {
    return keep(match.gpus, read_gpus(in, value, key));
}

const std::vector<Key>& keys() {
    static const std::vector<Key> all{{"holding", read_holding},
                                      {"gpus", gpus},
                                      {"cmdline", patterns<&Match::cmdline>},
                                      {"name", patterns<&Match::name>},
                                      {"exe", patterns<&Match::exe>},
                                      {"pid", read_pid},
                                      {"user", accounts<&Match::user>},
                                      {"not_user", accounts<&Match::not_user>},
                                      {"uid_at_least", read_uid},
                                      {"older_than", read_age},
                                      {"used_at_least", read_used},
                                      {"orphaned", read_orphaned},
                                      {"cgroup", patterns<&Match::cgroup>},
                                      {"not_cgroup", patterns<&Match::not_cgroup>},
                                      {"slurm_job", owners<&Match::slurm_job, Owner::slurm_job>},
                                      {"pod", owners<&Match::pod, Owner::pod>},
                                      {"container", owners<&Match::container, Owner::container>},
                                      {"unit", owners<&Match::unit, Owner::unit>},
                                      {"tree", flag<&Match::tree>},
                                      {"descendants", flag<&Match::descendants>}};
    return all;
}

bool has(const std::vector<std::string>& list, std::string_view entry) {
    return std::ranges::find(list, entry) != list.end();
}

bool all_in(const std::vector<std::string>& some, const std::vector<std::string>& all) {
    return !some.empty() && std::ranges::all_of(some, [&](const auto& entry) { return has(all, entry); });
}

// Its uid where the entry says it: of names only root's is known here.
bool is_below(const std::string& account, std::uint32_t uid) {
    const auto number = account == "root" ? 0 : parse_number(account);
    return number && *number < uid;
}

// A match that no process could fit signals nobody, and would look as if there were nobody.
Status check_possible(const Reader& in, const yaml::Node& node, const Match& match) {
    const auto never = [&](std::string_view key, std::string_view why, std::string remedy) {
        const yaml::Node* value = node.find(key);
        return in.refuse(value != nullptr ? *value : node, fmt::format("no process could match: {}", why),
                         std::move(remedy));
    };
    if (all_in(match.user, match.not_user))
        return never("not_user", "`not_user` names every `user`", "take one of the two out");
    if (all_in(match.cgroup, match.not_cgroup))
        return never("not_cgroup", "`not_cgroup` has every pattern of `cgroup`", "take one of the two out");
    if (match.uid_at_least && !match.user.empty() && std::ranges::all_of(match.user, [&](const auto& user) {
            return is_below(user, *match.uid_at_least);
        }))
        return never("uid_at_least", fmt::format("every `user` is below uid {}", *match.uid_at_least),
                     "take one of the two out");
    std::string_view owner;  // the key that wants one
    for (const auto& [key, list] :
         {std::pair{"slurm_job", &match.slurm_job}, std::pair{"pod", &match.pod},
          std::pair{"container", &match.container}, std::pair{"unit", &match.unit}}) {
        if (list->empty() || has(*list, "none")) continue;
        if (match.orphaned)
            return never(key, fmt::format("who belongs to a `{}` is not orphaned", key),
                         fmt::format("write `{}: none`, or take one of the two out", key));
        if (!owner.empty())
            return never(
                key, fmt::format("nobody belongs to a `{}` and a `{}` at once", owner, key),
                "keep one of the two: what counts is the job, else the pod, the container, the unit");
        owner = key;
    }
    return {};
}

// "`tree` alone picks", "`older_than` and `tree` alone pick".
std::string only_keys(const yaml::Node& node) {
    std::vector<std::string> given;
    for (const auto& [key, value] : node.entries()) given.push_back(fmt::format("`{}`", key.text()));
    std::string out;
    for (std::size_t i = 0; i < given.size(); ++i)
        out += (i == 0 ? "" : i + 1 == given.size() ? " and " : ", ") + given[i];
    return out + (given.size() == 1 ? " alone picks" : " alone pick");
}

}  // namespace

Result<Match> read_match(const Reader& in, const yaml::Node& node) {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& key : keys()) all.emplace_back(key.name);
        return all;
    }();
    if (node.is_null() || (node.is_mapping() && node.entries().empty()))
        return in.refuse(node, "an empty `match` would mean every process", std::string(right));
    if (auto known = check_keys(node, in.file(), "`match`", names); !known)
        return std::unexpected(known.error());
    Match match;
    for (const auto& [key, value] : node.entries()) {
        const auto found = std::ranges::find(keys(), key.text(), &Key::name);
        if (auto read = found->read(in, value, found->name, match); !read)
            return std::unexpected(read.error());
    }
    if (!match.picks())
        return in.refuse(
            node,
            fmt::format("{} no process: it takes from, or adds to, what another key picks", only_keys(node)),
            std::string(right));
    if (auto possible = check_possible(in, node, match); !possible) return std::unexpected(possible.error());
    return match;
}

}  // namespace cleanslate::playbooks
