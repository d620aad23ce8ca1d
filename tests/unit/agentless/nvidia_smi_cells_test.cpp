#include "agentless/nvidia_smi_cells.hpp"

#include <gtest/gtest.h>

#include "agentless/nvidia_smi.hpp"

namespace cleanslate::agentless {
namespace {

TEST(Memory, IsDigitsAndAtMostTheUnit) {
    EXPECT_EQ(read_mebibytes("76107 MiB"), Mebibytes{76107});
    EXPECT_EQ(read_mebibytes("0"), Mebibytes{0});
    for (const auto* cell : {"",
                             " ",
                             "MiB",
                             " MiB",
                             "-1 MiB",
                             "+1 MiB",
                             "1.5 MiB",
                             "1,000 MiB",
                             "1 000 MiB",
                             "1 GiB",
                             "1 KiB",
                             "1MiB",
                             "1  MiB",
                             "1 MiB MiB",
                             "0x10 MiB",
                             "1e3 MiB",
                             "[N/A]",
                             "\xd9\xa1 MiB",
                             "1 mib",
                             "18446744073709551616 MiB",
                             "18446744073709551615",
                             "1099511627777",
                             "00",
                             "007 MiB"})
        EXPECT_EQ(read_mebibytes(cell), std::nullopt) << cell;
}

TEST(Uuid, HasTheShapeThatTheDriverGivesIt) {
    const std::string uuid = "00000000-1111-2222-3333-4444AAAAffff";
    EXPECT_TRUE(is_uuid("GPU-" + uuid));
    EXPECT_TRUE(is_uuid("MIG-" + uuid));
    EXPECT_TRUE(is_uuid("MIG-GPU-" + uuid + "/7/0"));
    for (const std::string& text : {std::string(),
                                    std::string("GPU-"),
                                    std::string("GPU-1"),
                                    std::string("[N/A]"),
                                    uuid,
                                    "gpu-" + uuid,
                                    "GPU-" + uuid + "0",
                                    "GPU-" + uuid + "/7/0",
                                    "GPU-" + uuid.substr(1),
                                    "GPU-g" + uuid.substr(1),
                                    "GPU-" + uuid + " ",
                                    "GPU_" + uuid,
                                    "MIG-GPU-" + uuid,
                                    "MIG-GPU-" + uuid + "/7",
                                    "MIG-GPU-" + uuid + "/7/0/0",
                                    "MIG-GPU-" + uuid + "/07/0",
                                    "MIG-GPU-" + uuid + "/7/-1",
                                    "MIG-MIG-" + uuid,
                                    std::string("GPU-00000000-1111-2222-3333-4444AAAAfff\0", 40),
                                    std::string("GPU-00000000 1111-2222-3333-4444AAAAffff")})
        EXPECT_FALSE(is_uuid(text)) << text;
}

TEST(Index, IsAPlainNumberThatAGpuCanHave) {
    EXPECT_EQ(read_index("0"), 0);
    EXPECT_EQ(read_index("15"), 15);
    for (const auto* cell :
         {"", "00", "07", "-0", "+1", "1 ", "0x1", "772010", "1024", "99999999999999999999", "[N/A]"})
        EXPECT_EQ(read_index(cell), std::nullopt) << cell;
}

TEST(Cell, SaysWhyItHasNoValue) {
    const std::vector<std::pair<const char*, std::pair<CellKind, const char*>>> cells{
        {"0 MiB", {CellKind::plain, ""}},
        {"NVIDIA H200", {CellKind::plain, ""}},
        {"[GPU requires reset]", {CellKind::sick, "gpu-requires-reset"}},
        {"[GPU is lost]", {CellKind::sick, "gpu-lost"}},
        {"[Unknown Error]", {CellKind::sick, "gpu-unknown-error"}},
        {"ERR!", {CellKind::sick, "gpu-unknown-error"}},
        {"[Insufficient Permissions]", {CellKind::refused, "permission-refused"}},
        {"N/A", {CellKind::not_supported, ""}},
        {"[N/A]", {CellKind::not_supported, ""}},
        {"[Not Supported]", {CellKind::not_supported, ""}},
        {"[Requested functionality has been deprecated]", {CellKind::not_supported, ""}},
        {"[Function Not Found]", {CellKind::not_supported, ""}},
        {"[Something new]", {CellKind::other_failure, ""}},
        {"", {CellKind::other_failure, ""}},
    };
    for (const auto& [cell, want] : cells) {
        EXPECT_EQ(read_cell(cell).kind, want.first) << cell;
        EXPECT_EQ(read_cell(cell).code, want.second) << cell;
    }
}

TEST(BusId, HasOneSpelling) {
    EXPECT_EQ(normal_bus_id("0000:0B:00.0"), "00000000:0b:00.0");
    EXPECT_EQ(normal_bus_id("00000000:0B:00.0"), "00000000:0b:00.0");
    EXPECT_EQ(normal_bus_id("00010000:00:1E.7"), "00010000:00:1e.7");
    for (const auto* text : {"", ":", "0B:00.0", "000:0B:00.0", "000000000:0B:00.0", "0000:0B:00",
                             "0000:0B:00.", "0000:0B:00.0 ", "0000:0B:00.00", "0000:0G:00.0", "0000-0B-00.0"})
        EXPECT_EQ(normal_bus_id(text), "") << text;
}

TEST(BusId, OfARowHasADomainOfEightOrFourDigits) {
    EXPECT_TRUE(is_bus_id_cell("00000000:0B:00.0"));
    EXPECT_TRUE(is_bus_id_cell("0000:0b:00.0"));
    for (const auto* text : {"", "0000000:0B:00.0", "00000:0B:00.0", "000000000:0B:00.0", "0B:00.0",
                             "00000000:0B:00", "00000000:0B:00.0 "})
        EXPECT_FALSE(is_bus_id_cell(text)) << text;
}

TEST(BusId, IsFoundInProse) {
    EXPECT_EQ(find_bus_id("for GPU 0000:0B:00.0: Unknown Error"), "00000000:0b:00.0");
    EXPECT_EQ(find_bus_id("for GPU0000:17:00.0: GPU is lost"), "00000000:17:00.0");
    EXPECT_EQ(find_bus_id("corrupted at gpu 00000000:AB:00.0"), "00000000:ab:00.0");
    EXPECT_EQ(find_bus_id("at 12:34:56 nothing"), "");
    EXPECT_EQ(find_bus_id(std::string(100'000, 'a')), "");
    EXPECT_EQ(find_bus_id(std::string(100'000, ':')), "");
}

TEST(Column, HasOneNameUnderAllItsAliases) {
    EXPECT_EQ(normal_column("used_gpu_memory [MiB]"), "used_gpu_memory");
    EXPECT_EQ(normal_column("used_memory"), "used_gpu_memory");
    EXPECT_EQ(normal_column(" Memory.Used [MiB] "), "memory.used");
    EXPECT_EQ(normal_column("memory.used [GiB]"), "memory.used [gib]");
    EXPECT_EQ(normal_column("utilization.memory [%]"), "utilization.memory");
    EXPECT_EQ(normal_column("gpu_uuid"), "uuid");
    EXPECT_EQ(normal_column("gpu_bus_id"), "pci.bus_id");
}

TEST(Column, IsKnownWhereTheProjectReadsIt) {
    for (const auto* column : {"index", "memory.used", "pid", "gpu_recovery_action", "memory.reserved"})
        EXPECT_TRUE(is_known_column(column)) << column;
    for (const auto* column : {"", "noise", "utilization.gpu"}) EXPECT_FALSE(is_known_column(column));
}

TEST(BusIdAndColumn, HoldNoMoreThanTheyMay) {
    EXPECT_LE(normal_column(std::string(1'000'000, 'x')).size(), 64u);
    EXPECT_EQ(split_cells(std::string(1'000'000, ','), 4).size(), 4u);
}

TEST(ExitStatus, HasACodeEach) {
    EXPECT_EQ(code_for_status(0), "");
    EXPECT_EQ(code_for_status(9), "driver-not-loaded");
    EXPECT_EQ(code_for_status(18), "driver-mismatch");
    EXPECT_EQ(code_for_status(124), "driver-hung");
    EXPECT_EQ(code_for_status(127), "nvidia-smi-missing");
    EXPECT_EQ(code_for_status(77), "nvidia-smi-failed");
    EXPECT_EQ(code_for_status(-1), "nvidia-smi-failed");
}

}  // namespace
}  // namespace cleanslate::agentless
