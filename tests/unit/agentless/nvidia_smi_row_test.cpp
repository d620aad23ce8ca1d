#include "agentless/nvidia_smi_row.hpp"

#include <gtest/gtest.h>

#include <array>

#include "agentless/nvidia_smi.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::string_view uuid = "GPU-00000000-1111-2222-3333-444444444444";

GpuTable table(std::string_view text) { return read_gpu_table(text, {}); }

bool has_trouble(const GpuRow& row, std::string_view code) {
    for (const auto& trouble : row.troubles)
        if (trouble.code == code) return true;
    return false;
}

TEST(HealthColumns, AreReadWhereTheQueryHasThem) {
    const std::string header =
        "index, memory.used [MiB], gpu_recovery_action, remapped_rows.pending, remapped_rows.failure\n";
    EXPECT_FALSE(has_trouble(table(header + "0, 0 MiB, None, No, 0\n").rows.at(0), "recovery-action"));
    EXPECT_FALSE(has_trouble(table(header + "0, 0 MiB, [N/A], [N/A], N/A\n").rows.at(0), "recovery-action"));
    EXPECT_TRUE(has_trouble(table(header + "0, 0 MiB, GPU Reset, No, No\n").rows.at(0), "recovery-action"));
    EXPECT_TRUE(has_trouble(table(header + "0, 0 MiB, None, Yes, No\n").rows.at(0), "row-remap-pending"));
    EXPECT_TRUE(has_trouble(table(header + "0, 0 MiB, None, No, Yes\n").rows.at(0), "row-remap-failed"));
    EXPECT_TRUE(has_trouble(table(header + "0, 0 MiB, None, No, 1\n").rows.at(0), "row-remap-failed"));
}

TEST(HealthColumns, HaveToBePlainValues) {
    const std::string start = "0, " + std::string(uuid) + ", 00000000:00:06.0, 0 MiB, 143771 MiB, ";
    EXPECT_TRUE(table(start + "35, P0, H200\n").rows.at(0).troubles.empty());
    EXPECT_TRUE(has_trouble(table(start + "N/A, P0, H200\n").rows.at(0), "health-not-shown"));
    EXPECT_TRUE(has_trouble(table(start + "hot, P0, H200\n").rows.at(0), "health-unreadable"));
    EXPECT_TRUE(has_trouble(table(start + "35, P99, H200\n").rows.at(0), "health-unreadable"));
    EXPECT_TRUE(has_trouble(table(start + "35, [Timeout], H200\n").rows.at(0), "health-unreadable"));
}

TEST(Line, FitsItsColumnsOrIsNoRow) {
    const std::vector<std::string> two{"index", "memory.used"};
    EXPECT_EQ(fit_cells("0, 5 MiB", two), (std::vector<std::string_view>{"0", "5 MiB"}));
    EXPECT_EQ(fit_cells("[Unknown Error], [Unknown Error]", two).size(), 2u);
    for (const auto* line : {"", "0", "0, 5 MiB, 1", "zero, 5 MiB", "0, much", "Hello, world"})
        EXPECT_TRUE(fit_cells(line, two).empty()) << line;
    EXPECT_EQ(fit_cells("0, a, b, c", {"index", "name"}), (std::vector<std::string_view>{"0", "a, b, c"}));
}

TEST(Row, ReadsAColumnThatWasAskedTwiceOnce) {
    const auto row = read_row({"0", "5 MiB", "P0", "P8"}, {"index", "memory.used", "pstate", "pstate"}, true);
    EXPECT_EQ(row.used, Mebibytes{5});
    EXPECT_FALSE(has_trouble(row, "cell-unreadable"));
}

