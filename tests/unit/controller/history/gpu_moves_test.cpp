#include "controller/history/gpu_moves.hpp"

#include <gmock/gmock.h>

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::IsEmpty;

KnownGpu gpu(int index, std::string uuid, std::string bus_id = "?") {
    return {index, std::move(uuid), bus_id == "?" ? "bus" + std::to_string(index) : bus_id, "NVIDIA H200"};
}

// "gone gpu01/0 A", "swapped gpu01/0 A>B", "moved A gpu01/0>gpu02/3", "new gpu01/0 A".
std::vector<std::string> told(const std::vector<HostGpus>& hosts) {
    Diff diff;
    compare_gpus(hosts, diff);
    const auto place = [](const GpuPlace& at) { return at.host + "/" + std::to_string(*at.index); };
    std::vector<std::string> lines;
    for (const auto& gone : diff.gpus_gone) lines.push_back("gone " + place(*gone.before) + " " + gone.uuid);
    for (const auto& swapped : diff.gpus_swapped)
        lines.push_back("swapped " + place(*swapped.now) + " " + swapped.uuid_before + ">" + swapped.uuid);
    for (const auto& moved : diff.gpus_moved)
        lines.push_back("moved " + moved.uuid + " " + place(*moved.before) + ">" + place(*moved.now));
    for (const auto& fresh : diff.gpus_new) lines.push_back("new " + place(*fresh.now) + " " + fresh.uuid);
    return lines;
}

using Lines = std::vector<std::string>;

TEST(GpuMoves, NothingIsSaidOfWhatStayed) {
    EXPECT_EQ(told({{"a", {gpu(0, "A"), gpu(1, "B")}, {gpu(0, "A"), gpu(1, "B")}}}), Lines{});
    EXPECT_EQ(told({{"a", {gpu(0, "A", "x"), gpu(1, "B", "y")}, {gpu(1, "A", "x"), gpu(0, "B", "y")}}}),
              Lines{})
        << "the indexes changed, and not the slots";
}

TEST(GpuMoves, OneThatIsMissingIsGone) {
    EXPECT_EQ(told({{"a", {gpu(0, "A"), gpu(1, "B")}, {gpu(0, "A")}}}), (Lines{"gone a/1 B"}));
}

TEST(GpuMoves, OneThatCameIsNew) {
    EXPECT_EQ(told({{"a", {gpu(0, "A")}, {gpu(0, "A"), gpu(1, "B")}}}), (Lines{"new a/1 B"}));
}

TEST(GpuMoves, AnotherOneInItsPlaceIsASwap) {
    EXPECT_EQ(told({{"a", {gpu(0, "A"), gpu(1, "B")}, {gpu(0, "A"), gpu(1, "C")}}}),
              (Lines{"swapped a/1 B>C"}));
    EXPECT_EQ(told({{"a", {gpu(0, "A", "")}, {gpu(0, "C", "")}}}), (Lines{"swapped a/0 A>C"}))
        << "by index, where no bus id is known";
}

TEST(GpuMoves, OneOnAnotherHostHasMoved) {
    EXPECT_EQ(told({{"a", {gpu(0, "A"), gpu(1, "B")}, {gpu(0, "A")}},
                    {"b", {gpu(0, "C")}, {gpu(0, "C"), gpu(3, "B")}}}),
              (Lines{"moved B a/1>b/3"}));
}

TEST(GpuMoves, AnExchangeBetweenTwoHostsIsTwoMoves) {
    EXPECT_EQ(told({{"a", {gpu(0, "A")}, {gpu(0, "B")}}, {"b", {gpu(0, "B")}, {gpu(0, "A")}}}),
              (Lines{"moved B b/0>a/0", "moved A a/0>b/0"}));
}

TEST(GpuMoves, ASpareInThePlaceOfOneThatMovedReplacedNobody) {
    EXPECT_EQ(told({{"a", {gpu(0, "M")}, {gpu(0, "A")}}, {"b", {gpu(1, "X")}, {gpu(1, "X"), gpu(2, "M")}}}),
              (Lines{"moved M a/0>b/2", "new a/0 A"}));
}

TEST(GpuMoves, OneThatMovedIntoThePlaceOfAnotherLeavesThatGone) {
    EXPECT_EQ(told({{"a", {gpu(0, "A")}, {gpu(0, "B")}}, {"b", {gpu(0, "B"), gpu(1, "C")}, {gpu(1, "C")}}}),
              (Lines{"gone a/0 A", "moved B b/0>a/0"}));
}

TEST(GpuMoves, OneInAnotherSlotOfItsHostHasMoved) {
    EXPECT_EQ(told({{"a", {gpu(0, "A", "x")}, {gpu(0, "A", "y")}}}), (Lines{"moved A a/0>a/0"}));
}

TEST(GpuMoves, OneThatDoesNotSayItsUuidIsNotGone) {
    EXPECT_EQ(told({{"a", {gpu(0, "A"), gpu(1, "B")}, {gpu(0, "A"), gpu(1, "")}}}), Lines{});
    EXPECT_EQ(told({{"a", {gpu(0, "A"), gpu(1, "")}, {gpu(0, "A"), gpu(1, "B")}}}), Lines{});
    EXPECT_EQ(told({{"a", {gpu(0, "A"), gpu(1, "B")}, {gpu(0, "A"), gpu(5, "", "")}}}),
              (Lines{"gone a/1 B"}));
}

TEST(GpuMoves, OfAHostThatCameOrWentAreToldOnlyWhereTheyMoved) {
    EXPECT_EQ(told({{"old", {gpu(0, "A"), gpu(1, "B")}, {}}, {"new", {}, {gpu(0, "A"), gpu(1, "C")}}}),
              (Lines{"moved A old/0>new/0"}));
}

TEST(GpuSets, AreReadWhateverTheyHold) {
    const auto gpus = read_gpu_set(R"([[0,"GPU-a","bus","NVIDIA H200"],[null,null,"",""]])");
    ASSERT_EQ(gpus.size(), 2u);
    EXPECT_EQ(gpus[0].index, 0);
    EXPECT_EQ(gpus[0].uuid, "GPU-a");
    EXPECT_EQ(gpus[1].index, std::nullopt);
    EXPECT_EQ(gpus[1].uuid, "");
    for (const char* odd : {"", "{}", "[", "[1]", "[[]]", "[[0]]", "[[-1,2,3]]", "nul"})
        EXPECT_THAT(read_gpu_set(odd), IsEmpty()) << odd;
    EXPECT_EQ(read_gpu_set("[[-5,1,2,3]]").at(0).index, std::nullopt);
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
