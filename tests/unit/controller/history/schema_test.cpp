#include "controller/history/schema.hpp"

#include <gmock/gmock.h>

#include <array>

#include "controller/history/course.hpp"
#include "controller/history/report_parts.hpp"
#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool at_once(Milliseconds) { return false; }

class Schemas : public WithHistory {
  protected:
    std::unique_ptr<Database> raw() {
        if (!std::filesystem::exists(path_)) put(path_, "");
        auto opened = Database::open(path_, at_once);
        EXPECT_TRUE(opened);
        return opened ? std::move(*opened) : nullptr;
    }
    std::string path_ = folder_.file("raw.db");
};

constexpr Step first_step = "CREATE TABLE hosts(id INTEGER PRIMARY KEY, name TEXT);";
constexpr Step second_step =
    "CREATE TABLE named(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, length INTEGER NOT NULL);"
    "INSERT INTO named SELECT id, name, length(name) FROM hosts; DROP TABLE hosts;";
constexpr Step broken_step =
    "CREATE TABLE half(a); INSERT INTO half VALUES(1); INSERT INTO nowhere VALUES(1);";

TEST_F(Schemas, AreMadeStepByStep) {
    const auto db = raw();
    ASSERT_TRUE(migrate(*db, std::array{first_step}));
    db->execute("INSERT INTO hosts(name) VALUES('gpu01'), ('gpu2')");
    ASSERT_TRUE(migrate(*db, std::array{first_step, second_step}));
    EXPECT_EQ(db->integer_of("PRAGMA user_version"), 2);
    EXPECT_EQ(db->integer_of("PRAGMA application_id"), application_id);
    EXPECT_EQ(db->text_of("SELECT group_concat(name || length) FROM named"), "gpu015,gpu24");
    ASSERT_TRUE(migrate(*db, std::array{first_step, second_step})) << "nothing is left to do";
}

TEST_F(Schemas, AStepThatFailsLeavesTheVersionBefore) {
    const auto db = raw();
    ASSERT_TRUE(migrate(*db, std::array{first_step}));
    db->execute("INSERT INTO hosts(name) VALUES('gpu01')");
    EXPECT_FALSE(migrate(*db, std::array{first_step, broken_step}));
    db->forget_error();
    EXPECT_EQ(db->integer_of("PRAGMA user_version"), 1);
    EXPECT_EQ(db->integer_of("SELECT count(*) FROM hosts"), 1);
    EXPECT_EQ(db->integer_of("SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
    ASSERT_TRUE(migrate(*db, std::array{first_step, second_step}));
}

TEST_F(Schemas, ANewerFileIsLeftAsItIs) {
    { ASSERT_TRUE(migrate(*raw(), std::array{first_step, second_step})); }
    const std::string before = contents_of(path_);
    const auto refused = migrate(*raw(), std::array{first_step});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("a newer cleanslate has written it (version 2;"));
    EXPECT_TRUE(contents_of(path_) == before);
}

TEST_F(Schemas, AnotherProgramsFileIsLeftAsItIs) {
    for (const char* sql : {"CREATE TABLE bookmarks(a)", "PRAGMA application_id=77; CREATE TABLE t(a)",
                            "PRAGMA user_version=1; CREATE TABLE hosts(a)"}) {
        std::filesystem::remove(path_);
        { raw()->execute(sql); }
        const std::string before = contents_of(path_);
        const auto refused = migrate(*raw(), steps());
        ASSERT_FALSE(refused) << sql;
        EXPECT_THAT(refused.error().message, HasSubstr("another program's"));
        EXPECT_TRUE(contents_of(path_) == before);
    }
}

// A history as the first version left it, with two sweeps; frozen, so that every later version must read it.
TEST_F(Schemas, AFileOfTheFirstVersionIsBroughtUpToDateAndRead) {
    {
        raw()->execute(
            contents_of(CLEANSLATE_SOURCE_DIR "/tests/unit/controller/history/version_1.sql").c_str());
    }
    auto store = Store::open(path_, Use::read);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ((*store)->database().integer_of("PRAGMA user_version"), newest_version());
    const auto heads = sweeps(**store, {});
    ASSERT_TRUE(heads) << heads.error().message;
    ASSERT_EQ(heads->size(), 2u);
    EXPECT_EQ((*heads)[0].scope, (SweepScope{"/etc/fleet.yaml", "all"}));
    const auto made = diff(**store, 2);
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(made->newly_dirty.size(), 1u);
    EXPECT_EQ(made->newly_dirty[0].host, "gpu02");
    EXPECT_EQ(made->newly_dirty[0].holders.at(0).user, "alice");
    const auto course = courses(**store, {"gpu01"}, {});
    ASSERT_TRUE(course);
    EXPECT_EQ(course->at(0).stretches.size(), 2u);
    const auto report = load_report(**store, 2);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->result.hosts.size(), 2u);
}

// The file above is what today's program would write, as long as today's version is the first.
TEST_F(Schemas, TheFirstVersionIsWhatIsWrittenNow) {
    if (newest_version() != 1) GTEST_SKIP() << "there is a newer version";
    {
        raw()->execute(
            contents_of(CLEANSLATE_SOURCE_DIR "/tests/unit/controller/history/version_1.sql").c_str());
    }
    const char* const tables =
        "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY name)";
    EXPECT_EQ(raw()->text_of(tables), text_of(tables));
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