TEST(Row, WithTwoWordsOnOneThingIsNotBelieved) {
    for (const auto& [column, one, other] :
         std::vector<std::array<std::string, 3>>{{"index", "0", "1"},
                                                 {"memory.used", "5 MiB", "7 MiB"},
                                                 {"memory.total", "5 MiB", "7 MiB"},
                                                 {"pci.bus_id", "0000:0B:00.0", "0000:0C:00.0"}}) {
        EXPECT_FALSE(has_trouble(read_row({one, one}, {column, column}, true), "cell-unreadable")) << column;
        EXPECT_TRUE(has_trouble(read_row({one, other}, {column, column}, true), "cell-unreadable")) << column;
    }
}

TEST(Row, WithACellThatNvidiaSmiNeverPrintsIsNotBelieved) {
    const std::vector<std::string> columns{
        "index",           "uuid",   "pci.bus_id", "memory.used",         "memory.total",
        "temperature.gpu", "pstate", "power.draw", "gpu_recovery_action", "name"};
    const std::vector<std::string_view> good{"0",  uuid, "00000000:00:06.0", "0 MiB", "143771 MiB",
                                             "35", "P0", "77.73 W",          "None",  "NVIDIA H200"};
    const auto unreadable = [](const GpuRow& row) {
        for (const auto& trouble : row.troubles)
            if (trouble.trouble == Trouble::unreadable) return true;
        return !row.index || !row.used;
    };
    ASSERT_FALSE(unreadable(read_row(good, columns, true)));
    for (std::size_t i = 0; i < good.size(); ++i) {
        for (const std::string_view cell : {std::string_view(), std::string_view("\0", 1),
                                            std::string_view("\xff"), std::string_view("a\x1b[31m")}) {
            auto cells = good;
            cells[i] = cell;
            EXPECT_TRUE(unreadable(read_row(cells, columns, true))) << columns[i];
        }
        if (columns[i] == "gpu_recovery_action") continue;  // costs only itself
        auto cells = good;
        cells[i] = "[Timeout]";
        EXPECT_TRUE(unreadable(read_row(cells, columns, true))) << columns[i];
    }
    for (const auto* total : {"-1 MiB", "1.5 MiB", "143,771", "140 GiB", "99999999999999999999 MiB"}) {
        auto cells = good;
        cells[4] = total;
        EXPECT_TRUE(unreadable(read_row(cells, columns, true))) << total;
    }
}

