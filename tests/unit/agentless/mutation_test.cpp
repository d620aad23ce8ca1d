// Clean captures, damaged in every way that can be thought of: no mutant that lost a row or a cell, or has
// one that is ill formed, is clean, neither for `parse` nor for `check`. What is ill formed is decided by
// naive_table.hpp, which knows no code of the project.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "agentless/nvidia_smi.hpp"
#include "agentless/parse_input.hpp"
#include "agentless/remote.hpp"
#include "base/text.hpp"
#include "tests/support/made_survey.hpp"
#include "tests/unit/agentless/mutants.hpp"
#include "tests/unit/agentless/naive_table.hpp"

namespace cleanslate::agentless {
namespace {

using testing::Capture;
using testing::Mutant;
using testing::NaiveTable;

std::vector<std::string> names(std::string_view list) {
    std::vector<std::string> all;
    for (const auto name : split(list, ',')) all.emplace_back(name);
    return all;
}

Capture capture(const std::string& file, int gpus, std::string_view columns) {
    std::ifstream in(std::string(CLEANSLATE_SOURCE_DIR) + "/tests/corpus/" + file, std::ios::binary);
    EXPECT_TRUE(in) << file;
    std::stringstream text;
    text << in.rdbuf();
    return {file, text.str(), gpus, names(columns)};
}

std::vector<Capture> captures() {
    constexpr std::string_view two = "index,memory.used", none = "index";
    return {
        capture("h200/index_used_idle.txt", 1, two),
        capture("h200/index_used_idle_header.txt", 1, none),
        capture("h200/index_used_idle_nounits.txt", 1, two),
        capture("h200/wide_idle_header.txt", 1, none),
        capture("smi/story_idle.txt", 8, two),
        capture("smi/idle.txt", 8, core_columns),
        capture("smi/idle_nounits.txt", 8, core_columns),
        capture("smi/idle_crlf.txt", 8, none),
        capture("smi/idle_columns_turned.txt", 8, none),
        capture("smi/idle_mig.txt", 2, core_columns),
        capture("smi/idle_mig_wide.txt", 2, none),
        capture("smi/idle_name_with_commas.txt", 1, core_columns),
        capture("smi/wide_all_well.txt", 2, none),
    };
}

// One capture's judges, as `parse` and as `check` have it.
class Judges {
  public:
    explicit Judges(const Capture& capture) : gpus_(capture.gpus) {
        const auto table = read_gpu_table(capture.text, {});
        core_ = table.columns == names(core_columns);
        for (const auto& row : table.rows) {
            host_.bus_ids.push_back(row.bus_id);
            host_.uuids.push_back(row.uuid);
        }
        host_.gpu.status = host_.app.status = "0";
    }
    bool parse_is_clean(const std::string& text) const {
        ParseOptions options;
        options.expect = gpus_;
        return judge_output(text, options).clean();
    }
    // Absent where no survey asks for such a table.
    std::optional<bool> check_is_clean(const std::string& text) {
        if (!core_) return std::nullopt;
        host_.gpu.text = text;
        const auto evidence = read_survey(host_.text(), "n");
        if (!evidence) return false;
        Expectations expectations;
        expectations.gpus = gpus_;
        return judge(*evidence, expectations).clean();
    }

  private:
    int gpus_;
    bool core_ = false;
    testing::MadeSurvey host_;
};

// With sanitizers, which look for other faults than wrong verdicts, a quarter of the mutants will do.
#ifdef __SANITIZE_ADDRESS__
constexpr int one_of = 4;
#else
constexpr int one_of = 1;
#endif

struct Count {
    int mutants = 0, ill_formed = 0, clean_by_parse = 0, checked = 0, clean_by_check = 0;
};

// A newline behind the last line is the survey's own: to `check`, a text cut right there is whole.
bool may_be_clean(const Mutant& mutant, const Capture& capture, bool whole_line) {
    if (mutant.fate != Mutant::Fate::by_reader) return mutant.fate == Mutant::Fate::clean;
    return NaiveTable(capture.columns, capture.gpus).is_good(mutant.text + (whole_line ? "\n" : ""));
}

TEST(Mutation, OfCleanCapturesIsNeverCleanWhereARowOrACellIsGoneOrIllFormed) {
    std::mt19937 random(20261129);
    std::map<std::string, Count> counts;
    int failures = 0, seen = 0;
    const auto expect = [&](bool right, const char* by, const Mutant& mutant, const Capture& capture) {
        if (right || ++failures > 30) return;
        ADD_FAILURE() << fmt::format("{}, {}, by {}:\n", capture.file, mutant.kind, by)
                      << printable(mutant.text);
    };
    for (const auto& capture : captures()) {
        Judges judges(capture);
        ASSERT_TRUE(NaiveTable(capture.columns, capture.gpus).is_good(capture.text)) << capture.file;
        ASSERT_TRUE(judges.parse_is_clean(capture.text)) << capture.file;
        ASSERT_TRUE(judges.check_is_clean(capture.text).value_or(true)) << capture.file;
        testing::each_mutant(capture, random, [&](const Mutant& mutant) {
            if (++seen % one_of != 0) return;
            auto& count = counts[mutant.kind];
            ++count.mutants;
            const bool may = may_be_clean(mutant, capture, false);
            if (!may) ++count.ill_formed;
            const bool parse = judges.parse_is_clean(mutant.text);
            count.clean_by_parse += parse ? 1 : 0;
            expect(may || !parse, "parse", mutant, capture);
            if (mutant.fate == Mutant::Fate::clean) expect(parse, "parse", mutant, capture);
            const auto check = judges.check_is_clean(mutant.text);
            if (!check) return;
            ++count.checked;
            count.clean_by_check += *check ? 1 : 0;
            expect(may_be_clean(mutant, capture, true) || !*check, "check", mutant, capture);
            if (mutant.fate == Mutant::Fate::clean) expect(*check, "check", mutant, capture);
        });
    }
    EXPECT_EQ(failures, 0);
    fmt::print("{:<28}{:>9}{:>12}{:>9}{:>11}{:>9}{:>9}{:>11}\n", "kind", "mutants", "ill formed",
               "parse:", "not clean", "clean", "check:", "not clean");
    for (const auto& [kind, c] : counts)
        fmt::print("{:<28}{:>9}{:>12}{:>9}{:>11}{:>9}{:>9}{:>11}\n", kind, c.mutants, c.ill_formed, "",
                   c.mutants - c.clean_by_parse, c.clean_by_parse, "",
                   fmt::format("{} of {}", c.checked - c.clean_by_check, c.checked));
}

}  // namespace
}  // namespace cleanslate::agentless
