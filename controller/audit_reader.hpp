#pragma once
// Reads an audit log back: its lines, as they come, into sweeps whose intents and results are paired. Little
// of the log is held at a time, however long it is; nothing of it is trusted.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "controller/audit_query.hpp"

namespace cleanslate::controller {

// One signal or command. Texts are as the log has them, at most 4096 bytes each; empty: not said.
struct AuditedAct {
    std::string time;  // of its intent, else of its result
    std::optional<std::int64_t> seconds_since_1970;
    std::string host, address, boot_id;
    std::optional<std::int64_t> step, pid;
    std::string start, owner, exe, unit;
    std::string signal;  // "TERM"; empty: a command
    std::string kind;    // of a command: "run", "stop", ...
    std::string command;
    std::string rule;       // why: of a command what it is about
    bool intended = false;  // its intent is in the log
    bool ended = false;     // its result is
    std::string result;     // "ended", "failed", ...; empty: null, its answer never came
    std::optional<std::int64_t> exit_status;
    std::optional<double> took;  // seconds
};

struct AuditedSweep {
    std::string id;
    std::string by, from, login;
    std::optional<std::int64_t> by_pid;
    std::string command_line;  // empty: its begin was not seen
    std::string began, ended;  // times; empty: not seen
    std::string why;           // how it ended: "done", "declined", ...
    std::optional<std::int64_t> exit_status;
    bool continued = false;  // its first acts were told before: it has more than are held at a time
    std::vector<AuditedAct> acts;
};

struct AuditQuery {
    HostFilter hosts;
    std::optional<std::int64_t> since;
};

class AuditReader {
  public:
    using Tell = std::function<void(const AuditedSweep&)>;
    // Bounds of what is held: 8 MiB of acts and 200 sweeps that have not ended; more are told early.
    struct Bounds {
        std::size_t bytes = 8u << 20;
        std::size_t sweeps = 200;
        std::size_t line = 1u << 20;  // longer ones are not read
    };

    AuditReader(AuditQuery query, Tell tell) : AuditReader(std::move(query), std::move(tell), Bounds{}) {}
    AuditReader(AuditQuery query, Tell tell, Bounds bounds);

    void feed(std::string_view piece);
    // The end of the log: tells what has not ended.
    void finish();

    std::uint64_t records() const { return records_; }
    std::uint64_t unreadable() const { return unreadable_; }              // lines that are no record
    std::uint64_t first_unreadable() const { return first_unreadable_; }  // its number, from 1; 0: none
    bool torn() const { return torn_; }  // the last line has no end, and is no record

  private:
    struct Open {
        AuditedSweep sweep;
        std::size_t bytes = 0;
        bool told = false;                                          // something of it
        bool recent = false;                                        // its begin or end fits the query's time
        std::unordered_multimap<std::string, std::size_t> pending;  // what identifies an act -> its place
    };
    using Place = std::list<Open>::iterator;

    void end_line(bool whole);
    bool read_record(std::string_view line);
    Open& open(const std::string& id);
    void add_act(Open& open, AuditedAct act, bool is_result);
    void keep_bounds(Open& latest);
    void tell_part(Open& open);
    void close(Place place);
    bool fits(const AuditedAct& act) const;

    AuditQuery query_;
    Tell tell_;
    Bounds bounds_;
    std::string line_;
    bool too_long_ = false;
    std::list<Open> open_;  // in the order of their first record
    std::unordered_map<std::string, Place> places_;
    std::size_t bytes_ = 0;
    std::uint64_t lines_ = 0, records_ = 0, unreadable_ = 0, first_unreadable_ = 0;
    bool torn_ = false;
};

}  // namespace cleanslate::controller
