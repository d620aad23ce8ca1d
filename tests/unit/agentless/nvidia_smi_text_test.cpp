#include <gtest/gtest.h>

#include "agentless/nvidia_smi.hpp"

namespace cleanslate::agentless {
namespace {

struct Line {
    const char* text;
    Trouble trouble;
    const char* code;
    const char* bus_id;
};

TEST(Prose, IsClassified) {
    const std::vector<Line> lines{
        {"Unable to determine the device handle for GPU 0000:0B:00.0: Unknown Error", Trouble::sick,
         "gpu-unknown-error", "00000000:0b:00.0"},
        {"Unable to determine the device handle for gpu 0000:18:00.0: Unknown Error", Trouble::sick,
         "gpu-unknown-error", "00000000:18:00.0"},
        {"Unable to determine the device handle for GPU0000:17:00.0: GPU is lost.  Reboot the system to "
         "recover this GPU",
         Trouble::sick, "gpu-lost", "00000000:17:00.0"},
        {"Unable to determine the device handle for GPU 0000:17:00.0: GPU requires reset", Trouble::sick,
         "gpu-requires-reset", "00000000:17:00.0"},
        {"Unable to determine the device handle for GPU 0000:17:00.0: Insufficient Permissions",
         Trouble::refused, "permission-refused", "00000000:17:00.0"},
        {"Unable to determine the device handle for GPU 0000:17:00.0: Something else", Trouble::unreadable,
         "gpu-handle-failed", "00000000:17:00.0"},
        {"WARNING: infoROM is corrupted at gpu 0000:86:00.0", Trouble::sick, "inforom-corrupted",
         "00000000:86:00.0"},
        {"No devices were found", Trouble::unreadable, "no-devices", ""},
        {"Field \"no.such.field\" is not a valid field to query.", Trouble::unreadable, "unknown-field", ""},
        {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
         "latest "
         "NVIDIA driver is installed and running.",
         Trouble::unreadable, "driver-not-loaded", ""},
        {"Failed to initialize NVML: Driver/library version mismatch", Trouble::unreadable, "driver-mismatch",
         ""},
        {"Failed to initialize NVML: Unknown Error", Trouble::unreadable, "container-device-cgroup", ""},
        {"Failed to initialize NVML: Insufficient Permissions", Trouble::refused, "permission-refused", ""},
        {"NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA "
         "Display "
         "Driver is properly installed and present in your system.",
         Trouble::unreadable, "nvml-missing", ""},
        {"bash: nvidia-smi: command not found", Trouble::unreadable, "nvidia-smi-missing", ""},
        {"NVML library version: 535.129", Trouble::none, "continued", ""},
        {"  843   928   988  1050", Trouble::none, "pids", ""},
        {"Last login: Sun Nov 29 12:00:00 2026 from 192.0.2.7", Trouble::unreadable, "unrecognised-line", ""},
        {"GPU 0: NVIDIA H200 (UUID: GPU-00000000-1111-2222-3333-444444444444)", Trouble::unreadable,
         "unrecognised-line", ""},
    };
    for (const auto& line : lines) {
        const auto message = classify_line(line.text);
        EXPECT_EQ(message.trouble, line.trouble) << line.text;
        EXPECT_EQ(message.code, line.code) << line.text;
        EXPECT_EQ(message.bus_id, line.bus_id) << line.text;
    }
}

TEST(Prose, ThatOnlyBeginsLikePidsIsNotPids) {
    EXPECT_EQ(classify_line(std::string(600, '7') + " and more").code, "unrecognised-line");
}

TEST(Prose, IsKeptShort) { EXPECT_LE(classify_line(std::string(1'000'000, 'x')).text.size(), 512u); }

GpuTable table(std::string_view text) { return read_gpu_table(text, {}); }

TEST(WrappedLine, IsPutTogetherWhereverItWasCut) {
    for (const auto* text : {
             "0, 0 MiB\nUnable to determine the device handle for GPU 0000:18:00.0: GPU is lost.  Reboot the "
             "system to\n"
             "recover this GPU\n1, 0 MiB\n",
             "0, 0 MiB\nUnable to determine the device handle for GPU 0000:18:00.0: GPU is lost.\n"
             "Reboot the system to recover this GPU\n1, 0 MiB\n",
             "0, 0 MiB\nUnable to determine the device handle for GPU\n"
             "0000:18:00.0: GPU is lost.  Reboot the system to recover this GPU\n1, 0 MiB\n",
             "0, 0 MiB\nUnable to determine the device handle for GPU 0000:18:00.0: GPU is lost.  Reboot the "
             "sys\r\n"
             "tem to recover this GPU\r\n1, 0 MiB\r\n",
         }) {
        const auto read = table(text);
        ASSERT_EQ(read.messages.size(), 1u) << text;
        EXPECT_EQ(read.messages[0].code, "gpu-lost");
        EXPECT_EQ(read.messages[0].trouble, Trouble::sick);
        EXPECT_EQ(read.messages[0].bus_id, "00000000:18:00.0");
        EXPECT_EQ(read.rows.size(), 2u);
    }
}

TEST(WrappedLine, TakesNothingElseIn) {
    const auto read = table(
        "Unable to determine the device handle for GPU 0000:18:00.0: Unknown Error\n"
        "something nobody knows\n");
    ASSERT_EQ(read.messages.size(), 2u);
    EXPECT_EQ(read.messages[0].trouble, Trouble::sick);
    EXPECT_EQ(read.messages[1].trouble, Trouble::unreadable);
}

TEST(WrappedLine, TwoLostGpusStayTwo) {
    const auto read = table(
        "Unable to determine the device handle for GPU 0000:18:00.0: Unknown Error\n"
        "Unable to determine the device handle for GPU 0000:19:00.0: Unknown Error\n");
    ASSERT_EQ(read.messages.size(), 2u);
    EXPECT_EQ(read.messages[0].bus_id, "00000000:18:00.0");
    EXPECT_EQ(read.messages[1].bus_id, "00000000:19:00.0");
}

}  // namespace
}  // namespace cleanslate::agentless
