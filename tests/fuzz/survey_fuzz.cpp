// Property: where a whole survey is judged clean, a naive second reader of the same text finds in it: begin
// and end with the nonce; both queries ended with 0; for every expected index exactly one row, whose used
// memory is a plain number within the limit, what the driver lists of that GPU's processes taken off; nobody
// but what may be protected has a device file open or is listed by the driver; every GPU that PCI, the
// kernel's driver or `-L` knows is among the rows; and no optional field that was answered says it is sick.
//
// An input is a survey as it is; or, where it begins with "== ", what the queries printed, in sections
// ("== gpu 0": of the GPU query, which ended with 0; "== raw": records), from which the survey of a healthy
// host is made.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agentless/remote.hpp"
#include "agentless/verdict.hpp"
#include "tests/fuzz/naive_proof.hpp"

namespace {

namespace cs = cleanslate::agentless;
using naive::pieces;

constexpr std::string_view asked = "gpu_recovery_action,remapped_rows.pending,fabric.state";

void check(bool holds) {
    if (!holds) std::abort();
}

// --- what a clean verdict must rest on ---------------------------------------------------------------------

void expect_proof(std::string_view text, std::size_t count) {
    const auto frame = naive::frame(text);
    check(frame.begun && frame.complete);
    const auto survey = naive::read(frame.records);
    check(naive::ended_well(survey, "gpu") && naive::ended_well(survey, "app"));
    for (std::size_t i = 0; i < count; ++i) check(naive::has_one_good_row(static_cast<int>(i), survey));
    for (const auto& [pid, process] : survey.processes) {
        auto files = process.files;
        files.erase("");
        if (!files.empty()) check(naive::may_be_protected(pid, survey));
    }
    check(naive::apps_are_protected(survey));
    check(!naive::optional_says_sick(survey));
}

// --- surveys ----------------------------------------------------------------------------------------------

void judge(std::string_view text) {
    const auto evidence = cs::read_survey(text, "n");
    if (!evidence) return;
    check(evidence->gpus.size() <= 1024 && evidence->messages.size() <= 257);
    cs::Expectations expectations;
    expectations.max_used = cleanslate::Mebibytes{naive::limit};
    for (int count = 1; count <= 3; ++count) {
        expectations.gpus = count;
        if (cs::judge(*evidence, expectations).clean()) expect_proof(text, static_cast<std::size_t>(count));
    }
    expectations.gpus.reset();
    if (!cs::judge(*evidence, expectations).clean()) return;
    const auto survey = naive::read(naive::frame(text).records);
    check(survey.drivers_shown || survey.nodes_shown);
    const auto count = survey.drivers_shown ? survey.drivers.size() : survey.nodes;
    check(count > 0);
    check(naive::every_source_is_met(survey));
    expect_proof(text, count);
}

std::string escaped(std::string_view bytes) {
    if (bytes.empty()) return "-";
    constexpr std::string_view hex = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (c > ' ' && c <= '~' && c != '%' && bytes != "-") {
            text += c;
        } else {
            text += '%';
            text += hex[byte >> 4];
            text += hex[byte & 15];
        }
    }
    return text;
}

// A healthy idle host with two GPUs, and what the input says that its queries printed.
std::string wrapped(std::string_view input) {
    std::string text =
        "motd\nbegin n 1\nmeta boot b\nmeta uid 0\nmeta ticks 100\nmeta uptime 500.00\nmeta shell 20\nnodes\n"
        "node 0\nnode 1\ndrivers\n";
    std::string word, status;
    const auto close = [&] {
        if (!status.empty()) text += "tool " + word + " " + escaped(status) + "\n";
    };
    for (const auto& line : pieces(input, '\n')) {
        if (line.starts_with("== ")) {
            close();
            const auto parts = pieces(line, ' ');
            word = parts[1];
            status = parts.size() > 2 ? parts[2] : "";
            if (word == "opt") text += "fields " + std::string(asked) + "\n";
        } else if (word == "raw") {
            text += line + "\n";
        } else if (!word.empty()) {
            text += word + " " + escaped(line) + "\n";
        }
    }
    close();
    const std::string stat = " 20 20 0 -1 0 0 0 0 0 0 0 0 0 0 20 0 1 0 ";
    text += "done queries\nproc 1 0 " + escaped("1 (init) S 0" + stat + "1 0 0") + "\nmount 1 m\nproc 20 0 " +
            escaped("20 (sh) S 1" + stat + "99 0 0") + "\nmount 20 m\ndone files\ndone maps\ndone argv\n";
    for (const char* minor : {"0", "1"})
        text += "driver 0000:0" + std::string(minor) + ":00.0\ninfo " +
                escaped("GPU UUID: \t GPU-0000000" + std::string(minor) + "-1111-2222-3333-444444444444") +
                "\ninfo " + escaped("Device Minor: \t " + std::string(minor)) + "\n";
    return text + "done driver\ndone exe\nend n\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    judge(text.starts_with("== ") ? wrapped(text) : std::string(text));
    return 0;
}
