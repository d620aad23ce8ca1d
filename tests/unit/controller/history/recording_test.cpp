#include "controller/history/recording.hpp"

#include <gmock/gmock.h>

#include "controller/history/sweeps.hpp"
#include "nights.hpp"
#include "tests/unit/controller/command_line.hpp"

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Recordings : public WithHistory {
  protected:
    Result<Recording> begin(const Words& words) {
        notes_.clear();
        return Recording::begin(read(words), environment_, notes_);
    }
    Environment environment_{{"XDG_STATE_HOME", folder_.file("xdg")}};
    std::vector<std::string> notes_;
};

TEST_F(Recordings, GoIntoTheDefaultHistory) {
    auto recording = begin({"check", "-i", "/etc/fleet.yaml", "-l", "rack1"});
    ASSERT_TRUE(recording);
    EXPECT_THAT(notes_, IsEmpty());
    const StopSignals signals;
    const auto id = recording->finish(report_of({clean("a")}), signals);
    ASSERT_TRUE(id) << id.error().message;
    EXPECT_EQ(*id, 1);
    EXPECT_EQ(find_sweep(*recording->store(), 1)->scope, (SweepScope{"/etc/fleet.yaml", "rack1"}));
    EXPECT_EQ(recording->store()->path(), folder_.file("xdg/cleanslate/history.db"));
}

TEST_F(Recordings, AreNotMadeOfWhatIsNoSurveyOrIsNotToBeKept) {
    for (const Words& words :
         {Words{"run", "--local", "--", "true"}, Words{"check", "--local", "--no-history"}}) {
        auto recording = begin(words);
        ASSERT_TRUE(recording);
        EXPECT_EQ(recording->store(), nullptr);
        const StopSignals signals;
        EXPECT_EQ(recording->finish(report_of({clean("a")}), signals).value_or(7), std::nullopt);
    }
    EXPECT_FALSE(std::filesystem::exists(folder_.file("xdg")));
}

TEST_F(Recordings, WithoutADefaultPlaceAreANote) {
    environment_.clear();
    EXPECT_TRUE(begin({"check", "--local"}));
    EXPECT_THAT(notes_, ElementsAre(HasSubstr("neither $XDG_STATE_HOME nor $HOME")));
}

TEST_F(Recordings, ThatCannotBeMadeAreANoteOrAnErrorWhereTheyWereAskedFor) {
    put(folder_.file("xdg"), "a file where the folder should be");
    EXPECT_TRUE(begin({"check", "--local"}));
    EXPECT_THAT(notes_, ElementsAre(HasSubstr("this sweep is not kept: history ")));
    const auto refused = begin({"check", "--local", "--history", folder_.file("xdg/h.db")});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, "history");
    EXPECT_THAT(notes_, IsEmpty());
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
