// Properties: of any output, a frame is whole just where a naive second reader says so, with the same
// records; these printed again are read back as they were; without the end record nothing is evidence; a
// signal that was reported as sent is among the replies; no reply of a script that acts says more than a
// naive reader finds in the text (a lock taken, a GPU reset, a file removed, a reboot); files and sessions
// are shown only where their last record is there; and no text that a process chose, escaped as the scripts
// do, becomes a record.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "agentless/records.hpp"
#include "agentless/remote.hpp"
#include "tests/fuzz/naive_survey.hpp"

namespace {

using namespace cleanslate::agentless;

void check(bool holds) {
    if (!holds) std::abort();
}

// Whether two cuts in a row are one or two says nothing.
template <class Records>
void fold_cuts(Records& records) {
    const auto again = std::unique(records.begin(), records.end(), [](const auto& a, const auto& b) {
        return a.word == "cut" && b.word == "cut" && a.values.empty() && b.values.empty();
    });
    records.erase(again, records.end());
}

bool same(std::vector<Record> ours, std::vector<naive::Record> theirs) {
    fold_cuts(ours);
    fold_cuts(theirs);
    if (ours.size() != theirs.size()) return false;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (ours[i].word != theirs[i].word || ours[i].values.size() != theirs[i].values.size()) return false;
        for (std::size_t k = 0; k < ours[i].values.size(); ++k)
            if (unescape(ours[i].values[k]) != theirs[i].values[k]) return false;
    }
    return true;
}

// Records in the grammar. A `cut` takes the line in front of it along: an empty one stands there for that.
std::string printed(const std::vector<Record>& records) {
    std::string text = "begin n 1\n";
    for (const auto& record : records) {
        if (record.word == "cut" && record.values.empty()) text += '\n';
        text += record.word;
        for (const auto value : record.values) {
            text += ' ';
            text += escape(*unescape(value));
        }
        text += '\n';
    }
    return text + "end n\n";
}

void read_frame_twice(std::string_view out) {
    const auto frame = read_frame(out, "n");
    const auto naive = naive::frame(out);
    check(frame.has_value() == naive.begun);
    if (!frame) return;
    check(frame->complete == naive.complete);
    check(frame->complete == frame->problem.empty());
    check(frame->records.size() <= out.size());
    if (!frame->complete) return;
    check(same(frame->records, naive.records));
    const auto text = printed(frame->records);
    // An escape may be longer than it need be, so that the text is no longer than it was.
    check(text.size() <= out.size() + frame->records.size() * 2 + 16);
    const auto again = read_frame(text, "n");
    check(again.has_value() && again->complete && same(again->records, naive.records));
}

void read_anything(std::string_view out) {
    const auto evidence = read_survey(out, "n");
    if (evidence) {
        check(evidence->complete == evidence->incomplete_reason.empty());
        if (evidence->complete) check(naive::frame(out).complete);
        if (!evidence->complete)
            check(evidence->processes.empty() && evidence->gpus.empty() && !evidence->holders_visible);
        for (const auto& process : evidence->processes) check(process.key.pid > 0);
    }
    const auto report = read_signal(out, "n");
    const auto frame = read_frame(out, "n");
    check(report.has_value() == frame.has_value() && evidence.has_value() == frame.has_value());
    if (!frame) return;
    check(!report->complete || frame->complete);
    if (!report->complete) return;
    for (const auto& record : frame->records) {
        if (record.word != "sent") continue;
        bool there = false;
        for (const auto& reply : report->replies)
            there = there || (reply.sent && std::to_string(reply.key.pid) == record.values[0]);
        check(there || record.values[0].starts_with('0'));
    }
}

// Whether a record of the frame has this word and these first values.
bool said(const naive::Frame& frame, const std::string& word, const std::vector<std::string>& values) {
    for (const auto& record : frame.records) {
        if (record.word != word || record.values.size() < values.size()) continue;
        if (std::equal(values.begin(), values.end(), record.values.begin())) return true;
    }
    return false;
}

// Of whole frames only: what came of one that was cut is a part of it.
void read_acts(std::string_view out) {
    const auto frame = naive::frame(out);
    const auto lock = read_lock(out, "n");
    const auto reset = read_reset(out, "n");
    const auto shm = read_shm(out, "n");
    const auto reboot = read_reboot(out, "n");
    check(reset.has_value() == frame.begun && shm.has_value() == frame.begun &&
          reboot.has_value() == frame.begun);
    check(!lock || frame.begun);
    if (!frame.begun) return;
    check(frame.complete || !(reset->complete || shm->complete || reboot->complete));
    if (lock && lock->result == LockReport::Result::taken) check(lock->keeper.pid > 0);
    if (!frame.complete) return;
    if (lock) check(frame.records.size() == 1 && frame.records[0].word == "lock");
    if (lock && lock->result == LockReport::Result::taken) check(said(frame, "lock", {"taken"}));
    if (lock && lock->result == LockReport::Result::busy) check(said(frame, "lock", {"busy", lock->holder}));
    for (const auto& gpu : reset->gpus) {
        check(said(frame, "gpu", {gpu.bus_id}));
        if (gpu.status && reset->complete) check(!said(frame, "gpu", {gpu.bus_id, ""}));
    }
    std::size_t removed = 0;
    for (const auto& record : frame.records)
        removed += record.word == "file" && record.values.size() == 3 && record.values[2] == "removed";
    std::size_t ours = 0;
    for (const auto& file : shm->files) ours += file.result == ShmReport::Result::removed;
    check(ours <= removed && (!shm->complete || ours == removed));
    check(!reboot->started || said(frame, "reboot", {"started"}));
}

void read_leftovers(std::string_view out) {
    const auto evidence = read_survey(out, "n");
    if (!evidence || !evidence->complete) return;
    const auto frame = naive::frame(out);
    if (evidence->sessions) check(said(frame, "sessions", {}));
    if (!evidence->shm) return;
    check(said(frame, "shm", {}) && said(frame, "done", {"files"}) && said(frame, "done", {"maps"}));
    std::size_t files = 0;
    for (const auto& record : frame.records) files += record.word == "shmfile";
    check(files == evidence->shm->size());
    for (const auto& file : *evidence->shm) {
        check(!file.name.empty() && file.name.find('/') == std::string::npos);
        for (const auto pid : file.users) check(pid > 0);
    }
}

void hide_in_a_value(std::string_view text) {
    check(unescape(escape(text)) == text);
    check(naive::decoded(escape(text)) == text);
    const std::string out =
        "begin n 1\nproc 7 0 7%20(x)%20S%201%201%201%200%20-1%200%200%200%200%200%200%200%200%200%20"
        "20%200%201%200%2070%200%200\nexe 7 " +
        escape(std::string("/") + std::string(text)) + "\ncgroup 7 " + escape(text) + "\nargv 7 " +
        escape(text) + "\nend n\n";
    if (text.size() > 16'000) return;  // a longer one would not be printed
    const auto evidence = read_survey(out, "n");
    check(evidence.has_value() && evidence->complete && evidence->processes.size() == 1);
    check(!evidence->processes[0].opens_device() && evidence->apps.empty() && evidence->stuck.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    read_frame_twice(text);
    read_anything(text);
    read_acts(text);
    read_leftovers(text);
    hide_in_a_value(text);
    return 0;
}