TEST(Row, ThatTheOutputEndsInIsBelievedUpToANumberThatMayGoOn) {
    EXPECT_EQ(read_row({"5 MiB", "1"}, {"memory.used", "index"}, true).index, 1);
    EXPECT_EQ(read_row({"5 MiB", "1"}, {"memory.used", "index"}, false).index, std::nullopt);
    EXPECT_EQ(read_row({"0", "14377"}, {"index", "memory.total"}, false).total, std::nullopt);
    EXPECT_EQ(read_row({"0", "143771 MiB"}, {"index", "memory.total"}, false).total, Mebibytes{143'771});
}

TEST(OptionalColumns, AreKeptApartFromTheOthers) {
    const auto row =
        read_row({"0", "None", "5 MiB", "Active"},
                 {"index", "gpu_recovery_action", "memory.used", "clocks_event_reasons.hw_slowdown"}, true);
    EXPECT_EQ(row.cells, (std::vector<std::string>{"0", "5 MiB"}));
    EXPECT_EQ(row.optional, (std::vector<OptionalCell>{{"gpu_recovery_action", "None"},
                                                       {"clocks_event_reasons.hw_slowdown", "Active"}}));
    EXPECT_TRUE(has_trouble(row, "hw-slowdown"));
}

TEST(OptionalColumns, OfAHeaderWithOlderNamesAreKeptUnderTheNormalOnes) {
    const auto read =
        table("index, memory.used [MiB], clocks_throttle_reasons.hw_slowdown\n0, 0 MiB, Not Active\n");
    ASSERT_EQ(read.rows.at(0).optional.size(), 1u);
    EXPECT_EQ(read.rows[0].optional[0].column, "clocks_event_reasons.hw_slowdown");
}

TEST(Row, WhoseQueryAskedForNoIndexOrNoUsedMemorySaysSo) {
    const auto says = [](const std::vector<std::string_view>& cells,
                         const std::vector<std::string>& columns) {
        std::string text;
        for (const auto& trouble : read_row(cells, columns, true).troubles)
            if (trouble.trouble == Trouble::unreadable) text += trouble.code + ": " + trouble.text + "; ";
        return text;
    };
    EXPECT_EQ(says({"5 MiB"}, {"memory.used"}), "index-unreadable: the query has no index; ");
    EXPECT_EQ(says({"5"}, {"index"}), "memory-unreadable: the query has no memory.used; ");
    EXPECT_EQ(says({"5", "5 MiB"}, {"index", "memory.used"}), "");
}

TEST(Row, ShowsTheCellThatIsNoIndexOrNoUsedMemory) {
    const auto says = [](std::string_view index, std::string_view used) {
        std::string text;
        for (const auto& trouble : read_row({index, used}, {"index", "memory.used"}, true).troubles)
            if (trouble.trouble == Trouble::unreadable) text += trouble.code + ": " + trouble.text + "; ";
        return text;
    };
    EXPECT_EQ(says("5", "[GPU is in recovery]"), "memory-unreadable: memory.used is [GPU is in recovery]; ");
    EXPECT_EQ(says("5", "[Timeout]"), "memory-unreadable: memory.used is [Timeout]; ");
    EXPECT_EQ(says("5", ""), "memory-unreadable: memory.used is empty; ");
    EXPECT_EQ(says("", "5 MiB"), "index-unreadable: index is empty; ");
    for (const std::string& cell :
         std::vector<std::string>{"[Timeout]", "[GPU is in recovery]", "[N/A]", "N/A", "[Not Supported]"})
        EXPECT_EQ(says(cell, "5 MiB"), "index-unreadable: index is " + cell + "; ");
    EXPECT_EQ(says("[N/A]", "[Timeout]"),
              "index-unreadable: index is [N/A]; memory-unreadable: memory.used is [Timeout]; ");
    // The verdict has words of its own for these.
    for (const auto* cell : {"[GPU is lost]", "[Unknown Error]", "[Insufficient Permissions]"})
        EXPECT_EQ(says(cell, cell), "") << cell;
    EXPECT_EQ(says("5", "[N/A]"), "");
    // A cell of any length, and only its beginning is shown.
    const std::string noise = "[" + std::string(100, 'x');
    EXPECT_LT(says("5", noise).size(), 110u);
}

TEST(Row, OfAGpuWithoutAnyMemoryAtAllIsNotBelieved) {
    for (const auto* total : {"0 MiB", "0"}) {
        const auto row = read_row({"5", "0 MiB", total}, {"index", "memory.used", "memory.total"}, true);
        EXPECT_TRUE(has_trouble(row, "cell-unreadable")) << total;
        EXPECT_EQ(row.total, std::nullopt) << total;
    }
}

TEST(Row, ThatIsNoneOfItsColumnsSaysWhichCellIsWrong) {
    const auto says = [](std::string_view text) {
        const auto read = table(text);
        return read.rows.empty() || read.rows[0].troubles.empty() ? "" : read.rows[0].troubles[0].text;
    };
    EXPECT_EQ(says("index, memory.used [MiB]\n0, 70 GiB\n"), "memory.used is 70 GiB");
    EXPECT_EQ(says("index, memory.used [MiB], uuid\n0, 70 MiB, \n"), "uuid is empty");
    EXPECT_EQ(says("index, memory.used [MiB], uuid\n0, 70 MiB\n"), "2 cells where 3 were expected");
    EXPECT_EQ(says("0, 50 %\n"), "taken for 2 columns as there is no header, memory.used is 50 %");
    EXPECT_EQ(says("0, 50 MiB, 7\n"), "3 cells where 2 or 8 were expected");
}

}  // namespace
}  // namespace cleanslate::agentless
