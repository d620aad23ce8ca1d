// history: what earlier sweeps found. No host is contacted.

#include <fmt/core.h>

#include <algorithm>
#include <ctime>

#include "base/text.hpp"
#include "controller/audit_query.hpp"
#include "controller/commands.hpp"
#include "controller/exit_status.hpp"
#include "controller/history/course.hpp"
#include "controller/history/diff_view.hpp"
#include "controller/history/prune.hpp"
#include "controller/history/report_parts.hpp"
#include "controller/history/sweeps_view.hpp"
#include "controller/history/top.hpp"
#include "controller/json_writer.hpp"

namespace cleanslate::controller {
namespace history {
namespace {

constexpr std::size_t sweeps_listed = 20;
constexpr std::size_t rows_of_top = 10;
constexpr std::int64_t days_of_top = 30;

// What was asked for wrongly, or is not there, ends with 2; what cannot be read with 5.
int failed(const Error& error) {
    print_error(error);
    const bool usage = error.kind == "usage" || error.kind == "range" || error.kind == "history_missing" ||
                       error.kind == "history_no_sweep";
    return usage ? exit_usage : exit_internal;
}

Result<std::optional<std::int64_t>> since_of(const Options& options) {
    if (!options.since) return std::nullopt;
    const auto since = parse_since(*options.since, std::time(nullptr));
    if (!since) return std::unexpected(since.error());
    return *since;
}

// Writes it in the form that was asked for.
template <class Answer>
int answer(const Context& context, const Answer& what, std::string (*json)(const Answer&),
           void (*text)(Page&, const Answer&)) {
    if (context.options.format == Format::json) {
        context.out.write(json(what));
        return finish_output(context);
    }
    const bool terminal = context.terminal.out;
    Page page(terminal ? context.terminal.out_columns : 80,
              use_color(context.options.color, terminal, context.environment));
    text(page, what);
    context.out.write(page.take());
    return finish_output(context);
}

struct Listed {
    std::vector<SweepHead> sweeps;
    std::size_t more = 0;
};
std::string listed_json(const Listed& listed) { return sweeps_json(listed.sweeps); }
void listed_text(Page& page, const Listed& listed) { sweeps_text(page, listed.sweeps, listed.more); }

int list(const Context& context, Store& store, std::optional<std::int64_t> since) {
    const Options& options = context.options;
    SweepQuery query;
    query.since = since;
    if (!options.inventories.empty()) query.inventory = scope_of(options).inventory;
    auto sweeps = history::sweeps(store, query);
    if (!sweeps) return failed(sweeps.error());
    Listed listed{std::move(*sweeps), 0};
    std::size_t most = options.last ? static_cast<std::size_t>(*options.last) : listed.sweeps.size();
    if (!options.last && !since) most = std::min(most, sweeps_listed);
    if (most < listed.sweeps.size()) {
        listed.more = listed.sweeps.size() - most;
        listed.sweeps.resize(most);
    }
    return answer(context, listed, listed_json, listed_text);
}

int show_courses(const Context& context, Store& store, std::optional<std::int64_t> since) {
    const auto filter = HostFilter::read(context.options.history_hosts);
    if (!filter) return failed(filter.error());
    auto names = known_hosts(store);
    if (!names) return failed(names.error());
    std::erase_if(*names, [&](const std::string& name) { return !filter->has(name); });
    auto courses = history::courses(store, *names, since);
    if (!courses) return failed(courses.error());
    if (courses->empty())
        return failed({"history_no_sweep", "", "no sweep of this history looked at such a host",
                       "cleanslate history show last lists the hosts of the last sweep"});
    return answer(context, *courses, courses_json, courses_text);
}

int show(const Context& context, Store& store) {
    const auto sweep = find_sweep(store, context.options.sweeps.front());
    if (!sweep) return failed(sweep.error());
    auto report = load_report(store, sweep->id);
    if (!report) return failed(report.error());
    if (!context.options.raw_commands) mask_commands(*report);
    const bool lists = write_host_lists(context, *report);
    const bool reports = write_reports(context, *report);
    return lists && reports ? 0 : exit_internal;
}

int show_diff(const Context& context, Store& store) {
    const auto& words = context.options.sweeps;
    const auto newer = find_sweep(store, words.empty() ? "last" : words.back());
    if (!newer) return failed(newer.error());
    std::optional<SweepId> older;
    if (words.size() == 2) {
        const auto other = find_sweep(store, words.front());
        if (!other) return failed(other.error());
        older = other->id;
    }
    const auto made = diff(store, newer->id, older);
    if (!made) return failed(made.error());
    return answer(context, *made, diff_json, diff_text);
}

int show_top(const Context& context, Store& store, std::optional<std::int64_t> since) {
    const auto most = context.options.last ? static_cast<std::size_t>(*context.options.last) : rows_of_top;
    const auto made = top(store, since.value_or(std::time(nullptr) - days_of_top * 86'400), most);
    if (!made) return failed(made.error());
    return answer(context, *made, top_json, top_text);
}

struct Going {
    Pruning plan;
    std::optional<Pruned> done;  // absent: a dry run
};

std::string size_text(std::uint64_t bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1048576.0);
}

std::string going_json(const Going& going) {
    std::string text;
    JsonWriter json(text);
    json.object([&] {
        json.key("schema").text("cleanslate.prune/1");
        json.key("dry_run").boolean(!going.done);
        json.key("going").list(going.plan.going, [&](const SweepHead& sweep) { json.number(sweep.id); });
        json.key("staying").number(going.plan.staying);
        going.done ? json.key("bytes_before").number(going.done->bytes_before)
                   : json.key("bytes_before").null();
        going.done ? json.key("bytes_after").number(going.done->bytes_after) : json.key("bytes_after").null();
    });
    return text + "\n";
}

void going_text(Page& page, const Going& going) {
    const auto& sweeps = going.plan.going;
    std::string text = count_of(sweeps.size(), "sweep");
    if (!sweeps.empty())
        text += fmt::format(" ({} to {})", rfc3339(sweeps.front().started), rfc3339(sweeps.back().started));
    text += fmt::format("{}, {} stay", going.done ? " gone" : " would go", going.plan.staying);
    if (going.done)
        text += fmt::format("; {} before, {} now", size_text(going.done->bytes_before),
                            size_text(going.done->bytes_after));
    page.boxed(0, text);
}

int let_go(const Context& context, Store& store) {
    const Options& options = context.options;
    Keep keep;
    if (options.keep)
        keep.since =
            std::time(nullptr) - std::chrono::duration_cast<std::chrono::seconds>(*options.keep).count();
    if (options.keep_last) keep.last = static_cast<std::size_t>(*options.keep_last);
    auto plan = plan_prune(store, keep);
    if (!plan) return failed(plan.error());
    Going going{std::move(*plan), std::nullopt};
    if (!options.dry_run) {
        const auto done = prune(store, going.plan);
        if (!done) return failed(done.error());
        going.done = *done;
    }
    return answer(context, going, going_json, going_text);
}

}  // namespace
}  // namespace history

int history_command(const Context& context) {
    using namespace history;
    const Options& options = context.options;
    const auto since = since_of(options);
    if (!since) return failed(since.error());
    const std::string file = options.history ? *options.history : default_history_file(context.environment);
    if (file.empty())
        return failed(
            {"usage", "", "which history? Neither $XDG_STATE_HOME nor $HOME says", "give --history FILE"});
    const bool writes = options.history_action == HistoryAction::prune && !options.dry_run;
    auto store = Store::open(file, writes ? Use::change : Use::read);
    if (!store) return failed(store.error());
    switch (options.history_action) {
        case HistoryAction::list:
            return options.history_hosts.empty() ? list(context, **store, *since)
                                                 : show_courses(context, **store, *since);
        case HistoryAction::show:
            return show(context, **store);
        case HistoryAction::diff:
            return show_diff(context, **store);
        case HistoryAction::top:
            return show_top(context, **store, *since);
        case HistoryAction::prune:
            return let_go(context, **store);
    }
    return exit_internal;
}

}  // namespace cleanslate::controller
