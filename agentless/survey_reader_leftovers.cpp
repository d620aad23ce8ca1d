// Records of a survey about who is logged in, and about files in /dev/shm.

#include <algorithm>
#include <limits>

#include "agentless/record_values.hpp"
#include "agentless/survey_reader.hpp"

namespace cleanslate::agentless {
namespace {

bool is_session_id(std::string_view text) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, fits);
}

// Seconds since 1970: never negative, since the change of an inode is among them.
std::optional<std::int64_t> as_seconds(std::string_view text) {
    const auto number = parse_number(text);
    if (!number || *number > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

// PID,PID,...; - for nobody.
std::optional<std::vector<Pid>> as_pids(std::string_view text) {
    std::vector<Pid> pids;
    if (text == "-") return pids;
    for (const auto part : split(text, ',')) {
        const auto pid = as_pid(part);
        if (!pid) return std::nullopt;
        pids.push_back(*pid);
    }
    return pids;
}

bool is_file_name(std::string_view name) {
    return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
           name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

}  // namespace

bool SurveyReader::session(const Record& record) {
    const auto& values = record.values;
    if (evidence_.sessions || sessions_.size() >= most_sessions || !is_session_id(values[0])) return false;
    LoginSession session{std::string(values[0]), {}, {}, values[3] == "closing"};
    if (values[1] != "-" && !(session.uid = as_uid(values[1]))) return false;
    // A leader that has ended is 0 there.
    if (values[2] != "-" && values[2] != "0" && !(session.leader = as_pid(values[2]))) return false;
    if (std::ranges::find(sessions_, session.id, &LoginSession::id) != sessions_.end()) return false;
    sessions_.push_back(std::move(session));
    return true;
}

bool SurveyReader::sessions(const Record&) {
    if (evidence_.sessions) return false;
    evidence_.sessions = std::move(sessions_);
    return true;
}

// shmfile DEVICE INODE UID BYTES LINKS CHANGED NAME USERS
bool SurveyReader::shmfile(const Record& record) {
    const auto& values = record.values;
    const auto device = parse_number(values[0]);
    const auto inode = parse_number(values[1]);
    const auto uid = as_uid(values[2]);
    const auto bytes = parse_number(values[3]);
    const auto links = parse_number(values[4]);
    const auto changed = as_seconds(values[5]);
    auto users = as_pids(values[7]);
    if (evidence_.shm || shm_.size() >= most_shm_files) return false;
    if (!device || !inode || !uid || !bytes || !links || !changed || !users) return false;
    ShmFile file{text_of(values[6]), *device, *inode, *uid, {}, *bytes, *links, *changed, {}, *users};
    if (!is_file_name(file.name) || !shm_names_.insert(file.name).second) return false;
    shm_.push_back(std::move(file));
    return true;
}

// shm COUNT NOW: these were all.
bool SurveyReader::shm(const Record& record) {
    const auto now = as_seconds(record.values[1]);
    if (evidence_.shm || parse_number(record.values[0]) != shm_.size() || !now) return false;
    shm_now_ = *now;
    evidence_.shm = std::move(shm_);
    return true;
}

}  // namespace cleanslate::agentless
