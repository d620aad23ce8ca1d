#pragma once
// Records of a survey -> Evidence. Only remote.cpp uses it; docs/remote-protocol.md has the grammar.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"
#include "agentless/records.hpp"

namespace cleanslate::agentless {

// What the survey reads, in its order; each is confirmed by a `done` record.
inline constexpr std::string_view survey_stages[] = {"queries", "files", "maps", "argv", "driver", "exe"};

// One survey: take() each record in order, then finish() once.
class SurveyReader {
  public:
    // Errors (kind "protocol") name the record that is not as it should be.
    Status take(const Record& record);
    // All but `complete`.
    Evidence finish();

  private:
    struct Rule {
        std::string_view word;
        std::size_t least, most;  // values
        bool (SurveyReader::*read)(const Record&);
    };
    static const std::vector<Rule>& rules();

    bool meta(const Record& record);
    bool nodes(const Record&) { return evidence_.device_minors.emplace(), true; }
    bool node(const Record& record);
    bool drivers(const Record&) { return evidence_.driver_gpus.emplace(), true; }
    bool stuck(const Record& record);
    bool tool(const Record& record);
    bool gpu(const Record& record) { return add_line(gpu_text_, record); }
    bool app(const Record& record) { return add_line(app_text_, record); }
    bool proc(const Record& record);
    bool cgroup(const Record& record);
    bool exe(const Record& record);
    bool mount(const Record& record);
    bool open(const Record& record);
    bool mapped(const Record& record);
    bool unreadable(const Record& record);
    bool blind(const Record& record);
    bool argv(const Record& record);
    bool exefile(const Record& record);
    bool driver(const Record& record);
    bool info(const Record& record);
    bool user(const Record& record);
    bool done(const Record& record);
    bool limit(const Record& record);
    bool cut(const Record&) { return cut_ = true; }
    bool reading(const Record& record);

    bool add_line(std::string& text, const Record& record);
    Process* process_of(const Record& record);
    void finish_queries();
    void finish_processes();
    void finish_ancestors();
    void finish_sight();

    Evidence evidence_;
    std::map<Pid, std::size_t> index_;   // pid -> its place in evidence_.processes
    std::map<Pid, std::string> mounts_;  // mount namespace by pid
    std::set<Pid> unreadable_;
    std::map<std::uint32_t, std::string> users_;
    std::set<std::string_view> done_;
    std::string gpu_text_, app_text_;
    std::string driver_;                   // whose `info` records follow
    std::optional<std::uint64_t> uptime_;  // whole seconds
    std::optional<Pid> shell_;
    bool foreign_proc_ = false;
    bool cut_ = false;
};

}  // namespace cleanslate::agentless
