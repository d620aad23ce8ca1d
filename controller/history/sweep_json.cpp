#include "controller/history/sweep_json.hpp"

#include "base/text.hpp"

namespace cleanslate::controller::history {

using agentless::Verdict;

void write_time(JsonWriter& json, const std::optional<std::int64_t>& time) {
    time ? json.text(rfc3339(*time)) : json.null();
}

void write_sweep(JsonWriter& json, const SweepHead& sweep) {
    const auto counts = [&](std::string_view key, const std::array<std::size_t, 5>& numbers, Verdict worst) {
        json.key(key).object([&] {
            for (std::size_t i = 0; i <= static_cast<std::size_t>(worst); ++i)
                json.key(to_string(static_cast<Verdict>(i))).number(numbers[i]);
            if (worst == Verdict::unreachable) json.key("not_begun").number(sweep.not_begun);
        });
    };
    json.object([&] {
        json.key("id").number(sweep.id);
        json.key("started").text(rfc3339(sweep.started));
        json.key("seconds").seconds(sweep.took);
        json.key("command").text(sweep.command);
        json.key("playbook").text_or_null(sweep.playbook);
        json.key("inventory").text(sweep.scope.inventory);
        json.key("limit").text(sweep.scope.limit);
        json.key("dry_run").boolean(sweep.dry_run);
        json.key("declined").boolean(sweep.declined);
        json.key("stopped_by").text_or_null(sweep.stopped_by);
        json.key("exit_status").number(sweep.exit_status);
        counts("hosts", sweep.hosts, Verdict::unreachable);
        counts("gpus", sweep.gpus, Verdict::unknown);
        json.key("program").text_or_null(sweep.program);
    });
}

void write_holder(JsonWriter& json, const StoredHolder& holder) {
    json.object([&] {
        json.key("gpus").list(holder.gpus, [&](int gpu) { json.number(gpu); });
        json.key("pid").number_or_null(holder.pid);
        // A text, since not every reader of JSON has whole numbers of 64 bits.
        holder.start ? json.key("start").text(std::to_string(static_cast<std::uint64_t>(*holder.start)))
                     : json.key("start").null();
        json.key("user").text_or_null(holder.user);
        json.key("exe").text_or_null(holder.exe);
        json.key("command").text_or_null(holder.command);
        json.key("unit").text_or_null(holder.unit);
        json.key("used_mib").mib_or_null(holder.used);
        json.key("age_seconds").number_or_null(holder.age_s);
        json.key("protected").boolean(holder.is_protected);
        json.key("ghost").boolean(holder.ghost);
        json.key("inherited").boolean(holder.inherited);
        json.key("foreign_pid").boolean(holder.foreign_pid);
        json.key("without_device").boolean(holder.without_device);
    });
}

}  // namespace cleanslate::controller::history
