#pragma once
// A host as a small model: what its description says, its processes on their way out, its lock. No socket and
// no clock of its own: whoever asks says how late it is.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/fleet/description.hpp"
#include "tests/fleet/scale/script.hpp"
#include "tests/fleet/scale/survey_answer.hpp"

namespace cleanslate::simulated {

using Moment = std::chrono::milliseconds;  // since the fleet was started

// The first thing in a description that the model cannot do, in its words ("process worker: restart"); empty
// where it can do all of it.
std::string beyond_model(const Host& host);

// What hosts of one description have in common. Answers to a survey are put together once for each state and
// question, and shared.
class Blueprint {
  public:
    explicit Blueprint(Host host) : host_(std::move(host)) {}
    Blueprint(const Blueprint&) = delete;

    const Host& host() const { return host_; }

    struct Own {  // of one host and one answer
        std::uint32_t number = 0;
        std::string_view boot_id;
        Moment now{0};
    };
    std::string survey(const std::vector<Life>& lives, const Script& script, const Own& own);

  private:
    // Text, and what is put in behind it: a mark of survey_answer.hpp, or a GPU's uuid.
    struct Piece {
        std::string text;
        std::string_view mark;
    };
    std::vector<Piece> cut(const std::string& answer) const;

    Host host_;
    std::map<std::string, std::vector<Piece>> answers_;
};

// The host's GPU uuids are those of the description with the host's number in front.
std::string own_uuid(std::string_view uuid, std::uint32_t number);

class HostModel {
  public:
    // `redirty`: a process that ended is back so long after, as the same one.
    HostModel(std::shared_ptr<Blueprint> blueprint, std::uint32_t number,
              std::optional<Moment> redirty = std::nullopt);

    const Host& host() const { return blueprint_->host(); }
    const std::string& boot_id() const { return boot_id_; }
    Life life(std::size_t process, Moment now) const;

    std::string survey(const Script& script, Moment now);

    // Sends a signal to the process; when it ends of it, absent where it does not. Later ones may end it
    // sooner.
    std::optional<Moment> signal(std::size_t process, std::string_view name, Moment now);
    std::optional<Moment> end_of(std::size_t process) const;

    // The lock: who has it, and on whose connection it hangs.
    struct Lock {
        std::string who;
        std::uint64_t connection = 0;
        long keeper = 0;
        Moment until{0};
    };
    const Lock* lock(Moment now) const;
    const Lock& take_lock(std::string who, std::uint64_t connection, Moment until);
    bool release_lock(long keeper, Moment now);
    void connection_ended(std::uint64_t connection);

  private:
    std::shared_ptr<Blueprint> blueprint_;
    std::uint32_t number_;
    std::string boot_id_;
    bool came_back(std::size_t process, Moment now) const;

    std::vector<std::optional<Moment>> ends_;  // of each process
    std::optional<Moment> redirty_;
    std::optional<Lock> lock_;
    long keepers_ = 0;
};

}  // namespace cleanslate::simulated
