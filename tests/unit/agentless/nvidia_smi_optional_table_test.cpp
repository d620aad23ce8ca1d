// The survey's optional query, put into the rows of the core query.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agentless/nvidia_smi_optional.hpp"
#include "tests/support/scene.hpp"

namespace cleanslate::agentless {
namespace {

using testing::bus_of;
using testing::uuid_of;

const std::vector<std::string> columns{"index", "uuid", "pci.bus_id", "gpu_recovery_action",
                                       "persistence_mode"};

std::vector<GpuRow> gpus(int count) { return testing::Scene(count).evidence().gpus; }

std::string row(int gpu, const std::string& action = "None", const std::string& persistence = "Enabled") {
    return fmt::format("{}, {}, {}, {}, {}\n", gpu, uuid_of(gpu), bus_of(gpu), action, persistence);
}

// "0:None/Enabled 1:-": what each GPU got.
std::string got(const std::vector<GpuRow>& rows) {
    std::string all;
    for (const auto& gpu : rows) {
        all += fmt::format("{}{}:", all.empty() ? "" : " ", gpu.index.value_or(-1));
        if (gpu.optional.empty()) all += "-";
        for (std::size_t i = 0; i < gpu.optional.size(); ++i)
            all += (i == 0 ? "" : "/") + gpu.optional[i].cell;
    }
    return all;
}

TEST(OptionalTable, GoesIntoTheGpusThatItsRowsAreOf) {
    auto rows = gpus(2);
    const auto read = add_optional_table(row(1, "GPU Reset") + row(0), columns, rows);
    EXPECT_TRUE(read.problems.empty());
    EXPECT_EQ(got(rows), "0:None/Enabled 1:GPU Reset/Enabled");
    EXPECT_EQ(rows[0].optional[0], (OptionalCell{"gpu_recovery_action", "None"}));
    EXPECT_TRUE(rows[0].troubles.empty());
    ASSERT_EQ(rows[1].troubles.size(), 1u);
    EXPECT_EQ(rows[1].troubles[0].code, "recovery-action");
}

TEST(OptionalTable, IsTheSameWithCrlfAndWithAByteOrderMark) {
    auto rows = gpus(1);
    std::string text = "\xEF\xBB\xBF" + row(0);
    text.insert(text.size() - 1, "\r");
    EXPECT_TRUE(add_optional_table("\n" + text.substr(3) + "\r\n", columns, rows).problems.empty());
    EXPECT_EQ(got(rows), "0:None/Enabled");
    rows = gpus(1);
    EXPECT_TRUE(add_optional_table(text, columns, rows).problems.empty());
    EXPECT_EQ(got(rows), "0:None/Enabled");
}

TEST(OptionalTable, AskedUnderOlderNamesIsKeptUnderTheNormalOnes) {
    auto rows = gpus(1);
    add_optional_table(fmt::format("0, {}, {}, Active\n", uuid_of(0), bus_of(0)),
                       {"index", "uuid", "pci.bus_id", "clocks_throttle_reasons.hw_slowdown"}, rows);
    ASSERT_EQ(rows[0].optional.size(), 1u);
    EXPECT_EQ(rows[0].optional[0].column, "clocks_event_reasons.hw_slowdown");
    EXPECT_EQ(rows[0].troubles.at(0).code, "hw-slowdown");
}

TEST(OptionalRow, IsOfTheGpuThatItAgreesWithInAllThatBothShow) {
    auto rows = gpus(2);
    rows[1].uuid.clear();
    rows[1].bus_id.clear();
    EXPECT_TRUE(add_optional_table(row(1), columns, rows).problems.empty());
    EXPECT_EQ(got(rows), "0:- 1:None/Enabled");

    rows = gpus(2);
    rows[1].index.reset();
    EXPECT_TRUE(add_optional_table(row(1), columns, rows).problems.empty());
    EXPECT_EQ(rows[1].optional.size(), 2u);

    rows = gpus(2);
    const auto line = fmt::format("1, [Unknown Error], {}, None, Enabled\n", bus_of(1));
    EXPECT_TRUE(add_optional_table(line, columns, rows).problems.empty());
    EXPECT_EQ(got(rows), "0:- 1:None/Enabled");
}

struct Odd {
    const char* what;
    std::string text;
};

TEST(OptionalTable, TakesNothingFromWhatIsNoRowOfExactlyOneKnownGpu) {
    const std::vector<Odd> cases{
        {"an unknown GPU", row(5)},
        {"another index than that uuid has",
         fmt::format("1, {}, {}, GPU Reset, Enabled\n", uuid_of(0), bus_of(0))},
        {"another bus id than that uuid has",
         fmt::format("0, {}, {}, GPU Reset, Enabled\n", uuid_of(0), bus_of(1))},
        {"nothing that tells the GPU",
         "[Unknown Error], [Unknown Error], [Unknown Error], [Unknown Error], [Unknown Error]\n"},
        {"a cell too few", fmt::format("0, {}, {}, GPU Reset\n", uuid_of(0), bus_of(0))},
        {"a cell too many", row(0, "GPU Reset, or so")},
        {"an empty cell in the place of the index",
         fmt::format("0, , {}, GPU Reset, Enabled, \n", bus_of(0))},
        {"a last row that was cut", row(0, "GPU Reset").substr(0, row(0, "GPU Reset").size() - 1)},
        {"an index that is none", fmt::format("00, {}, {}, GPU Reset, Enabled\n", uuid_of(0), bus_of(0))},
        {"a uuid that is none", fmt::format("0, GPU-1, {}, GPU Reset, Enabled\n", bus_of(0))},
        {"pids in front", "843 928 0" + row(0, "GPU Reset").substr(1)},
        {"prose", "Unable to determine the device handle for GPU 0000:10:00.0: Unknown Error\n"},
        {"an unknown field", "Field \"fabric.state\" is not a valid field to query.\n\n"},
        {"a header", "index, uuid, pci.bus_id, gpu_recovery_action, persistence_mode\n"},
        {"a NUL in the index", std::string("\0", 1) + row(0, "GPU Reset")},
        {"a line without end", std::string(1'000'000, ' ') + row(0, "GPU Reset")},
    };
    for (const auto& odd : cases) {
        auto rows = gpus(2);
        const auto read = add_optional_table(odd.text, columns, rows);
        EXPECT_EQ(read.problems.size(), 1u) << odd.what;
        EXPECT_EQ(got(rows), "0:- 1:-") << odd.what;
        for (const auto& gpu : rows) EXPECT_TRUE(gpu.troubles.empty()) << odd.what;
    }
}

TEST(OptionalTable, KeepsTheGoodRowsAroundABadOne) {
    auto rows = gpus(3);
    const auto read = add_optional_table(
        row(0) + "Unable to determine the device handle for GPU 0000:11:00.0: Unknown Error\n" + row(2),
        columns, rows);
    EXPECT_EQ(read.problems.size(), 1u);
    EXPECT_EQ(got(rows), "0:None/Enabled 1:- 2:None/Enabled");
}

TEST(OptionalTable, TakesNeitherOfTwoRowsForOneGpu) {
    auto rows = gpus(2);
    const auto read = add_optional_table(row(0) + row(0, "GPU Reset") + row(1), columns, rows);
    EXPECT_EQ(read.problems.size(), 2u);
    EXPECT_EQ(got(rows), "0:- 1:None/Enabled");
}

TEST(OptionalTable, TakesNothingForTwoRowsOfOneName) {
    auto rows = gpus(2);
    rows[1] = rows[0];
    const auto read = add_optional_table(row(0), columns, rows);
    EXPECT_EQ(read.problems.size(), 1u);
    EXPECT_EQ(got(rows), "0:- 0:-");
}

TEST(OptionalTable, OfNothingChangesNothing) {
    auto rows = gpus(1);
    EXPECT_TRUE(add_optional_table("", columns, rows).problems.empty());
    EXPECT_EQ(add_optional_table("0, x\n", {}, rows).problems.size(), 1u);
    std::vector<GpuRow> none;
    EXPECT_EQ(add_optional_table(row(0), columns, none).problems.size(), 1u);
    EXPECT_EQ(got(rows), "0:-");
}

TEST(OptionalTable, IsBounded) {
    std::string text = row(0) + row(1);
    for (int i = 0; i < 100'000; ++i) text += i % 2 == 0 ? "noise\n" : row(2 + i % 200);
    auto rows = gpus(2);
    const auto read = add_optional_table(text, columns, rows);
    EXPECT_LE(read.problems.size(), 64u);
    EXPECT_EQ(read.problems.back(), fmt::format("{} more lines were not read", 100'002 - 63));
    EXPECT_EQ(got(rows), "0:- 1:-");
}

}  // namespace
}  // namespace cleanslate::agentless
