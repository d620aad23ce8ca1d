// A year of nights in the history: what a night costs to record, what the file takes, and how long each
// question takes on it. Every answer is compared with what the made-up fleet knows of itself. Usage:
// history_bench [NIGHTS [HOSTS [answers]]]    answers: of a small history, where times say nothing
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string_view>

#include "controller/formats/render.hpp"
#include "controller/history/course.hpp"
#include "controller/history/diff_view.hpp"
#include "controller/history/history.hpp"
#include "controller/history/prune.hpp"
#include "controller/history/report_parts.hpp"
#include "controller/history/sweeps_view.hpp"
#include "controller/history/top.hpp"
#include "controller/json_report.hpp"
#include "tests/bench/fleet_nights.hpp"
#include "tests/bench/rounds.hpp"

namespace cleanslate::controller::history::bench {
namespace {

using cleanslate::bench::print_row;
using controller::bench::day;
using controller::bench::FleetNights;

constexpr double bar = 1.0;          // seconds, of each question
constexpr double recording_bar = 1;  // seconds of CPU time, of a night
constexpr int rounds = 5;

struct Bench {
    std::string file;
    bool judged = true;
    bool failed = false;

    void check(bool right, std::string_view what) {
        if (right) return;
        fmt::print("  WRONG: {}\n", what);
        failed = true;
    }
    void row(std::string_view figure, const std::vector<double>& seconds, double most,
             std::string_view more) {
        if (!print_row(figure, seconds, judged ? most : 0, more)) failed = true;
    }
    // The file opened anew each time, as a command does.
    void ask(std::string_view figure, double most, const std::function<std::string(Store&)>& question) {
        std::vector<double> seconds;
        std::string said;
        for (int i = 0; i < rounds; ++i) {
            const auto began = std::chrono::steady_clock::now();
            auto store = Store::open(file, Use::read);
            if (!store) return check(false, store.error().message);
            said = question(**store);
            seconds.push_back(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
        }
        row(figure, seconds, most, "; " + said);
    }
};

template <class Value>
Value need(Result<Value> result) {
    if (result) return std::move(*result);
    fmt::print("  FAILED: {}\n", result.error().message);
    std::exit(1);
}

double mb(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

double file_mb(const std::string& file) { return mb(std::filesystem::file_size(file)); }

std::vector<double> record_nights(Bench& bench, FleetNights& fleet, std::int64_t nights) {
    std::vector<double> seconds;
    const auto store = need(Store::open(bench.file, Use::record));
    for (std::int64_t night = 0; night < nights; ++night) {
        const Report& report = fleet.next();
        const double before = cleanslate::bench::cpu_seconds();
        need(record(*store, report, {report.inventory, "all"}, false));
        seconds.push_back(cleanslate::bench::cpu_seconds() - before);
    }
    return seconds;
}

std::size_t json_bytes(const Report& report) {
    std::size_t bytes = 0;
    write_json(report, false, [&](std::string_view text) { bytes += text.size(); });
    return bytes;
}

std::string rendered(const Report& report, Format format) {
    std::size_t bytes = 0;
    render(report, format, {}, [&](std::string_view text) { bytes += text.size(); });
    return fmt::format("{:.1f} MB", mb(bytes));
}

void ask_questions(Bench& bench, const FleetNights& fleet) {
    bench.ask("history", bar, [&](Store& store) {
        const auto listed = need(sweeps(store, {}));
        Page page(80, false);
        sweeps_text(page, listed, 0);
        bench.check(static_cast<std::int64_t>(listed.size()) == fleet.nights(), "the list of sweeps");
        return fmt::format("{} sweeps", listed.size());
    });
    bench.ask("history --host", bar, [&](Store& store) {
        const auto read = need(courses(store, {FleetNights::name_of(0)}, {}));
        const Course& course = read.at(0);
        bench.check(course.stretches.size() == fleet.changes_of_first, "the first host's course");
        bench.check(static_cast<std::int64_t>(course.sweeps) == fleet.nights(), "the first host's sweeps");
        return fmt::format("{} stretches", course.stretches.size());
    });
    bench.ask("history diff", bar, [&](Store& store) {
        const Diff now = need(diff(store, need(find_sweep(store, "last")).id));
        bench.check(now.newly_dirty.size() == fleet.newly_dirty, "newly dirty");
        bench.check(now.newly_clean.size() == fleet.newly_clean, "newly clean");
        bench.check(now.newly_unknown.size() == fleet.newly_unknown, "newly unknown");
        bench.check(now.still_dirty.size() == fleet.still_dirty, "still dirty");
        bench.check(now.still_unknown.size() == fleet.still_unknown, "still unknown");
        bench.check(now.gpus_swapped.size() == fleet.swapped, "swapped GPUs");
        bench.check(now.gpus_gone.empty() && now.gpus_new.empty() && now.gpus_moved.empty(), "no other GPUs");
        return diff_summary(now);
    });
    bench.ask("history diff of the first and the last", bar,
              [&](Store& store) { return diff_summary(need(diff(store, fleet.nights(), 1))); });
    const auto top_since = [&](Store& store, std::int64_t since) {
        const Top made = need(top(store, since, 1'000'000));
        std::size_t nights = 0;
        for (const TopRow& row : made.hosts) nights += row.host_nights;
        return nights;
    };
    bench.ask("history top, 30 days", bar, [&](Store& store) {
        return fmt::format("{} host-nights", top_since(store, fleet.started() - 30 * day));
    });
    bench.ask("history top, a year", 5 * bar, [&](Store& store) {
        const std::size_t nights = top_since(store, 0);
        bench.check(nights == fleet.host_nights, "host-nights");
        return fmt::format("{} host-nights", nights);
    });
}

void show(Bench& bench, const Report& last) {
    std::string expected;
    write_json(last, false, [&](std::string_view text) { expected += text; });
    bench.ask("history show last, read back", 5 * bar, [&](Store& store) {
        const Report report = need(load_report(store, need(find_sweep(store, "last")).id));
        std::string text;
        write_json(report, true, [&](std::string_view piece) { text += piece; });
        bench.check(text == expected, "the report that is read back");
        return fmt::format("{:.1f} MB of JSON", mb(text.size()));
    });
    bench.ask("history show last, text", 5 * bar, [&](Store& store) {
        return rendered(need(load_report(store, need(find_sweep(store, "last")).id)), Format::text);
    });
}

void prune_to(Bench& bench, std::size_t last) {
    const auto began = std::chrono::steady_clock::now();
    const auto store = need(Store::open(bench.file, Use::change));
    const Pruned done = need(prune(*store, need(plan_prune(*store, {std::nullopt, last}))));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    bench.row(fmt::format("history prune --keep-last {}", last), {seconds}, 0,
              fmt::format("; {:.1f} MB before, {:.1f} MB now", mb(done.bytes_before), mb(done.bytes_after)));
    bench.check(store->database().text_of("PRAGMA integrity_check") == "ok", "the history after a prune");
    bench.check(need(sweeps(*store, {})).size() == last, "what a prune leaves");
}

int run(std::int64_t nights, std::size_t hosts, bool judged) {
    std::string folder = (std::filesystem::temp_directory_path() / "cleanslate-history.XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return 1;
    Bench bench{folder + "/history.db", judged};
    fmt::print("history of {} nights of {} hosts with 8 GPUs each, 1 % dirty\n", nights, hosts);
    FleetNights fleet(hosts);
    const std::vector<double> recording = record_nights(bench, fleet, nights);
    const Report last = fleet.report();
    const double size = file_mb(bench.file), json = mb(json_bytes(last));
    bench.row("recording a night (CPU time)", recording, recording_bar,
              fmt::format("; {:.1f} MB of JSON", json));
    fmt::print("  the file: {:.1f} MB, {:.2f} MB a night, {:.1f} % of the JSON\n", size,
               size / static_cast<double>(nights), 100 * size / json / static_cast<double>(nights));
    ask_questions(bench, fleet);
    show(bench, last);
    if (nights > 2) prune_to(bench, static_cast<std::size_t>(nights) / 4 + 1);
    std::filesystem::remove_all(folder);
    return bench.failed ? 1 : 0;
}

}  // namespace
}  // namespace cleanslate::controller::history::bench

int main(int count, char** arguments) {
    const long nights = count > 1 ? std::atol(arguments[1]) : 365;
    const long hosts = count > 2 ? std::atol(arguments[2]) : 10'000;
    const bool answers = count > 3 && std::string_view(arguments[3]) == "answers";
    if (nights < 1 || hosts < 100) {
        std::fputs("usage: history_bench [NIGHTS [HOSTS [answers]]], from 100 hosts on\n", stderr);
        return 2;
    }
    return cleanslate::controller::history::bench::run(nights, static_cast<std::size_t>(hosts), !answers);
}
