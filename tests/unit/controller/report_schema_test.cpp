// docs/report.schema.json, by a validator that others keep.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "controller/json_report.hpp"
#include "corpus_reports.hpp"
#include "random_report.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr int no_validator = 77;

std::string json_of(const Report& report) {
    std::string text;
    write_json(report, false, [&](std::string_view piece) { text += piece; });
    return text;
}

class ReportSchema : public ::testing::Test {
  protected:
    // Debian's python, which has Debian's packages, whatever else is on the PATH.
    static constexpr const char* python = "/usr/bin/python3";

    void SetUp() override {
        if (::access(python, X_OK) != 0) GTEST_SKIP() << python << " is not there";
        if (validate({}) == no_validator) GTEST_SKIP() << said_;
    }
    // The validator's status for these documents; what it said in said_.
    int validate(const std::vector<std::string>& documents) {
        std::string command = std::string(python) + " " CLEANSLATE_SOURCE_DIR
                                                    "/tests/support/validate_json.py " CLEANSLATE_SOURCE_DIR
                                                    "/docs/report.schema.json";
        for (std::size_t i = 0; i < documents.size(); ++i) {
            const std::string file = folder_.file(std::to_string(i) + ".json");
            put(file, documents[i]);
            command += " " + file;
        }
        const int status = std::system((command + " >" + folder_.file("said") + " 2>&1").c_str());
        said_ = contents_of(folder_.file("said"));
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    void expect_valid(const std::vector<std::string>& documents) {
        EXPECT_EQ(validate(documents), 0) << said_.substr(0, 4000);
    }
    // What is wrong with a report that was changed.
    std::string refusal(const Report& report, const std::function<void(Json&)>& change) {
        Json json = Json::parse(json_of(report));
        change(json);
        EXPECT_EQ(validate({json.dump()}), 1);
        return said_;
    }
    TemporaryFolder folder_;
    std::string said_;
};

TEST_F(ReportSchema, DescribesTheGoldenReports) {
    expect_valid({json_of(golden_report()), json_of(golden_run()), json_of(report_of({}))});
}

TEST_F(ReportSchema, DescribesRandomReports) {
    RandomReports reports(20261201);
    std::vector<std::string> documents;
    for (int i = 0; i < 40; ++i) documents.push_back(json_of(reports.next()));
    expect_valid(documents);
}

TEST_F(ReportSchema, DescribesWhatTheCorpusIsJudgedAs) {
    std::vector<std::string> documents;
    for (const Report& report : corpus_reports()) documents.push_back(json_of(report));
    EXPECT_GT(documents.size(), 50u);
    expect_valid(documents);
}

TEST_F(ReportSchema, FindsWhatIsWrittenAndNotDescribed) {
    EXPECT_THAT(refusal(golden_report(), [](Json& json) { json["mood"] = 1; }), HasSubstr("mood"));
    EXPECT_THAT(refusal(golden_report(), [](Json& json) { json["hosts"][3]["gpus"][0]["mood"] = 1; }),
                HasSubstr("hosts[3].gpus[0]"));
    EXPECT_THAT(
        refusal(golden_report(), [](Json& json) { json["hosts"][3]["gpus"][0]["holders"][0]["mood"] = 1; }),
        HasSubstr("hosts[3].gpus[0].holders[0]"));
    EXPECT_THAT(refusal(golden_report(), [](Json& json) { json["hosts"][7]["actions"][0]["mood"] = 1; }),
                HasSubstr("hosts[7].actions[0]"));
}

TEST_F(ReportSchema, RefusesWhatIsMissing) {
    EXPECT_THAT(refusal(golden_report(), [](Json& json) { json.erase("summary"); }),
                HasSubstr("'summary' is a required property"));
    EXPECT_THAT(refusal(golden_report(), [](Json& json) { json["hosts"][0].erase("verdict"); }),
                HasSubstr("$.hosts[0]: 'verdict' is a required property"));
    EXPECT_THAT(refusal(golden_report(), [](Json& json) { json["hosts"][0]["gpus"][0].erase("used_mib"); }),
                HasSubstr("'used_mib' is a required property"));
    EXPECT_THAT(refusal(golden_run(), [](Json& json) { json["summary"].erase("commands"); }),
                HasSubstr("'commands' is a required property"));
}

TEST_F(ReportSchema, RefusesAWrongTypeAndAWordThatIsNone) {
    const auto with = [&](const char* place, const Json& value) {
        return refusal(golden_report(), [&](Json& json) { json[Json::json_pointer(place)] = value; });
    };
    EXPECT_THAT(with("/hosts/0/verdict", "fine"), HasSubstr("$.hosts[0].verdict"));
    EXPECT_THAT(with("/hosts/0/verdict", nullptr), HasSubstr("$.hosts[0].verdict"));
    EXPECT_THAT(with("/hosts/0/gpus/0/verdict", "unreachable"), HasSubstr("$.hosts[0].gpus[0].verdict"));
    EXPECT_THAT(with("/hosts/0/gpus/0/used_mib", "0"), HasSubstr("'0' is not of type"));
    EXPECT_THAT(with("/hosts/0/gpus/0/used_mib", -1), HasSubstr("less than the minimum"));
    EXPECT_THAT(with("/hosts/3/gpus/0/holders/0/start", 5'812), HasSubstr("5812 is not of type"));
    EXPECT_THAT(with("/schema", "cleanslate.report/2"), HasSubstr("$.schema"));
    EXPECT_THAT(with("/started", "yesterday"), HasSubstr("$.started"));
    EXPECT_THAT(with("/hosts/7/actions/0/result", "sent"), HasSubstr("$.hosts[7].actions[0].result"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
