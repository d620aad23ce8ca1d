#include "controller/history/course.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "nights.hpp"

namespace cleanslate::controller::history::testing {
namespace {

class Courses : public WithHistory {
  protected:
    std::vector<Course> of(const std::vector<std::string>& hosts, std::optional<std::int64_t> since = {}) {
        auto read = courses(store(), hosts, since);
        EXPECT_TRUE(read) << (read ? "" : read.error().message);
        return read.value_or(std::vector<Course>{});
    }
};

TEST_F(Courses, HaveAStretchForEachChange) {
    night({clean("a")});
    night({dirty("a")});
    night({dirty("a")});
    night({unreachable_host("a")});
    night({clean("b")});
    night({clean("a")}, {"-H", "a"});
    const auto all = of({"a"});
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].sweeps, 5u);
    const auto& stretches = all[0].stretches;
    ASSERT_EQ(stretches.size(), 4u);
    EXPECT_EQ(stretches[0].verdict, Verdict::clean);
    EXPECT_EQ(stretches[0].first, 6);
    EXPECT_EQ(stretches[0].until, std::nullopt);
    EXPECT_EQ(stretches[1].verdict, Verdict::unreachable);
    EXPECT_EQ(stretches[1].why, "connect: connection refused");
    EXPECT_EQ(stretches[2].verdict, Verdict::dirty);
    EXPECT_EQ(stretches[2].sweeps, 2u);
    EXPECT_EQ(stretches[2].from, first_night + day);
    EXPECT_EQ(stretches[2].to, first_night + 2 * day);
    EXPECT_EQ(stretches[2].until, first_night + 3 * day);
    EXPECT_EQ(stretches[2].holders.at(0).user, "alice");
}

TEST_F(Courses, LeaveOutWhereItWasNeverBegun) {
    night({dirty("a")});
    night({not_tried_host("a")});
    night({dirty("a")});
    const auto all = of({"a"});
    ASSERT_EQ(all[0].stretches.size(), 1u);
    EXPECT_EQ(all[0].stretches[0].sweeps, 2u);
}

TEST_F(Courses, OfNobodyAreEmpty) {
    night({clean("a")});
    EXPECT_TRUE(of({"b"}).empty());
    EXPECT_TRUE(of({"a"}, first_night + day).empty());
}

TEST_F(Courses, TellWhichGpusCameAndWent) {
    night({clean("a")});
    HostOutcome host = clean("a");
    host.last->gpus[4].uuid = "GPU-spare";
    night({unreachable_host("a")});
    night({host});
    const auto all = of({"a"});
    ASSERT_EQ(all[0].gpus.size(), 1u);
    EXPECT_EQ(all[0].gpus[0].first, 3);
    EXPECT_EQ(all[0].gpus[0].second.uuid_before, "GPU-a-4");
}

TEST_F(Courses, ReadAsATranscript) {
    night({clean("gpu05")});
    night({dirty("gpu05")});
    night({dirty("gpu05")});
    night({unreachable_host("gpu05")});
    HostOutcome back = clean("gpu05");
    back.last->gpus[4].uuid = "GPU-spare";
    night({back});
    night({back});
    Page page(80, false);
    courses_text(page, of({"gpu05"}));
    EXPECT_EQ(page.take(), R"(gpu05: 6 sweeps
    clean       since 2026-12-02T02:00:00Z, for 1d00h at least, 2 sweeps (5 to 6)
    unreachable from 2026-12-01T02:00:00Z, for 1d00h, sweep 4
        connect: connection refused
    dirty       from 2026-11-29T02:00:00Z, for 2d00h, 2 sweeps (2 to 3)
        GPU 2
        pid 812 alice, 3h10m, GPU 2, 76107 MiB: sleep 100000
    clean       from 2026-11-28T02:00:00Z, for 1d00h, sweep 1
    GPU swapped: gpu05 GPU 4 at 00000000:04:00.0: GPU-gpu05-4 is now GPU-spare
    (NVIDIA H200) (sweep 5)
)");
    const auto json = nlohmann::json::parse(courses_json(of({"gpu05"})));
    EXPECT_EQ(json["schema"], "cleanslate.courses/1");
    EXPECT_EQ(json["hosts"][0]["stretches"][2]["holders"][0]["pid"], 812);
    EXPECT_EQ(json["hosts"][0]["stretches"][0]["until"], nullptr);
    EXPECT_EQ(json["hosts"][0]["gpu_changes"][0]["sweep"], 5);
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
