// Reports of real sweeps read back: `report` tells of them what the sweeps told, and their JSON is what its
// schema says.

#include "tests/integration/program.hpp"

namespace cleanslate::testing {
namespace {

class ReadBack : public ::testing::Test {
  protected:
    void SetUp() override {
        SKIP_WITHOUT_ROOT();
        fleet_.emplace(std::vector<std::string>{"demo/hosts"});
        ASSERT_EQ(fleet_->started().status, 0) << fleet_->started().out;
        operator_.emplace(*fleet_);
    }
    // Of the program, in this operator's surroundings, without the options of a sweep.
    Ended report(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {program(), "report"});
        return testing::run({arguments, "", operator_->environment(), std::chrono::seconds(60)});
    }
    std::string file(const std::string& name) const { return operator_->home() / name; }
    // What is said before the last line, which also says which files were written; where it is long, it goes
    // on in lines that begin with blanks.
    static std::string body(const std::string& text) {
        std::size_t begin = text.size();
        do begin = text.rfind('\n', begin - 2) + 1;
        while (begin > 1 && text[begin] == ' ');
        return text.substr(0, begin);
    }
    // A sweep into the file.
    void expect_told_again(std::vector<std::string> arguments, const std::string& json) {
        const auto marker = std::find(arguments.begin(), arguments.end(), "--");
        const std::vector<std::string> forms{"--format", "json=" + json, "--format", "text"};
        arguments.insert(marker, forms.begin(), forms.end());
        const auto sweep = operator_->run(arguments);
        const auto text = report({"show", json});
        EXPECT_EQ(text.status, sweep.status) << text.err;
        EXPECT_EQ(body(text.out), body(sweep.out));
        EXPECT_EQ(report({"show", json, "--format", "json"}).out, contents(json));
    }
    std::optional<RunningFleet> fleet_;
    std::optional<Operator> operator_;
};

TEST_F(ReadBack, EverySweepIsToldAgain) {
    expect_told_again({"check"}, file("check.json"));
    expect_told_again({"clear", "-l", "all", "--dry-run"}, file("plan.json"));
    expect_told_again({"run", "-l", "all", "--yes", "--", "echo $$; exit 3"}, file("run.json"));
    expect_told_again({"clear", "-l", "all", "--yes"}, file("clear.json"));
    const auto valid =
        testing::run({{"/usr/bin/python3", CLEANSLATE_SOURCE_DIR "/tests/support/validate_json.py",
                       CLEANSLATE_SOURCE_DIR "/docs/report.schema.json", file("check.json"),
                       file("plan.json"), file("run.json"), file("clear.json")},
                      "",
                      {},
                      std::chrono::seconds(120)});
    if (valid.status == 77) GTEST_SKIP() << valid.out;
    EXPECT_EQ(valid.status, 0) << valid.out;
}

TEST_F(ReadBack, ShardsAreMerged) {
    const auto shard = [&](const std::string& limit, const std::string& name) {
        operator_->run({"check", "-l", limit, "--format", "json=" + file(name)});
    };
    shard("all", "all.json");
    shard("gpu01,gpu02,gpu03", "one.json");
    shard("all,!gpu01,!gpu02,!gpu03", "two.json");
    const auto merged = report({"merge", file("one.json"), file("two.json"), "--format", "json"});
    const auto all = json::parse(contents(file("all.json")));
    const auto joined = json::parse(merged.out, nullptr, false);
    ASSERT_TRUE(joined.is_object()) << merged.err;
    EXPECT_EQ(joined["summary"], all["summary"]);
    EXPECT_EQ(merged.status, all["summary"]["exit_status"]);
    ASSERT_EQ(joined["hosts"].size(), all["hosts"].size());
    for (std::size_t i = 0; i < all["hosts"].size(); ++i)
        EXPECT_EQ(joined["hosts"][i]["verdict"], all["hosts"][i]["verdict"]) << all["hosts"][i]["name"];
    const auto twice = report({"merge", file("all.json"), file("two.json")});
    EXPECT_EQ(twice.status, 2);
    EXPECT_NE(twice.err.find("stands in " + file("all.json") + " and in " + file("two.json")),
              std::string::npos)
        << twice.err;
}

}  // namespace
}  // namespace cleanslate::testing
