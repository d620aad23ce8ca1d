#include "agentless/nvidia_smi_wrapped.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "agentless/nvidia_smi.hpp"

namespace cleanslate::agentless {
namespace {

GpuTable table(std::string_view text) { return read_gpu_table(text, {}); }

struct Message {
    const char* text;
    const char* code;
    const char* bus_id;
};

const std::vector<Message> messages{
    {"Unable to determine the device handle for GPU 0000:0B:00.0: Unknown Error", "gpu-unknown-error",
     "00000000:0b:00.0"},
    {"Unable to determine the device handle for gpu 0000:18:00.0: Unknown Error", "gpu-unknown-error",
     "00000000:18:00.0"},
    {"Unable to determine the device handle for GPU0000:17:00.0: GPU is lost.  Reboot the system to recover "
     "this GPU",
     "gpu-lost", "00000000:17:00.0"},
    {"Unable to determine the device handle for GPU2: 0000:41:00.0: Unknown Error", "gpu-unknown-error",
     "00000000:41:00.0"},
    {"Unable to determine the device handle for GPU 0000:17:00.0: GPU requires reset.", "gpu-requires-reset",
     "00000000:17:00.0"},
    {"WARNING: infoROM is corrupted at gpu 0000:86:00.0", "inforom-corrupted", "00000000:86:00.0"},
    {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
     "latest NVIDIA driver is installed and running.",
     "driver-not-loaded", ""},
    {"NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA "
     "Display Driver is properly installed and present in your system. Please also try adding directory "
     "that contains libnvidia-ml.so to your system PATH.",
     "nvml-missing", ""},
    {"Failed to initialize NVML: Driver/library version mismatch", "driver-mismatch", ""},
    {"Failed to initialize NVML: Unknown Error", "container-device-cgroup", ""},
    {"No devices were found", "no-devices", ""},
};

// Wherever a terminal, a logger or a person breaks it: at a blank, which is then gone, or inside a word.
TEST(WrappedMessage, IsOneMessageWhereverItIsBroken) {
    for (const auto& message : messages) {
        const std::string text = message.text;
        for (std::size_t at = 1; at < text.size(); ++at) {
            const bool blank = text[at] == ' ';
            const auto read = table("0, 0 MiB\n" + text.substr(0, at) + "\r\n" +
                                    text.substr(at + (blank ? 1 : 0)) + "\r\n1, 0 MiB\n");
            ASSERT_EQ(read.messages.size(), 1u) << text.substr(0, at) << " | " << text.substr(at);
            EXPECT_EQ(read.messages[0].code, message.code) << text.substr(0, at);
            EXPECT_EQ(read.messages[0].bus_id, message.bus_id) << text.substr(0, at);
            EXPECT_EQ(read.rows.size(), 2u);
        }
    }
}

TEST(WrappedMessage, MayBeBrokenMoreThanOnce) {
    const auto read = table(
        "Unable to determine the device\nhandle for GPU 0000:18:00.0:\nGPU is lost.  Reboot the\nsystem to "
        "recover this GPU\n0, 0 MiB\n");
    ASSERT_EQ(read.messages.size(), 1u);
    EXPECT_EQ(read.messages[0].code, "gpu-lost");
    EXPECT_EQ(read.messages[0].bus_id, "00000000:18:00.0");
}

TEST(WrappedMessage, TakesNothingElseIn) {
    for (const auto* other :
         {"something nobody knows",
          "Unable to determine the device handle for GPU 0000:19:00.0: Unknown Error", "GPU 3 is on fire",
          "Unknown Error", "this GPU", "Error", ":", "0000:19:00.0"}) {
        const auto read =
            table(std::string("Unable to determine the device handle for GPU 0000:18:00.0: Unknown Error\n") +
                  other + "\n");
        ASSERT_EQ(read.messages.size(), 2u) << other;
        EXPECT_EQ(read.messages[0].bus_id, "00000000:18:00.0");
        EXPECT_NE(read.messages[1].trouble, Trouble::none) << other;
    }
}

TEST(WrappedMessage, IsNotJoinedAcrossARow) {
    const auto read =
        table("Unable to determine the device handle for GPU\n0, 0 MiB\n0000:18:00.0: Unknown Error\n");
    EXPECT_EQ(read.messages.size(), 2u);
    for (const auto& message : read.messages) EXPECT_NE(message.trouble, Trouble::none);
}

TEST(SecondSentence, OnALineOfItsOwnBelongsToTheMessageAboveIt) {
    for (
        const auto* text :
        {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\nMake sure that the "
         "latest NVIDIA driver is installed and running.\n",
         "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.129\n",
         "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\nPlease make sure that the NVIDIA "
         "Display Driver is properly installed and present in your system.\nPlease also try adding directory "
         "that contains libnvidia-ml.so to your system PATH.\n",
         "Unable to determine the device handle for GPU 0000:18:00.0: GPU is lost\nReboot the system to "
         "recover this GPU\n"}) {
        for (const auto& message : table(text).messages)
            EXPECT_NE(message.code, "unrecognised-line") << text << message.text;
    }
}

// The first half may be what was lost: alone it must not look harmless.
TEST(SecondSentence, WithoutTheFirstIsALineThatNobodyKnows) {
    for (const auto* text :
         {"Make sure that the latest NVIDIA driver is installed and running.\n",
          "NVML library version: 535.129\n", "Reboot the system to recover this GPU\n",
          "0, 0 MiB\nReboot the system to recover this GPU\n",
          "843 928\nReboot the system to recover this GPU\n", "\nNVML library version: GPU 3 is on fire\n"}) {
        const auto read = table(text);
        ASSERT_FALSE(read.messages.empty()) << text;
        EXPECT_EQ(read.messages.back().trouble, Trouble::unreadable) << text;
        EXPECT_EQ(read.messages.back().code, "unrecognised-line") << text;
    }
}

TEST(JoinedMessage, IsKeptShort) {
    EXPECT_FALSE(joined_message("No devices", std::string(10'000, ' ') + "were found"));
    EXPECT_FALSE(joined_message(std::string(10'000, ' '), "No devices were found"));
}

}  // namespace
}  // namespace cleanslate::agentless
