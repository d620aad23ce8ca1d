#include "agentless/nvidia_smi_row.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cleanslate::agentless
