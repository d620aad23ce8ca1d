// Leftovers of dead jobs in /dev/shm. Withheld unless the person allows it by its flag.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agentless/sequence.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {

namespace {

constexpr std::string_view no_shm = "--allow-shm was not given";

std::string size_text(std::uint64_t bytes) {
    constexpr std::uint64_t kib = 1024, mib = kib * 1024;
    if (bytes < kib) return fmt::format("{} bytes", bytes);
    if (bytes < mib) return fmt::format("{} KiB", (bytes + kib - 1) / kib);
    return fmt::format("{} MiB", bytes / mib + (bytes % mib == 0 ? 0 : 1));
}

// "3 MiB of alice, unchanged for 2h00m".
std::string about(const ShmFile& file) {
    auto text = fmt::format("{} of {}", size_text(file.bytes),
                            file.user.empty() ? fmt::format("uid {}", file.uid) : printable(file.user));
    // Longer than a duration may be: a clock that was set, for one.
    const auto age = std::chrono::seconds(std::min<std::uint64_t>(file.age_s.value_or(0), 315'360'000));
    if (file.age_s) text += fmt::format(", unchanged for {}", format_duration(age));
    return text;
}

// Absent: it is gone.
std::optional<std::string> why_kept(ShmReport::Result result) {
    switch (result) {
        case ShmReport::Result::removed:
        case ShmReport::Result::gone:
            return std::nullopt;
        case ShmReport::Result::changed:
            return "changed since the survey";
        case ShmReport::Result::in_use:
            return "somebody has it open or mapped by now";
        case ShmReport::Result::not_permitted:
            return "this login may not remove it";
        case ShmReport::Result::unreadable:
            return "who has it open could not be read";
    }
    return "who has it open could not be read";
}

std::string path_of(const ShmFile& file) { return "/dev/shm/" + ellipsize(printable(file.name), 120); }

}  // namespace

Withheld Sequence::withhold_file(std::size_t action, const ShmFile& file) {
    withhold(action, std::string(no_shm));
    return {path_of(file), std::string(no_shm)};
}

std::size_t Sequence::add_file(const ShmFile& file, int number) {
    const auto action = add_command(Kind::clean_shm, number, "rm " + path_of(file), about(file));
    outcome_.commands[action].bytes = file.bytes;
    return action;
}

// One note a reason.
void Sequence::note_kept(const std::vector<Withheld>& kept) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const auto& one : kept) by_reason[printable(one.why)].push_back(ellipsize(printable(one.what), 120));
    for (const auto& [why, names] : by_reason) {
        const auto shown = std::min<std::size_t>(names.size(), 3);
        const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
        add_finding(
            {Severity::note, "shm-kept",
             fmt::format("{}{} {}: {}", fmt::join(names.begin(), end, ", "),
                         names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "",
                         job_.dry_run ? "would be kept" : "kept", why),
             "do what the reason says, then clear again"});
    }
}

std::optional<Move> Sequence::begin_clean_shm(const playbooks::CleanShmStep& step) {
    const ShmChoice choice = choose_shm(step, *evidence_, policy());
    if (choice.files.empty() || !job_.allow_shm) {
        const int number = static_cast<int>(++step_);
        auto kept = choice.kept;
        for (const auto& file : choice.files) kept.push_back(withhold_file(add_file(file, number), file));
        note_kept(kept);
        return std::nullopt;
    }
    if (auto first = before_acting()) return first;

    note_kept(choice.kept);
    const int number = static_cast<int>(++step_);
    RemoveFiles move{{choice.files, evidence_->boot_id}, outcome_.commands.size()};
    for (const auto& file : choice.files) add_file(file, number);
    return move;
}

// On a host that is clean only this is left to do: leftovers are of interest right after their job is gone.
std::optional<Move> Sequence::tidy() {
    if (halted_ || command_failed_) return std::nullopt;
    tidied_ = true;
    while (step_ < steps_.size()) {
        if (const auto* step = std::get_if<playbooks::CleanShmStep>(&steps_[step_].action)) {
            if (auto move = begin_clean_shm(*step)) return move;
        } else {
            ++step_;
        }
    }
    return std::nullopt;
}

// Files are no processes: the host has not to settle for it, but what was seen of it holds no more.
void Sequence::files_removed(const RemoveFiles& move, const ShmReport& report) {
    evidence_.reset();
    next_look_ = Look::quick;
    std::vector<Withheld> kept;
    for (std::size_t i = 0; i < move.request.files.size(); ++i) {
        const ShmFile& file = move.request.files[i];
        const auto reply = std::ranges::find_if(report.files, [&](const ShmReport::File& f) {
            return f.device == file.device && f.inode == file.inode;
        });
        if (reply == report.files.end()) continue;
        CommandAction& action = outcome_.commands[move.first_action + i];
        const auto why = why_kept(reply->result);
        action.ran_to_end = true;
        action.ok = !why;
        if (reply->result == ShmReport::Result::gone) action.about += "; it was gone already";
        if (!why) continue;
        action.about += "; kept: " + *why;
        kept.push_back({path_of(file), *why});
    }
    note_kept(kept);
    if (!report.complete)
        failed(Error{"shm_incomplete", "clean_shm", "the script that removes files was cut before its end",
                     "some files may have been removed: run `cleanslate check` on this host"});
}

}  // namespace cleanslate::agentless
