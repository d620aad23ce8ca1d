#include "controller/history/journal.hpp"

#include <gtest/gtest.h>

#include "controller/history/sweeps.hpp"
#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

TEST(JournalFor, AFileSystemOfANetworkIsNoWal) {
    constexpr unsigned long ext4 = 0xEF53, xfs = 0x58465342, btrfs = 0x9123683E, tmpfs = 0x01021994;
    for (const unsigned long local : {ext4, xfs, btrfs, tmpfs}) EXPECT_EQ(journal_for(local), Journal::wal);
    constexpr unsigned long nfs = 0x6969, cifs = 0xFF534D42, lustre = 0x0BD00BD0, fuse = 0x65735546;
    for (const unsigned long remote : {nfs, cifs, lustre, fuse})
        EXPECT_EQ(journal_for(remote), Journal::rollback);
    EXPECT_EQ(journal_at("/no/such/place"), Journal::rollback);
}

class Journals : public WithHistory {
  protected:
    std::unique_ptr<Store> open_with(Journal journal, Use use = Use::record) {
        auto store = Store::open(file(), use, half_a_minute, journal);
        EXPECT_TRUE(store) << (store ? "" : store.error().message);
        return store ? std::move(*store) : nullptr;
    }
    static std::string mode_of(Store& store) { return store.database().text_of("PRAGMA journal_mode"); }
};

TEST_F(Journals, CommitsAreOnTheDiskInEither) {
    for (const Journal journal : {Journal::wal, Journal::rollback}) {
        const auto store = open_with(journal);
        EXPECT_EQ(mode_of(*store), journal == Journal::wal ? "wal" : "delete");
        EXPECT_EQ(store->database().integer_of("PRAGMA synchronous"), journal == Journal::wal ? 2 : 3);
    }
}

TEST_F(Journals, AFileThatCameFromAnotherFileSystemIsChangedOver) {
    night({clean("a")});
    close();
    EXPECT_TRUE(is_in_wal(file()));
    {
        const auto store = open_with(Journal::rollback, Use::read);
        EXPECT_EQ(mode_of(*store), "delete");
        EXPECT_EQ(sweeps(*store, {}).value_or(std::vector<SweepHead>{}).size(), 1u);
        EXPECT_FALSE(std::filesystem::exists(file() + "-shm")) << "no shared memory on a network";
    }
    EXPECT_FALSE(is_in_wal(file()));
    EXPECT_EQ(mode_of(*open_with(Journal::wal)), "wal");
}

TEST_F(Journals, TwoMayHaveItOpenInEither) {
    for (const Journal journal : {Journal::wal, Journal::rollback}) {
        const auto one = open_with(journal), other = open_with(journal);
        ASSERT_TRUE(one && other);
        EXPECT_TRUE(record(*one, report_of({clean("a")}), {"i", "all"}, false));
        EXPECT_TRUE(record(*other, report_of({clean("a")}), {"i", "all"}, false));
    }
    EXPECT_EQ(integer_of("SELECT count(*) FROM sweeps"), 4);
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
