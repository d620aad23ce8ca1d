// Which GPU a row or a message is about.

#include "agentless/placement.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agentless/nvidia_smi.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::bus_of;
using testing::Scene;
using testing::uuid_of;

void fail_row(Scene& scene, std::size_t i) {
    GpuRow row;
    row.cells.assign(8, "[GPU is lost]");
    scene.evidence().gpus[i] = row;
}

void lose(Scene& scene, std::size_t i) {
    auto& rows = scene.evidence().gpus;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
}

void say_lost(Scene& scene, int gpu) {
    scene.evidence().messages.push_back(classify_line(
        fmt::format("Unable to determine the device handle for GPU {}: GPU is lost.", bus_of(gpu))));
}

// The evidence outlives the placement, which points into it.
std::string line(Scene& scene, std::optional<int> expected) {
    const auto placement = place(scene.evidence(), expected);
    std::string text;
    for (const auto& slot : placement.slots)
        text += fmt::format("{}{}{}{}{} ", slot.index ? std::to_string(*slot.index) : "?",
                            slot.row ? "" : " no row", is_sick(slot) ? " sick" : "",
                            slot.repeated ? " repeated" : "", slot.unexpected ? " unexpected" : "");
    return text + (placement.accounted ? "accounted" : "open") +
           (placement.unplaced.empty() ? "" : fmt::format(", {} unplaced", placement.unplaced.size()));
}

TEST(Placement, OfWholeRowsIsTheirOwn) {
    Scene scene(3);
    EXPECT_EQ(line(scene, 3), "0 1 2 accounted");
    EXPECT_EQ(line(scene, std::nullopt), "0 1 2 accounted");
    EXPECT_EQ(line(scene, 4), "0 1 2 3 no row open");
    EXPECT_EQ(line(scene, 2), "0 1 2 unexpected open");
}

TEST(Placement, OfFailedRowsGoesByTheirPlaceInTheOutput) {
    Scene scene(4);
    fail_row(scene, 1);
    fail_row(scene, 3);
    EXPECT_EQ(line(scene, 4), "0 1 sick 2 3 sick accounted");
}

TEST(Placement, OfOneFailedRowOutOfOrderGoesByElimination) {
    Scene scene(4);
    fail_row(scene, 1);
    std::swap(scene.evidence().gpus[1], scene.evidence().gpus[3]);
    EXPECT_EQ(line(scene, 4), "0 3 2 1 sick accounted");
}

TEST(Placement, OfAFailedRowBesideAMissingOneStaysOpen) {
    Scene scene(4);
    fail_row(scene, 1);
    lose(scene, 3);
    EXPECT_EQ(line(scene, 4), "0 ? sick 2 open");
}

TEST(Placement, TakesUuidAndBusIdOfAFailedRowFromTheKernel) {
    Scene scene(4);
    fail_row(scene, 1);
    const auto placement = place(scene.evidence(), 4);
    EXPECT_EQ(placement.slots[1].uuid, uuid_of(1));
    EXPECT_EQ(placement.slots[1].bus_id, bus_of(1));
}

TEST(Placement, OfAMessageGoesByBusId) {
    Scene scene(3);
    say_lost(scene, 1);
    EXPECT_EQ(line(scene, 3), "0 1 sick 2 accounted");
}

TEST(Placement, OfAMessageAboutTheOnlyMissingGpuGoesByElimination) {
    Scene scene(3);
    scene.evidence().driver_gpus.reset();
    lose(scene, 1);
    say_lost(scene, 1);
    EXPECT_EQ(line(scene, 3), "0 2 1 no row sick accounted");
    EXPECT_EQ(place(scene.evidence(), 3).slots[2].bus_id, bus_of(1));
}

TEST(Placement, OfAsManyMessagesAsMissingGpusMakesEachSickWithoutSayingWhichIsWhich) {
    Scene scene(4);
    scene.evidence().driver_gpus.reset();
    lose(scene, 2);
    lose(scene, 1);
    say_lost(scene, 1);
    say_lost(scene, 2);
    EXPECT_EQ(line(scene, 4), "0 3 1 no row sick 2 no row sick accounted");
    EXPECT_EQ(place(scene.evidence(), 4).slots[2].bus_id, "");
}

TEST(Placement, OfFewerMessagesThanMissingGpusStaysOpen) {
    Scene scene(4);
    scene.evidence().driver_gpus.reset();
    lose(scene, 2);
    lose(scene, 1);
    say_lost(scene, 1);
    EXPECT_EQ(line(scene, 4), "0 3 1 no row 2 no row open, 1 unplaced");
}

TEST(Placement, MarksBothOfTwoRowsThatClaimOneName) {
    Scene scene(3);
    scene.evidence().gpus[2].index = 0;
    EXPECT_EQ(line(scene, 3), "0 repeated 1 0 repeated 2 no row open");
}

}  // namespace
}  // namespace cleanslate::agentless
