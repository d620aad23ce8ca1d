#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agentless/survey_reader.hpp"
#include "tests/unit/agentless/survey_text.hpp"

namespace cleanslate::agentless {
namespace {

using namespace testing;
using ::testing::ElementsAre;

// As the script prints it up to here; what follows must be refused or taken.
Evidence of(const std::string& records) {
    return *read_survey("begin n 1\n" + records + all_done + "end n\n", "n");
}

TEST(SurveyLeftoversText, SessionsCountOnlyWhenAllOfThemCame) {
    const std::string two = "session 3 1000 4711 active\nsession c1 - 0 closing\n";
    EXPECT_FALSE(of(two).sessions.has_value());
    const auto sessions = of(two + "sessions\n").sessions;
    ASSERT_TRUE(sessions && sessions->size() == 2);
    EXPECT_EQ(sessions->at(0).uid, 1000u);
    EXPECT_EQ(sessions->at(0).leader, 4711);
    EXPECT_TRUE(sessions->at(1).closing);
    EXPECT_FALSE(sessions->at(1).uid.has_value());
    EXPECT_FALSE(sessions->at(1).leader.has_value());
    EXPECT_TRUE(of("sessions\n").sessions->empty());
}

TEST(SurveyLeftoversText, RefusesSessionsThatAreNone) {
    for (const char* text : {"session 3 x 1 active\n", "session a/b 1 1 active\n", "session 3 1 x active\n",
                             "session 3 1 1 active\nsession 3 1 1 active\n", "sessions\nsessions\n",
                             "sessions\nsession 3 1 1 active\n", "session - 1 1 active\n"})
        EXPECT_FALSE(of(text).complete) << text;
}

TEST(SurveyLeftoversText, FilesHaveTheirAgeByTheHostsOwnClock) {
    const auto shm =
        of("shmfile 27 4 0 5 1 100 a%0ab -\nshmfile 27 5 0 6 2 900 c 7,8\nuser 0 root\nshm 2 800\n").shm;
    ASSERT_TRUE(shm && shm->size() == 2);
    EXPECT_EQ(shm->at(0).name, "a\nb");
    EXPECT_EQ(shm->at(0).age_s, 700u);
    EXPECT_EQ(shm->at(0).user, "root");
    EXPECT_TRUE(shm->at(0).users.empty());
    EXPECT_EQ(shm->at(1).links, 2u);
    EXPECT_FALSE(shm->at(1).age_s.has_value()) << "it is in the future";
    EXPECT_THAT(shm->at(1).users, ElementsAre(7, 8));
}

TEST(SurveyLeftoversText, FilesAreAbsentWhereNotAllOfThemCame) {
    EXPECT_FALSE(of("").shm.has_value());
    EXPECT_FALSE(of("shmfile 27 4 0 5 1 100 a -\n").shm.has_value());
    const auto cut = read_survey("begin n 1\nshm 0 5\n\ncut\nend n\n", "n");
    ASSERT_TRUE(cut.has_value());
    EXPECT_FALSE(cut->shm.has_value()) << "who uses them is not known";
}

TEST(SurveyLeftoversText, RefusesFilesThatAreNone) {
    for (const char* text :
         {"shm 1 5\n", "shmfile 27 4 0 5 1 100 a -\nshm 2 5\n", "shmfile 27 4 0 5 1 100 a/b -\n",
          "shmfile 27 4 0 5 1 100 .. -\n", "shmfile 27 4 0 5 1 100 - -\n", "shmfile 27 4 0 5 1 100 a 0\n",
          "shmfile 27 4 0 5 1 -5 a -\n", "shmfile 27 4 0 5 1 100 a 7,\n", "shm 0 5\nshm 0 5\n",
          "shmfile 27 4 0 5 1 100 a -\nshmfile 27 5 0 5 1 100 a -\n"})
        EXPECT_FALSE(of(text).complete) << text;
}

TEST(SurveyLeftoversText, SwitchesAndSighupAreSaidOnce) {
    EXPECT_EQ(of("pci\nnvswitches 6\n").nvswitches, 6);
    EXPECT_FALSE(of("pci\n").nvswitches.has_value());
    for (const char* text :
         {"nvswitches 6\n", "pci\nnvswitches 6\nnvswitches 6\n", "pci\nnvswitches x\n", "nohup 7\n"})
        EXPECT_FALSE(of(text).complete) << text;
    EXPECT_TRUE(of(proc(7, 1) + "nohup 7\n").find(7)->ignores_hangup);
    EXPECT_FALSE(of(proc(7, 1) + "nohup 7\nnohup 7\n").complete);
}

}  // namespace
}  // namespace cleanslate::agentless
