// The kinds of steps that choose no process: `run:`, `verify:`, `reset:`, `reboot:` and `clean_shm:`.
#include <fmt/format.h>

#include "base/text.hpp"
#include "playbooks/lists.hpp"
#include "playbooks/steps.hpp"

namespace cleanslate::playbooks {
namespace {

using namespace std::chrono_literals;

constexpr Milliseconds max_age = 24h * 3650;

Result<RunStep::When> read_when(const Reader& in, const yaml::Node& node) {
    const auto word = in.text(node, "when");
    if (!word) return std::unexpected(word.error());
    if (*word == "before") return RunStep::When::before;
    if (*word == "after") return RunStep::When::after;
    return in.refuse(node, fmt::format("`when: {}`", ellipsize(printable(*word), 40)),
                     "write before or after; without `when` a step runs in its place");
}

// The value of `key`, a duration, where it is given.
Status read_time(const Reader& in, const yaml::Node& node, std::string_view key, Milliseconds low,
                 Milliseconds high, Milliseconds& into) {
    const yaml::Node* value = node.find(key);
    return value == nullptr ? Status{} : keep(into, in.duration(*value, key, low, high));
}

// What stands below a kind's key: nothing, or a mapping of `known`.
Status check_below(const Reader& in, const yaml::Node& node, std::string_view kind,
                   const std::vector<std::string>& known) {
    return node.is_null() ? Status{} : check_keys(node, in.file(), fmt::format("`{}`", kind), known);
}

}  // namespace

Result<Action> read_run(const Reader& in, const yaml::Node& step) {
    RunStep out;
    if (auto keys =
            check_step_keys(in, step, "a `run` step", {"run", "timeout", "expect_status", "when", "name"});
        !keys)
        return std::unexpected(keys.error());
    if (auto read = keep(out.command, in.command(*step.find("run"), "run")); !read)
        return std::unexpected(read.error());
    if (const yaml::Node* timeout = step.find("timeout"))
        if (auto read = keep(out.timeout, in.duration(*timeout, "timeout", 1s, 24h)); !read)
            return std::unexpected(read.error());
    if (const yaml::Node* status = step.find("expect_status")) {
        auto value = in.integer(*status, "expect_status", 0, 255);
        if (!value) return std::unexpected(value.error());
        out.expect_status = static_cast<int>(*value);
    }
    if (const yaml::Node* when = step.find("when"))
        if (auto read = keep(out.when, read_when(in, *when)); !read) return std::unexpected(read.error());
    return out;
}

Result<Action> read_verify(const Reader& in, const yaml::Node& step) {
    VerifyStep out;
    if (auto keys = check_step_keys(in, step, "a `verify` step", {"verify", "name"}); !keys)
        return std::unexpected(keys.error());
    const yaml::Node& node = *step.find("verify");
    if (auto keys = check_below(in, node, "verify", {"max_used", "within", "gpus"}); !keys)
        return std::unexpected(keys.error());
    if (const yaml::Node* most = node.find("max_used"))
        if (auto read = keep(out.max_used, in.size(*most, "max_used")); !read)
            return std::unexpected(read.error());
    if (auto read = read_time(in, node, "within", 0s, 1h, out.within); !read)
        return std::unexpected(read.error());
    if (const yaml::Node* gpus = node.find("gpus"))
        if (auto read = keep(out.gpus, read_gpus(in, *gpus, "gpus")); !read)
            return std::unexpected(read.error());
    return out;
}

Result<Action> read_reset(const Reader& in, const yaml::Node& step) {
    ResetStep out;
    if (auto keys = check_step_keys(in, step, "a `reset` step", {"reset", "name"}); !keys)
        return std::unexpected(keys.error());
    const yaml::Node& node = *step.find("reset");
    if (auto keys = check_below(in, node, "reset", {"daemons", "within", "timeout"}); !keys)
        return std::unexpected(keys.error());
    if (const yaml::Node* daemons = node.find("daemons"))
        if (auto read = keep(out.daemons, read_daemons(in, *daemons, "daemons")); !read)
            return std::unexpected(read.error());
    if (auto read = read_time(in, node, "within", 0s, 1h, out.within); !read)
        return std::unexpected(read.error());
    if (auto read = read_time(in, node, "timeout", 10s, 1h, out.timeout); !read)
        return std::unexpected(read.error());
    return out;
}

Result<Action> read_reboot(const Reader& in, const yaml::Node& step) {
    RebootStep out;
    if (auto keys = check_step_keys(in, step, "a `reboot` step", {"reboot", "name"}); !keys)
        return std::unexpected(keys.error());
    const yaml::Node& node = *step.find("reboot");
    if (auto keys = check_below(in, node, "reboot", {"deadline"}); !keys)
        return std::unexpected(keys.error());
    if (auto read = read_time(in, node, "deadline", 1min, 2h, out.deadline); !read)
        return std::unexpected(read.error());
    return out;
}

Result<Action> read_clean_shm(const Reader& in, const yaml::Node& step) {
    CleanShmStep out;
    if (auto keys = check_step_keys(in, step, "a `clean_shm` step", {"clean_shm", "name"}); !keys)
        return std::unexpected(keys.error());
    const yaml::Node& node = *step.find("clean_shm");
    const yaml::Node* names = &node;
    if (node.is_mapping()) {
        if (auto keys = check_below(in, node, "clean_shm", {"names", "user", "older_than"}); !keys)
            return std::unexpected(keys.error());
        names = node.find("names");
        if (const yaml::Node* user = node.find("user"))
            if (auto read = keep(out.user, read_accounts(in, *user, "user")); !read)
                return std::unexpected(read.error());
        if (auto read = read_time(in, node, "older_than", 1min, max_age, out.older_than); !read)
            return std::unexpected(read.error());
    }
    if (names == nullptr || names->is_null())
        return in.refuse(node, "`clean_shm` names no files",
                         "write which: `clean_shm: ['nccl-*', 'torch_*']`, or below it `names: ['nccl-*']`");
    if (auto read = keep(out.names, read_shm_names(in, *names, "clean_shm")); !read)
        return std::unexpected(read.error());
    return out;
}

}  // namespace cleanslate::playbooks
