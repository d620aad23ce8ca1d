#include "controller/history/store.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <thread>

#include "controller/history/sweeps.hpp"
#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::HasSubstr;

bool at_once(Milliseconds) { return false; }

class Stores : public WithHistory {
  protected:
    Error refusal(const std::string& path, Use use) {
        const auto opened = Store::open(path, use, at_once);
        EXPECT_FALSE(opened);
        return opened ? Error{} : opened.error();
    }
};

TEST_F(Stores, AreTheirOwnersAlone) {
    ::umask(0);
    night({clean("a")});
    EXPECT_EQ(mode_of(folder_.file("state")), 0700u);
    EXPECT_EQ(mode_of(file()), 0600u);
    EXPECT_EQ(mode_of(file() + "-wal"), 0600u);
    EXPECT_EQ(mode_of(file() + "-shm"), 0600u);
    close();
    EXPECT_FALSE(std::filesystem::exists(file() + "-wal")) << "the last one puts it away";
    ::chmod(file().c_str(), 0644);
    (void)store();
    EXPECT_EQ(mode_of(file()), 0600u);
}

TEST_F(Stores, MustBeThereToBeRead) {
    for (const Use use : {Use::read, Use::change}) {
        EXPECT_EQ(refusal(file(), use).kind, "history_missing");
        EXPECT_FALSE(std::filesystem::exists(folder_.file("state"))) << "nothing is made for a look";
    }
    put(folder_.file("empty"), "");
    EXPECT_EQ(refusal(folder_.file("empty"), Use::read).kind, "history_missing");
    EXPECT_EQ(contents_of(folder_.file("empty")), "");
}

TEST_F(Stores, AreMadeOfAnEmptyFile) {
    put(folder_.file("empty"), "");
    EXPECT_TRUE(Store::open(folder_.file("empty"), Use::record));
    EXPECT_TRUE(Store::open(folder_.file("empty"), Use::read));
}

TEST_F(Stores, AreNeverMadeOfWhatIsSomethingElse) {
    put(folder_.file("text"), "dear diary\n" + std::string(8000, 'x'));
    EXPECT_THAT(refusal(folder_.file("text"), Use::record).message, HasSubstr("this is no history"));
    EXPECT_EQ(contents_of(folder_.file("text")).substr(0, 10), "dear diary");
    EXPECT_THAT(refusal(folder_.file("."), Use::record).message, HasSubstr("not a regular file"));
    ASSERT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
    EXPECT_THAT(refusal(folder_.file("pipe"), Use::record).message, HasSubstr("not a regular file"));
    EXPECT_EQ(refusal("/dev/null", Use::record).kind, "history");
    put(folder_.file("file"), "x");
    EXPECT_THAT(refusal(folder_.file("file/history.db"), Use::record).message, HasSubstr("Not a directory"));
}

TEST_F(Stores, AreFilesWhateverTheyAreCalled) {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder_.file(""));
    for (const char* name : {":memory:", "file:x?mode=memory", "a b%20c?immutable=1"}) {
        EXPECT_TRUE(Store::open(name, Use::record)) << name;
        EXPECT_TRUE(std::filesystem::exists(name)) << name;
    }
    std::filesystem::current_path(before);
}

TEST_F(Stores, AreFoundThroughALink) {
    night({clean("a")});
    std::filesystem::create_symlink(file(), folder_.file("link"));
    const auto linked = Store::open(folder_.file("link"), Use::record);
    ASSERT_TRUE(linked);
    EXPECT_TRUE(record(**linked, report_of({clean("a")}), {"i", "all"}, false));
    EXPECT_EQ(integer_of("SELECT count(*) FROM sweeps"), 2);
}

// As somebody who may read the file and no more; root may do anything anywhere.
TEST_F(Stores, ThatMayNotBeWrittenToAreReadAndNotRecordedIn) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    night({clean("a")});
    close();
    std::filesystem::permissions(folder_.file(""), std::filesystem::perms(0755));
    std::filesystem::permissions(folder_.file("state"), std::filesystem::perms(0755));
    const std::string odd = folder_.file("state/a b%20c?d.db");
    std::filesystem::copy_file(file(), odd);
    ::chmod(odd.c_str(), 0444);
    const auto look = [&] {
        if (::setgid(65'534) != 0 || ::setuid(65'534) != 0) std::_Exit(3);
        const auto reader = Store::open(odd, Use::read, at_once);
        const auto heads = reader ? sweeps(**reader, {}) : std::unexpected(reader.error());
        if (!heads || heads->size() != 1) std::_Exit(4);
        const auto writer = Store::open(odd, Use::record, at_once);
        std::_Exit(!writer && writer.error().message.ends_with("it may not be written to") ? 0 : 5);
    };
    EXPECT_EXIT(look(), ::testing::ExitedWithCode(0), "");
    EXPECT_FALSE(std::filesystem::exists(odd + "-wal"));
}

TEST_F(Stores, ThatAreReadAreNotChanged) {
    night({clean("a")});
    close();
    const std::string before = contents_of(file());
    { EXPECT_TRUE(Store::open(file(), Use::read)); }
    { EXPECT_TRUE(Store::open(file(), Use::record)); }
    EXPECT_TRUE(contents_of(file()) == before) << "a look changes no byte";
    const auto reader = Store::open(file(), Use::read);
    ASSERT_TRUE(reader);
    EXPECT_FALSE(record(**reader, report_of({clean("a")}), {"i", "all"}, false));
    EXPECT_EQ(integer_of("SELECT count(*) FROM sweeps"), 1);
}

TEST_F(Stores, OfADamagedFileAreRefusedAndLeftAsTheyAre) {
    for (int i = 0; i < 40; ++i) night({dirty("a"), clean("b")});
    close();
    std::string bytes = contents_of(file());
    ASSERT_GT(bytes.size(), 20 * 4096u);
    for (std::size_t at = 4096; at + 4096 < bytes.size(); at += 4096) bytes.replace(at, 16, 16, '\x7F');
    put(file(), bytes);
    auto opened = Store::open(file(), Use::record, at_once);
    const auto recorded = opened ? record(**opened, report_of({clean("a")}), {"i", "all"}, false)
                                 : std::unexpected(opened.error());
    ASSERT_FALSE(recorded);
    EXPECT_THAT(recorded.error().message, HasSubstr("it is damaged"));
    EXPECT_THAT(recorded.error().remedy, HasSubstr("mv " + file()));
    if (opened) opened->reset();
    EXPECT_TRUE(contents_of(file()) == bytes);
}

TEST_F(Stores, ShrinkWhenSweepsGo) { EXPECT_EQ(integer_of("PRAGMA auto_vacuum"), 2); }

TEST_F(Stores, AreBegunBySeveralAtOnce) {
    std::vector<std::thread> threads;
    std::atomic<int> recorded = 0;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            auto store = Store::open(file(), Use::record);
            if (store && record(**store, report_of({clean("a"), dirty("b")}), {"i", "all"}, false))
                ++recorded;
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(recorded, 8);
    EXPECT_EQ(integer_of("SELECT count(*) FROM sweeps"), 8);
    EXPECT_EQ(text_of("PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
