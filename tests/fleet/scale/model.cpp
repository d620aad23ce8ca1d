#include "tests/fleet/scale/model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cleanslate::simulated {

std::string own_uuid(std::string_view uuid, std::uint32_t number) {
    constexpr std::size_t at = 4, digits = 8;  // GPU-01234567-...
    if (uuid.size() < at + digits) return std::string(uuid);
    return fmt::format("{}{:08x}{}", uuid.substr(0, at), number, uuid.substr(at + digits));
}

std::string Blueprint::survey(const std::vector<Life>& lives, const Script& script, const Own& own) {
    std::string key;
    for (const auto life : lives) key += static_cast<char>('0' + static_cast<int>(life));
    for (const auto& [name, value] : script.values)
        if (name != "nonce") key += "\n" + name + "=" + value;
    auto found = answers_.find(key);
    if (found == answers_.end())
        found = answers_.emplace(key, cut(survey_answer(host_, lives, script))).first;
    std::string out;
    for (const auto& [text, mark] : found->second) {
        out += text;
        if (mark == nonce_mark)
            out += script.value("nonce");
        else if (mark == boot_mark)
            out += own.boot_id;
        else if (mark == uptime_mark)
            fmt::format_to(std::back_inserter(out), "{}.{:02}", uptime_at_start_s + own.now.count() / 1000,
                           own.now.count() % 1000 / 10);
        else if (mark == clock_mark)
            fmt::format_to(std::back_inserter(out), "{}", 1'700'000'000 + own.now.count() / 1000);
        else if (!mark.empty())
            out += own_uuid(mark, own.number);
    }
    return out;
}

std::vector<Blueprint::Piece> Blueprint::cut(const std::string& answer) const {
    std::vector<std::string_view> marks{nonce_mark, boot_mark, uptime_mark, clock_mark};
    for (const auto& gpu : host_.gpus)
        if (gpu.uuid.starts_with("GPU-")) marks.push_back(gpu.uuid);
    std::vector<Piece> pieces;
    for (std::size_t at = 0; at < answer.size();) {
        std::size_t next = std::string::npos;
        std::string_view first;
        for (const auto mark : marks) {
            const auto here = answer.find(mark, at);
            if (here >= next) continue;
            next = here;
            first = mark;
        }
        pieces.push_back({answer.substr(at, next - at), first});
        at = next == std::string::npos ? next : next + first.size();
    }
    return pieces;
}

HostModel::HostModel(std::shared_ptr<Blueprint> blueprint, std::uint32_t number,
                     std::optional<Moment> redirty)
    : blueprint_(std::move(blueprint)),
      number_(number),
      boot_id_(fmt::format("{:08x}-5e1f-4c1e-a000-0000{:08x}", number, number)),
      ends_(blueprint_->host().processes.size()),
      redirty_(redirty) {}

bool HostModel::came_back(std::size_t process, Moment now) const {
    const auto& end = ends_[process];
    return redirty_ && end && now >= *end + *redirty_;
}

Life HostModel::life(std::size_t process, Moment now) const {
    const auto& end = ends_[process];
    if (!end || now < *end || came_back(process, now)) return Life::alive;
    return now < *end + Moment(host().release_ms) ? Life::memory_left : Life::gone;
}

std::string HostModel::survey(const Script& script, Moment now) {
    std::vector<Life> lives;
    for (std::size_t i = 0; i < ends_.size(); ++i) lives.push_back(life(i, now));
    return blueprint_->survey(lives, script, {number_, boot_id_, now});
}

std::optional<Moment> HostModel::signal(std::size_t process, std::string_view name, Moment now) {
    const auto& spec = host().processes[process];
    auto& end = ends_[process];
    if (came_back(process, now)) end.reset();
    const bool term = name == "TERM";
    const bool lives_on = (term && spec.ignores_term) || (name == "HUP" && spec.ignores_hangup) ||
                          name == "STOP" || name == "CONT" || name == "CHLD" || name == "WINCH";
    if (lives_on) return end;
    const Moment ends = now + (term ? Moment(spec.term_ms) : Moment(0));
    if (!end || ends < *end) end = ends;
    return end;
}

std::optional<Moment> HostModel::end_of(std::size_t process) const { return ends_[process]; }

const HostModel::Lock* HostModel::lock(Moment now) const {
    return lock_ && now < lock_->until ? &*lock_ : nullptr;
}

const HostModel::Lock& HostModel::take_lock(std::string who, std::uint64_t connection, Moment until) {
    constexpr long first_keeper = 30'000;  // beyond all other pids of the model
    lock_ = Lock{std::move(who), connection, first_keeper + keepers_++ % 1000, until};
    return *lock_;
}

bool HostModel::release_lock(long keeper, Moment now) {
    const auto* held = lock(now);
    if (held == nullptr || held->keeper != keeper) return false;
    lock_.reset();
    return true;
}

void HostModel::connection_ended(std::uint64_t connection) {
    if (lock_ && lock_->connection == connection) lock_.reset();
}

}  // namespace cleanslate::simulated
