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

// What the script prints at most: more is no survey.
inline constexpr std::size_t most_optional_lines = 1024;
inline constexpr std::size_t most_fields = 128;
inline constexpr std::size_t most_pci_gpus = 1024;
inline constexpr std::size_t most_mig_caps = 4096;
inline constexpr std::size_t most_stuck_reads = 4096;
inline constexpr std::size_t most_sessions = 4096;
inline constexpr std::size_t most_shm_files = 4096;

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

    // The script itself and nvidia-smi: survey_reader.cpp
    bool meta(const Record& record);
    bool stuck(const Record& record);
    bool tool(const Record& record);
    bool took(const Record& record);
    bool fields(const Record& record);
    bool unknown_field(const Record& record);
    bool gpu(const Record& record) { return add_line(gpu_, record); }
    bool app(const Record& record) { return add_line(app_, record); }
    bool opt(const Record& record) { return opt_.lines < most_optional_lines && add_line(opt_, record); }
    bool list(const Record& record) { return list_.lines < most_optional_lines && add_line(list_, record); }
    bool done(const Record& record);
    bool limit(const Record& record);
    bool cut(const Record&) { return cut_ = true; }
    bool reading(const Record& record);
    // The kernel's side: survey_reader_devices.cpp
    bool nodes(const Record&) { return evidence_.device_minors.emplace(), true; }
    bool node(const Record& record);
    bool drivers(const Record&) { return evidence_.driver_gpus.emplace(), true; }
    bool driver(const Record& record);
    bool info(const Record& record);
    bool pci(const Record&);
    bool pcigpu(const Record& record);
    bool nvswitches(const Record& record);
    bool cap(const Record& record);
    // Processes: survey_reader_processes.cpp
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
    bool user(const Record& record);
    bool wedged(const Record& record);
    bool nohup(const Record& record);
    // Who is logged in, and files in /dev/shm: survey_reader_leftovers.cpp
    bool session(const Record& record);
    bool sessions(const Record& record);
    bool shmfile(const Record& record);
    bool shm(const Record& record);

    // What a query printed.
    struct Lines {
        std::string text;
        std::size_t lines = 0;
    };
    static bool add_line(Lines& lines, const Record& record);
    ToolResult* tool_of(std::string_view name);
    Process* process_of(const Record& record);
    void finish_queries();
    void finish_optional();
    void finish_processes();
    void finish_ancestors();
    void finish_sight();
    void finish_shm();

    Evidence evidence_;
    std::map<Pid, std::size_t> index_;   // pid -> its place in evidence_.processes
    std::map<Pid, std::string> mounts_;  // mount namespace by pid
    std::set<Pid> unreadable_;
    std::map<std::uint32_t, std::string> users_;
    std::set<std::string_view> done_;
    Lines gpu_, app_, opt_, list_;
    std::vector<LoginSession> sessions_;  // until `sessions` says that these were all
    std::vector<ShmFile> shm_;            // likewise
    std::int64_t shm_now_ = 0;            // by the host's clock
    std::set<std::string> shm_names_;
    std::optional<std::vector<std::string>> fields_;
    std::string driver_;                   // whose `info` records follow
    std::optional<std::uint64_t> uptime_;  // whole seconds
    std::optional<Pid> shell_;
    bool foreign_proc_ = false;
    bool cut_ = false;
};

}  // namespace cleanslate::agentless
