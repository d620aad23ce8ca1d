#include "agentless/nvidia_smi_optional.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "agentless/nvidia_smi_cells.hpp"

namespace cleanslate::agentless {
namespace {

// What the columns say, in their order: "recovery-action:sick mig-mode:note".
std::string says(std::vector<OptionalCell> cells, std::optional<Mebibytes> total = Mebibytes{143'771}) {
    GpuRow row;
    row.total = total;
    row.optional = std::move(cells);
    judge_optional_columns(row);
    std::string all;
    for (const auto& trouble : row.troubles)
        all += fmt::format("{}{}:{}", all.empty() ? "" : " ", trouble.code,
                           trouble.trouble == Trouble::sick   ? "sick"
                           : trouble.trouble == Trouble::none ? "note"
                                                              : "unknown");
    return all;
}

struct Sample {
    const char* column;
    const char* cell;
    const char* says;
};

TEST(OptionalColumn, SaysWhatItsCellShows) {
    const std::vector<Sample> samples{
        {"gpu_recovery_action", "None", ""},
        {"gpu_recovery_action", "GPU Reset", "recovery-action:sick"},
        {"gpu_recovery_action", "Node Reboot", "recovery-action:sick"},
        {"gpu_recovery_action", "Drain P2P", "recovery-action:sick"},
        {"gpu_recovery_action", "Drain and Reset", "recovery-action:sick"},
        {"gpu_recovery_action", "Something New", "recovery-action:sick"},
        {"remapped_rows.pending", "No", ""},
        {"remapped_rows.pending", "0", ""},
        {"remapped_rows.pending", "Yes", "row-remap-pending:sick"},
        {"remapped_rows.pending", "2", "row-remap-pending:sick"},
        {"remapped_rows.pending", "Perhaps", "optional-not-read:note"},
        {"remapped_rows.failure", "No", ""},
        {"remapped_rows.failure", "Yes", "row-remap-failed:sick"},
        {"remapped_rows.failure", "1", "row-remap-failed:sick"},
        {"retired_pages.pending", "No", ""},
        {"retired_pages.pending", "Yes", "retired-pages-pending:sick"},
        {"ecc.errors.uncorrected.volatile.total", "0", ""},
        {"ecc.errors.uncorrected.volatile.total", "3", "ecc-uncorrected:sick"},
        {"ecc.errors.uncorrected.volatile.total", "1.5", "optional-not-read:note"},
        {"ecc.errors.uncorrected.volatile.total", "-1", "optional-not-read:note"},
        {"ecc.errors.uncorrected.volatile.total", "1 000", "optional-not-read:note"},
        {"ecc.errors.uncorrected.volatile.total", "99999999999999999999", "optional-not-read:note"},
        {"mig.mode.current", "Disabled", ""},
        {"mig.mode.current", "Enabled", "mig-mode:note"},
        {"mig.mode.current", "Half", "optional-not-read:note"},
        {"addressing_mode", "None", ""},
        {"addressing_mode", "HMM", ""},
        {"addressing_mode", "ATS", "addressing-mode:note"},
        {"addressing_mode", "New", "optional-not-read:note"},
        {"fabric.state", "Completed", ""},
        {"fabric.state", "Not Supported", ""},
        {"fabric.state", "Not Started", "fabric-not-ready:sick"},
        {"fabric.state", "In Progress", "fabric-not-ready:sick"},
        {"fabric.status", "Success", ""},
        {"fabric.status", "Failure", "fabric-not-ready:sick"},
        {"clocks_event_reasons.hw_slowdown", "Not Active", ""},
        {"clocks_event_reasons.hw_slowdown", "Active", "hw-slowdown:note"},
        {"clocks_event_reasons.hw_power_brake_slowdown", "Active", "hw-slowdown:note"},
        {"clocks_event_reasons.hw_thermal_slowdown", "Active", "thermal-slowdown:note"},
        {"clocks_event_reasons.sw_thermal_slowdown", "Active", "thermal-slowdown:note"},
        {"clocks_event_reasons.sw_thermal_slowdown", "0x1", "optional-not-read:note"},
        {"persistence_mode", "Enabled", ""},
        {"persistence_mode", "Disabled", "persistence-off:note"},
        {"persistence_mode", "On?", "optional-not-read:note"},
        {"memory.reserved", "616 MiB", ""},
        {"memory.reserved", "9000 MiB", "reserved-memory:note"},
        {"memory.reserved", "9,000 MiB", "optional-not-read:note"},
        {"memory.reserved", "-1 MiB", "optional-not-read:note"},
        {"memory.reserved", "1.5 GiB", "optional-not-read:note"},
        {"driver_version", "580.159.04", ""},
        {"driver_version", "five", "optional-not-read:note"},
    };
    std::set<std::string> columns;
    for (const auto& sample : samples) {
        EXPECT_EQ(says({{sample.column, sample.cell}}), sample.says) << sample.column << " " << sample.cell;
        columns.insert(sample.column);
    }
    for (const auto& field : optional_fields()) {
        if (field.name == "mig.mode.pending") continue;  // it says something only beside the current mode
        EXPECT_TRUE(columns.contains(std::string(field.name))) << field.name;
    }
}

TEST(OptionalColumn, OfAnyKindTakesAFailureTextForWhatItIs) {
    for (const auto& field : optional_fields()) {
        const std::string column(field.name);
        for (const auto* cell : {"N/A", "[N/A]", "[Not Supported]",
                                 "[Requested functionality has been deprecated]", "[Function Not Found]"})
            EXPECT_EQ(says({{column, cell}}), "") << column << " " << cell;
        EXPECT_EQ(says({{column, "[Unknown Error]"}}), "gpu-unknown-error:sick") << column;
        EXPECT_EQ(says({{column, "ERR!"}}), "gpu-unknown-error:sick") << column;
        EXPECT_EQ(says({{column, "[GPU requires reset]"}}), "gpu-requires-reset:sick") << column;
        EXPECT_EQ(says({{column, "[GPU is lost]"}}), "gpu-lost:sick") << column;
        for (const auto* cell : {"[Insufficient Permissions]", "[Something new]", ""})
            EXPECT_EQ(says({{column, cell}}), "optional-not-read:note") << column << " " << cell;
    }
}

TEST(EccErrors, AreOnlyWorthKnowingWhereTheDriverItselfSaysThatNothingNeedsDoing) {
    const OptionalCell count{"ecc.errors.uncorrected.volatile.total", "2"};
    EXPECT_EQ(says({count}), "ecc-uncorrected:sick");
    EXPECT_EQ(says({{"gpu_recovery_action", "None"}, count}), "ecc-uncorrected:note");
    EXPECT_EQ(says({count, {"gpu_recovery_action", "None"}}), "ecc-uncorrected:note");
    for (const auto* silent : {"N/A", "[Insufficient Permissions]", ""})
        EXPECT_NE(says({count, {"gpu_recovery_action", silent}}).find("ecc-uncorrected:sick"),
                  std::string::npos)
            << silent;
    EXPECT_EQ(says({{"gpu_recovery_action", "GPU Reset"}, count}),
              "recovery-action:sick ecc-uncorrected:sick");
}

TEST(MigMode, ThatIsToChangeIsNamed) {
    EXPECT_EQ(says({{"mig.mode.current", "Enabled"}, {"mig.mode.pending", "Enabled"}}), "mig-mode:note");
    EXPECT_EQ(says({{"mig.mode.current", "Disabled"}, {"mig.mode.pending", "Enabled"}}),
              "mig-change-pending:note");
    EXPECT_EQ(says({{"mig.mode.pending", "Disabled"}, {"mig.mode.current", "Enabled"}}),
              "mig-mode:note mig-change-pending:note");
    EXPECT_EQ(says({{"mig.mode.pending", "Enabled"}}), "");
    EXPECT_EQ(says({{"mig.mode.current", "[N/A]"}, {"mig.mode.pending", "Enabled"}}), "");
}

TEST(Fabric, OfAGpuThatIsOnNoneSaysNothing) {
    EXPECT_EQ(says({{"fabric.state", "N/A"}, {"fabric.status", "N/A"}}), "");
    EXPECT_EQ(says({{"fabric.state", "N/A"}, {"fabric.status", "Failure"}}), "");
    EXPECT_EQ(says({{"fabric.status", "Failure"}, {"fabric.state", "Not Supported"}}), "");
    EXPECT_EQ(says({{"fabric.state", "Completed"}, {"fabric.status", "Success"}}), "");
    EXPECT_EQ(says({{"fabric.state", "Completed"}, {"fabric.status", "N/A"}}), "");
    EXPECT_EQ(says({{"fabric.state", "Completed"}, {"fabric.status", "Failure"}}), "fabric-not-ready:sick");
    EXPECT_EQ(says({{"fabric.state", "In Progress"}, {"fabric.status", "Success"}}), "fabric-not-ready:sick");
}

TEST(ReservedMemory, IsWorthAWordAboveAGibibyteAndAboveATwentiethOfTheTotal) {
    EXPECT_EQ(says({{"memory.reserved", "1024 MiB"}}, Mebibytes{2048}), "");
    EXPECT_EQ(says({{"memory.reserved", "1025 MiB"}}, Mebibytes{2048}), "reserved-memory:note");
    EXPECT_EQ(says({{"memory.reserved", "5000 MiB"}}, Mebibytes{100'000}), "");
    EXPECT_EQ(says({{"memory.reserved", "5001 MiB"}}, Mebibytes{100'000}), "reserved-memory:note");
    EXPECT_EQ(says({{"memory.reserved", "90000 MiB"}}, std::nullopt), "");
}

TEST(Slowdown, OfSeveralReasonsIsOneNoteThatNamesThem) {
    GpuRow row;
    for (const auto* reason : {"hw_slowdown", "hw_power_brake_slowdown", "hw_thermal_slowdown"})
        row.optional.push_back({std::string("clocks_event_reasons.") + reason, "Active"});
    judge_optional_columns(row);
    ASSERT_EQ(row.troubles.size(), 2u);
    EXPECT_EQ(row.troubles[0].text, "hw_slowdown, hw_power_brake_slowdown is active");
    EXPECT_EQ(row.troubles[1].text, "hw_thermal_slowdown is active");
}

TEST(OptionalColumn, ShownTwiceIsReadTwice) {
    EXPECT_EQ(says({{"gpu_recovery_action", "None"}, {"gpu_recovery_action", "GPU Reset"}}),
              "recovery-action:sick");
}

TEST(OptionalColumn, IsKnownUnderItsOlderNameToo) {
    EXPECT_TRUE(is_optional_column("clocks_event_reasons.hw_slowdown"));
    EXPECT_TRUE(is_optional_column("clocks_throttle_reasons.hw_slowdown"));
    for (const auto* other : {"", "index", "memory.used", "clocks_throttle_reasons.active", "serial"})
        EXPECT_FALSE(is_optional_column(other)) << other;
    for (const auto& field : optional_fields()) {
        EXPECT_EQ(normal_column(field.name), field.name);
        if (field.older.empty()) continue;
        EXPECT_EQ(normal_column(field.older), field.name);
    }
}

TEST(OptionalColumn, WithEndlessTextIsKeptShort) {
    GpuRow row;
    row.optional = {{"gpu_recovery_action", std::string(100'000, 'x')}};
    judge_optional_columns(row);
    ASSERT_EQ(row.troubles.size(), 1u);
    EXPECT_LT(row.troubles[0].text.size(), 128u);
}

}  // namespace
}  // namespace cleanslate::agentless
