#include "controller/history/course.hpp"

#include <algorithm>
#include <limits>

#include "controller/history/gpu_moves.hpp"
#include "controller/history/host_rows.hpp"
#include "controller/history/host_states.hpp"

namespace cleanslate::controller::history {
namespace {

class CourseReader {
  public:
    explicit CourseReader(Database& database)
        : reader_(database),
          id_(database, "SELECT id FROM hosts WHERE name = ?"),
          // Sweep by sweep, and never through all hosts of one.
          rows_(database,
                "SELECT s.id, s.started, r.state, r.gpu_set, r.why FROM sweeps s CROSS JOIN host_results r "
                "ON r.sweep = s.id AND r.host = ? WHERE s.started >= ? ORDER BY s.started, s.id") {}

    Course read(const std::string& name, std::int64_t since) {
        Course course;
        course.host = name;
        id_.start(name);
        if (!id_.step()) return course;
        const std::int64_t host = id_.integer(0);
        std::optional<std::int64_t> gpu_set;
        for (rows_.start(host, since); rows_.step();) {
            see_gpus(course, rows_.integer(0), gpu_set, rows_.integer_or_nothing(3));
            if (rows_.integer(2) == not_begun) continue;
            ++course.sweeps;
            extend(course, rows_.integer(0), rows_.integer(1), verdict_of(rows_.integer(2)),
                   rows_.integer_or_nothing(4));
        }
        for (Stretch& stretch : course.stretches) {
            stretch.gpus = reader_.gpus(stretch.last, host);
            stretch.holders = reader_.holders(stretch.last, host);
        }
        std::ranges::reverse(course.stretches);
        std::ranges::reverse(course.gpus);
        return course;
    }

  private:
    void extend(Course& course, SweepId sweep, std::int64_t started, agentless::Verdict verdict,
                std::optional<std::int64_t> why) {
        if (course.stretches.empty() || course.stretches.back().verdict != verdict) {
            if (!course.stretches.empty()) course.stretches.back().until = started;
            Stretch& fresh = course.stretches.emplace_back();
            fresh.verdict = verdict;
            fresh.first = sweep;
            fresh.from = started;
        }
        Stretch& stretch = course.stretches.back();
        stretch.last = sweep;
        stretch.to = started;
        stretch.why = reader_.word(why);
        ++stretch.sweeps;
    }

    void see_gpus(Course& course, SweepId sweep, std::optional<std::int64_t>& before,
                  std::optional<std::int64_t> now) {
        if (!now || now == before) return;
        if (before) {
            Diff diff;
            compare_gpus(
                {{course.host, read_gpu_set(reader_.gpu_set(*before)), read_gpu_set(reader_.gpu_set(*now))}},
                diff);
            for (auto* list : {&diff.gpus_gone, &diff.gpus_new, &diff.gpus_swapped, &diff.gpus_moved})
                for (GpuChange& change : *list) course.gpus.emplace_back(sweep, std::move(change));
        }
        before = now;
    }

    HostReader reader_;
    Statement id_, rows_;
};

}  // namespace

Result<std::vector<Course>> courses(Store& store, const std::vector<std::string>& hosts,
                                    std::optional<std::int64_t> since) {
    Transaction one_look(store.database(), Transaction::Kind::read);
    std::vector<Course> found;
    {
        CourseReader reader(store.database());
        for (const std::string& host : hosts) {
            Course course = reader.read(host, since.value_or(std::numeric_limits<std::int64_t>::min()));
            if (course.sweeps > 0) found.push_back(std::move(course));
        }
    }
    if (auto state = store.database().state(); !state) return std::unexpected(state.error());
    return found;
}

Result<std::vector<std::string>> known_hosts(Store& store) {
    std::vector<std::string> names;
    Statement rows(store.database(), "SELECT name FROM hosts ORDER BY id");
    for (rows.start(); rows.step();) names.push_back(rows.text(0));
    if (auto state = store.database().state(); !state) return std::unexpected(state.error());
    return names;
}

}  // namespace cleanslate::controller::history
