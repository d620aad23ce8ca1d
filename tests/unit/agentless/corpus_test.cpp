// Every file of tests/corpus against tests/corpus/expected.tsv: each text is judged as `parse` does, and as
// `check` does from the survey of a host whose nvidia-smi printed it. README.md there has the columns.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "agentless/nvidia_smi.hpp"
#include "agentless/parse_input.hpp"
#include "agentless/remote.hpp"
#include "base/text.hpp"
#include "tests/support/made_survey.hpp"

namespace cleanslate::agentless {
namespace {

using testing::MadeSurvey;

const std::filesystem::path folder = std::string(CLEANSLATE_SOURCE_DIR) + "/tests/corpus";

std::string contents(const std::string& file) {
    std::ifstream in(folder / file, std::ios::binary);
    EXPECT_TRUE(in) << file;
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

struct Line {
    std::string file, kind;
    int gpus = 0;
    std::string status, parse, check;
    std::vector<std::string> codes;
    std::map<std::string, std::string> options;

    std::string shown() const {
        std::string text = fmt::format("{} of {} GPUs, status {}", file, gpus, status);
        for (const auto& [key, value] : options) text += fmt::format(", {} {}", key, value);
        return text;
    }
    std::optional<std::string> option(const std::string& key) const {
        const auto found = options.find(key);
        if (found == options.end()) return std::nullopt;
        return found->second;
    }
};

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> found;
    for (const auto word : split(text, ' '))
        if (!word.empty() && word != "-") found.emplace_back(word);
    return found;
}

std::vector<Line> table() {
    std::vector<Line> lines;
    const auto text = contents("expected.tsv");
    for (const auto row : split(text, '\n')) {
        if (row.empty() || row.starts_with('#')) continue;
        const auto cells = split(row, '\t');
        EXPECT_EQ(cells.size(), 8u) << row;
        if (cells.size() != 8) continue;
        Line line{std::string(cells[0]),
                  std::string(cells[1]),
                  std::stoi(std::string(cells[2])),
                  std::string(cells[3]),
                  std::string(cells[4]),
                  std::string(cells[5]),
                  words(cells[6]),
                  {}};
        for (const auto& word : words(cells[7])) {
            const auto equals = word.find('=');
            line.options[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

// What the files of optional/ hold behind index, uuid and bus id.
constexpr std::string_view all_fields =
    "gpu_recovery_action,remapped_rows.pending,remapped_rows.failure,retired_pages.pending,"
    "ecc.errors.uncorrected.volatile.total,mig.mode.current,mig.mode.pending,addressing_mode,fabric.state,"
    "fabric.status,clocks_event_reasons.hw_slowdown,clocks_event_reasons.hw_thermal_slowdown,"
    "clocks_event_reasons.sw_thermal_slowdown,clocks_event_reasons.hw_power_brake_slowdown,persistence_mode,"
    "memory.reserved,driver_version";

// --- the host ---------------------------------------------------------------------------------------------

// The GPUs of the corpus: index i is on the i-th of these buses, and has i in its uuid.
std::string bus_of(const Line& line, int i) {
    constexpr const char* buses[]{"19", "3b", "4c", "5d", "9b", "bb", "cb", "db"};
    return line.option("bus").value_or(fmt::format("00000000:{}:00.0", buses[i % 8]));
}

std::string uuid_of(const Line& line, int i) {
    return line.option("uuid").value_or(fmt::format("GPU-{:08}-1111-2222-3333-444444444444", i));
}

std::string idle_row(const Line& line, int i, std::int64_t used) {
    return fmt::format("{}, {}, {}, {} MiB, 143771 MiB, 35, P0, NVIDIA H200\n", i, uuid_of(line, i),
                       bus_of(line, i), used);
}

// What a GPU has in use is what its apps have.
std::int64_t listed_on(const std::string& uuid, const std::string& apps) {
    std::int64_t sum = 0;
    for (const auto& app : read_app_table(apps).apps)
        if (app.uuid == uuid && app.used) sum += app.used->count;
    return sum;
}

MadeSurvey host_of(const Line& line) {
    MadeSurvey host;
    for (int i = 0; i < line.gpus; ++i) {
        host.bus_ids.push_back(bus_of(line, i));
        host.uuids.push_back(uuid_of(line, i));
    }
    host.driver_version = line.option("driver").value_or(host.driver_version);
    host.hidden = line.option("hidden").has_value();
    if (const auto uid = line.option("uid")) host.uid = static_cast<unsigned>(std::stoul(*uid));
    const auto text = contents(line.file);
    const auto apps = line.kind == "app" ? text : std::string();
    for (int i = 0; i < line.gpus; ++i) host.gpu.text += idle_row(line, i, listed_on(uuid_of(line, i), apps));
    host.gpu.status = host.app.status = "0";
    auto& query = line.kind == "app"        ? host.app
                  : line.kind == "list"     ? host.list
                  : line.kind == "optional" ? host.opt
                                            : host.gpu;
    query = {text, line.status};
    const bool no_more = line.kind == "gpu" && (line.status == "timeout" || line.status == "missing");
    if (no_more) host.app.status = "";
    return host;
}

void add_processes(const Line& line, MadeSurvey& host) {
    const auto apps = read_app_table(host.app.text).apps;
    for (const std::string how : {"living", "zombie", "looking"}) {
        const auto pids = line.option(how);
        if (!pids) continue;
        for (const auto pid : split(*pids, ',')) {
            testing::MadeProcess process;
            process.pid = std::stoi(std::string(pid));
            if (how == "zombie") process.state = 'Z';
            process.opens = how == "living";
            for (const auto& app : apps)
                if (app.pid == process.pid && app.name.starts_with('/')) process.exe = app.name;
            host.processes.push_back(std::move(process));
        }
    }
}

Expectations expectations_of(const Line& line) {
    Expectations expectations;
    expectations.gpus = line.gpus;
    expectations.unified_memory = line.option("unified").has_value();
    if (const auto most = line.option("max-used")) expectations.max_used = Mebibytes{std::stoi(*most)};
    return expectations;
}

// --- judgements -------------------------------------------------------------------------------------------

HostVerdict judged_by_parse(const Line& line) {
    ParseOptions options;
    options.expect = line.gpus;
    options.max_used = expectations_of(line).max_used;
    return judge_output(contents(line.file), options);
}

// As judged_by_check, for a table whose columns no survey asks for.
HostVerdict judged_from_rows(const Line& line) {
    auto host = host_of(line);
    const auto text = std::exchange(host.gpu.text, "");
    auto evidence = read_survey(host.text(), "n");
    EXPECT_TRUE(evidence.has_value() && evidence->complete) << line.shown();
    if (!evidence) return {};
    const auto table = read_gpu_table(text, {});
    evidence->gpus = table.rows;
    evidence->messages = table.messages;
    return judge(*evidence, expectations_of(line));
}

HostVerdict judged_by_check(const Line& line) {
    std::string survey, nonce = "n";
    if (line.kind == "survey") {
        survey = contents(line.file);
        const auto begin = survey.find("begin ") + 6;
        nonce = survey.substr(begin, survey.find(' ', begin) - begin);
    } else {
        auto host = host_of(line);
        add_processes(line, host);
        if (const auto fields = line.option("fields"))
            host.optional_fields = *fields == "all" ? std::string(all_fields) : *fields;
        survey = host.text();
    }
    const auto evidence = read_survey(survey, nonce);
    EXPECT_TRUE(evidence.has_value()) << line.shown();
    if (!evidence) return {};
    if (line.kind != "survey") {
        EXPECT_TRUE(evidence->complete) << evidence->incomplete_reason;
    }
    return judge(*evidence, expectations_of(line));
}

bool is_core_table(const std::string& text) {
    const auto columns = read_gpu_table(text, {}).columns;
    const auto core = split(core_columns, ',');
    return columns.empty() || std::ranges::equal(columns, core);
}

std::set<std::string> codes_of(const HostVerdict& host) {
    std::set<std::string> codes;
    for (const auto& found : host.findings) codes.insert(found.code);
    for (const auto& gpu : host.gpus)
        for (const auto& found : gpu.findings) codes.insert(found.code);
    return codes;
}

// "parse:row-repaired" is one of `parse` only.
void expect_judgement(const Line& line, const std::string& by, const std::string& wanted,
                      const HostVerdict& host) {
    const std::string got(to_string(host.verdict));
    const auto codes = codes_of(host);
    std::string all;
    for (const auto& code : codes) all += " " + code;
    EXPECT_EQ(got, wanted) << fmt::format("{}, {}: expected {}, got {}:{}", line.shown(), by, wanted, got,
                                          all);
    for (const auto& code : line.codes) {
        const auto colon = code.find(':');
        if (colon != std::string::npos && !by.starts_with(code.substr(0, colon))) continue;
        EXPECT_TRUE(codes.contains(code.substr(colon + 1)))
            << fmt::format("{}, {}: lacks {}, has:{}", line.shown(), by, code, all);
    }
}

TEST(Corpus, IsJudgedAsTheTableSaysByParseAndByCheck) {
    std::map<std::string, int> judgements;
    const auto expect = [&](const Line& line, const std::string& by, const std::string& wanted,
                            const HostVerdict& host) {
        fmt::print("{:<58} {:<18} expected {:<8} got {}\n", line.file, by, wanted, to_string(host.verdict));
        expect_judgement(line, by, wanted, host);
        ++judgements[by.substr(0, by.find(' ')) + " " + wanted];
    };
    for (const auto& line : table()) {
        SCOPED_TRACE(line.shown());
        if (line.parse != "-") expect(line, "parse", line.parse, judged_by_parse(line));
        if (line.check == "-") continue;
        const bool rows = line.kind == "gpu";
        if (rows) expect(line, "check of rows", line.check, judged_from_rows(line));
        if (!rows || is_core_table(contents(line.file)))
            expect(line, "check of a survey", line.check, judged_by_check(line));
    }
    for (const auto& [what, count] : judgements) fmt::print("{:<16} {}\n", what, count);
}

TEST(Corpus, HasALineForEachFileAndAFileForEachLine) {
    std::set<std::string> listed, there;
    for (const auto& line : table()) listed.insert(line.file);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        const auto file = std::filesystem::relative(entry.path(), folder).string();
        if (file != "README.md" && file != "expected.tsv") there.insert(file);
    }
    EXPECT_EQ(listed, there);
    fmt::print("{} files, {} lines\n", there.size(), table().size());
}

TEST(Corpus, SaysNothingThatIsNotOneOfItsWords) {
    const std::set<std::string> kinds{"gpu", "app", "list", "optional", "survey", "other"};
    const std::set<std::string> verdicts{"-", "clean", "dirty", "sick", "unknown"};
    std::set<std::string> seen;
    for (const auto& line : table()) {
        EXPECT_TRUE(kinds.contains(line.kind)) << line.shown();
        EXPECT_TRUE(verdicts.contains(line.parse) && verdicts.contains(line.check)) << line.shown();
        EXPECT_TRUE(line.parse != "-" || line.check != "-") << line.shown();
        EXPECT_TRUE(seen.insert(line.shown()).second) << "twice: " << line.shown();
    }
}

}  // namespace
}  // namespace cleanslate::agentless
