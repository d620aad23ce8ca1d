#include "controller/history/database.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "tests/unit/controller/temporary_folder.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using controller::testing::contents_of;
using controller::testing::put;
using controller::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool at_once(Milliseconds) { return false; }

class Databases : public ::testing::Test {
  protected:
    void SetUp() override { put(file_, ""); }
    std::unique_ptr<Database> open(KeepWaiting keep_waiting = at_once) {
        auto opened = Database::open(file_, std::move(keep_waiting));
        EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
        return opened ? std::move(*opened) : nullptr;
    }
    TemporaryFolder folder_;
    std::string file_ = folder_.file("a.db");
};

TEST_F(Databases, KeepWhatTheyAreGiven) {
    const auto db = open();
    db->execute("CREATE TABLE t(a, b, c, d)");
    const std::string bytes("\0\xff x", 4);
    Statement(*db, "INSERT INTO t VALUES(?, ?, ?, ?)")
        .run(std::int64_t{-1}, std::optional<std::int64_t>(), std::string_view("té"), Blob{bytes});
    Statement row(*db, "SELECT a, b, c, d FROM t");
    row.start();
    ASSERT_TRUE(row.step());
    EXPECT_EQ(row.integer(0), -1);
    EXPECT_TRUE(row.is_null(1));
    EXPECT_EQ(row.integer_or_nothing(1), std::nullopt);
    EXPECT_EQ(row.text(2), "té");
    EXPECT_EQ(row.bytes(3), bytes);
    EXPECT_FALSE(row.step());
    EXPECT_TRUE(db->state());
}

TEST_F(Databases, AreLeftAloneAfterAnError) {
    const auto db = open();
    db->execute("CREATE TABLE t(a NOT NULL)");
    Statement insert(*db, "INSERT INTO t VALUES(?)");
    insert.run(1);
    insert.run(nullptr);
    ASSERT_FALSE(db->state());
    EXPECT_EQ(db->state().error().kind, "history");
    EXPECT_THAT(db->state().error().message, HasSubstr(file_));
    insert.run(2);
    EXPECT_EQ(db->integer_of("SELECT count(*) FROM t"), 0) << "nothing is asked";
    db->forget_error();
    EXPECT_EQ(db->integer_of("SELECT count(*) FROM t"), 1);
}

TEST_F(Databases, UndoATransactionThatIsNotCommitted) {
    const auto db = open();
    db->execute("CREATE TABLE t(a NOT NULL)");
    {
        Transaction whole(*db, Transaction::Kind::write);
        db->execute("INSERT INTO t VALUES(1)");
    }
    EXPECT_EQ(db->integer_of("SELECT count(*) FROM t"), 0);
    {
        Transaction whole(*db, Transaction::Kind::write);
        db->execute("INSERT INTO t VALUES(1)");
        db->execute("INSERT INTO t VALUES(NULL)");
        EXPECT_FALSE(whole.commit());
    }
    db->forget_error();
    EXPECT_EQ(db->integer_of("SELECT count(*) FROM t"), 0);
    Transaction whole(*db, Transaction::Kind::write);
    db->execute("INSERT INTO t VALUES(1)");
    EXPECT_TRUE(whole.commit());
    EXPECT_EQ(db->integer_of("SELECT count(*) FROM t"), 1);
}

TEST_F(Databases, AskHowLongToWaitForALock) {
    const auto one = open();
    one->execute("CREATE TABLE t(a)");
    Transaction holding(*one, Transaction::Kind::write);
    std::vector<std::int64_t> asked;
    const auto other = open([&](Milliseconds waited) {
        asked.push_back(waited.count());
        return asked.size() < 4;
    });
    Transaction denied(*other, Transaction::Kind::write);
    ASSERT_FALSE(other->state());
    EXPECT_TRUE(other->was_busy());
    EXPECT_THAT(other->state().error().message, HasSubstr("locked"));
    ASSERT_EQ(asked.size(), 4u);
    EXPECT_EQ(asked[0], 0);
    EXPECT_TRUE(std::ranges::is_sorted(asked));
    EXPECT_LT(asked[2], asked[3]);
}

TEST_F(Databases, RunNothingThatAFileBrings) {
    sqlite3* raw = nullptr;
    ASSERT_EQ(::sqlite3_open(file_.c_str(), &raw), SQLITE_OK);
    ::sqlite3_exec(raw,
                   "CREATE TABLE t(a); CREATE TABLE seen(a);"
                   "CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO seen VALUES(1); END;"
                   "CREATE VIEW v AS SELECT 1 AS a;",
                   nullptr, nullptr, nullptr);
    ::sqlite3_close(raw);
    const auto db = open();
    db->execute("INSERT INTO t VALUES(1)");
    EXPECT_EQ(db->integer_of("SELECT count(*) FROM seen"), 0) << "a trigger ran";
    EXPECT_EQ(db->integer_of("SELECT a FROM v"), 0);
    EXPECT_FALSE(db->state()) << "a view was read";
    db->forget_error();
    db->execute("ATTACH '/dev/null' AS other");
    EXPECT_FALSE(db->state());
    db->forget_error();
    (void)db->text_of("SELECT load_extension('x')");
    EXPECT_FALSE(db->state());
}

TEST_F(Databases, SayThatADiskIsFull) {
    const auto db = open();
    db->execute("PRAGMA max_page_count=4; CREATE TABLE t(a)");
    Statement(*db, "INSERT INTO t VALUES(?)").run(std::string(100'000, 'x'));
    ASSERT_FALSE(db->state());
    EXPECT_THAT(db->state().error().message, HasSubstr("no space"));
    EXPECT_THAT(db->state().error().remedy, HasSubstr("prune"));
}

TEST_F(Databases, SayThatAFileIsNone) {
    put(file_, std::string(10'000, 'x'));
    const auto opened = Database::open(file_, at_once);
    const Status state = opened ? ((*opened)->integer_of("PRAGMA user_version"), (*opened)->state())
                                : std::unexpected(opened.error());
    ASSERT_FALSE(state);
    EXPECT_THAT(state.error().message, HasSubstr("this is no history"));
    EXPECT_TRUE(contents_of(file_) == std::string(10'000, 'x'));
}

TEST_F(Databases, SayWhatTheQuickCheckFindsInADamagedFile) {
    {
        const auto db = open();
        db->execute("CREATE TABLE t(a TEXT)");
        Transaction whole(*db, Transaction::Kind::write);
        Statement insert(*db, "INSERT INTO t VALUES(?)");
        for (int i = 0; i < 200; ++i) insert.run(std::string(1000, 'x'));
        EXPECT_TRUE(whole.commit());
    }
    std::string bytes = contents_of(file_);
    for (std::size_t page = 4; page < 40; ++page) bytes.replace(page * 4096, 200, 200, '\xA5');
    put(file_, bytes);
    const auto db = open();
    (void)db->integer_of("SELECT sum(length(a)) FROM t");
    ASSERT_FALSE(db->state());
    EXPECT_THAT(db->state().error().message, HasSubstr("it is damaged ("));
    EXPECT_THAT(db->state().error().remedy, HasSubstr("move it away"));
    EXPECT_TRUE(contents_of(file_) == bytes) << "what is damaged is not written over";
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
