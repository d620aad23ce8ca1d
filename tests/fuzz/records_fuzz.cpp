// Properties: any output is read to its end; without the end record nothing is evidence; a signal that was
// reported as sent is among the replies; and no text that a process chose, escaped as the scripts do, becomes
// a record.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "agentless/records.hpp"
#include "agentless/remote.hpp"

namespace {

using namespace cleanslate::agentless;

void check(bool holds) {
    if (!holds) std::abort();
}

void read_anything(std::string_view out) {
    const auto evidence = read_survey(out, "n");
    if (evidence) {
        check(evidence->complete == evidence->incomplete_reason.empty());
        if (evidence->complete) check(out.find("\nend n\n") != std::string_view::npos);
        if (!evidence->complete)
            check(evidence->processes.empty() && evidence->gpus.empty() && !evidence->holders_visible);
        for (const auto& process : evidence->processes) check(process.key.pid > 0);
    }
    const auto report = read_signal(out, "n");
    const auto frame = read_frame(out, "n");
    check(report.has_value() == frame.has_value());
    if (!frame) return;
    check(!report->complete || frame->complete);
    if (!frame->records.empty() && frame->records[0].word == "sent" && report->complete)
        check(!report->replies.empty());
    for (const auto& record : frame->records)
        for (const auto value : record.values) check(unescape(value).has_value());
}

void hide_in_a_value(std::string_view text) {
    check(unescape(escape(text)) == text);
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
    read_anything(text);
    hide_in_a_value(text);
    return 0;
}
