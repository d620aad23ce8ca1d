#include <fmt/format.h>
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

TEST(InitFailure, IsNamedByItsReason) {
    const std::vector<Line> lines{
        {"Failed to initialize NVML: Unknown Error", Trouble::unreadable, "container-device-cgroup", ""},
        {"Failed to initialize NVML: Driver/library version mismatch", Trouble::unreadable, "driver-mismatch",
         ""},
        {"Failed to initialize NVML: Insufficient Permissions", Trouble::refused, "permission-refused", ""},
        {"Failed to initialize NVML: Driver Not Loaded", Trouble::unreadable, "driver-not-loaded", ""},
        {"Failed to initialize NVML: GPU is lost", Trouble::sick, "gpu-lost", ""},
        {"Failed to initialize NVML: GPU requires reset", Trouble::sick, "gpu-requires-reset", ""},
        {"Failed to initialize NVML: Insufficient External Power", Trouble::unreadable, "power-cable", ""},
        {"Failed to initialize NVML: GPU access blocked by the operating system", Trouble::unreadable,
         "nvml-failed", ""},
        {"Failed to initialize NVML: N/A", Trouble::unreadable, "nvml-failed", ""},
        {"Failed to initialize NVML", Trouble::unreadable, "nvml-failed", ""},
    };
    for (const auto& line : lines) {
        EXPECT_EQ(classify_line(line.text).trouble, line.trouble) << line.text;
        EXPECT_EQ(classify_line(line.text).code, line.code) << line.text;
    }
}

TEST(ShellMessage, SaysThatNvidiaSmiCouldNotBeRun) {
    for (const auto* text :
         {"bash: nvidia-smi: command not found", "bash: line 1: nvidia-smi: command not found",
          "sh: 1: nvidia-smi: not found", "-sh: nvidia-smi: not found", "ksh: nvidia-smi: not found",
          "zsh:1: command not found: nvidia-smi", "bash: /usr/bin/nvidia-smi: No such file or directory",
          "timeout: failed to run command 'nvidia-smi': No such file or directory",
          "bash: /usr/bin/nvidia-smi: Permission denied",
          "-bash: /usr/bin/nvidia-smi: cannot execute binary file: Exec format error",
          "nvidia-smi: error while loading shared libraries: libdl.so.2: cannot open shared object file: No "
          "such file or directory"})
        EXPECT_EQ(classify_line(text).code, "nvidia-smi-missing") << text;
    EXPECT_EQ(classify_line("bash: nvtop: command not found").code, "unrecognised-line");
}

// Words that a message of the day may have too are no word of the driver.
TEST(Prose, IsNotTakenForASickGpuByAWordAlone) {
    for (const auto* text : {"Your password requires reset", "The badge is lost", "He fell off the bus",
                             "Unknown Error", "the session is lost"})
        EXPECT_EQ(classify_line(text).code, "unrecognised-line") << text;
}

TEST(Prose, ThatNamesASickGpuByItsBusIdIsOfThatGpu) {
    for (const auto& [what, code] :
         std::vector<std::pair<std::string, std::string>>{{"has fallen off the bus", "gpu-lost"},
                                                          {"is lost", "gpu-lost"},
                                                          {"requires reset", "gpu-requires-reset"}})
        for (const std::string_view name :
             {"GPU 0000:0B:00.0 ", "GPU at 0000:0B:00.0 ", "GPU0000:0b:00.0 ", "gpu2: 00000000:0B:00.0 ",
              "NVRM: GPU 0000:0b:00.0: GPU ", "WARNING: The GPU  at  0000:0B:00.0\t"})
            for (const std::string_view end : {"", ".", ".  Reboot the system to recover this GPU"}) {
                const auto message = classify_line(fmt::format("{}{}{}", name, what, end));
                EXPECT_EQ(message.trouble, Trouble::sick) << message.text;
                EXPECT_EQ(message.code, code) << message.text;
                EXPECT_EQ(message.bus_id, "00000000:0b:00.0") << message.text;
            }
}

TEST(Prose, OfASickGpuWithoutABusIdIsAMessageOfItsOwn) {
    for (const std::string& what :
         std::vector<std::string>{"GPU is lost", "GPU has fallen off the bus", "GPU requires reset"}) {
        for (const auto& text :
             std::vector<std::string>{what, what + ".", "Failed to query: " + what,
                                      what + ".  Reboot the system to recover this GPU",
                                      what + ".  Reboot the", "7, [" + what + "], [" + what + "]"})
            EXPECT_EQ(classify_line(text).trouble, Trouble::sick) << text;
        for (const auto& text : std::vector<std::string>{what + ", said Bob", "Rumour has it that a " + what,
                                                         "Is it true that the " + what + "?",
                                                         what + ". Ask Bob", what + "ing time", "[" + what,
                                                         "Disk 0000:0B:00.0 not; " + what + " too"}) {
            EXPECT_EQ(classify_line(text).trouble, Trouble::unreadable) << text;
            EXPECT_EQ(classify_line(text).code, "unrecognised-line") << text;
        }
    }
    // Of something that is no GPU, or said before the bus id is.
    for (const auto* text : {"Disk 0000:0B:00.0 is lost", "My badge is lost on GPU 0000:0B:00.0"})
        EXPECT_EQ(classify_line(text).code, "unrecognised-line") << text;
}

TEST(Prose, WithBytesThatAreNoTextIsReadAsItIs) {
    EXPECT_EQ(classify_line(std::string_view("\0\0\0", 3)).code, "unrecognised-line");
    EXPECT_EQ(classify_line("\xff\xfe No devices were found \x80").code, "no-devices");
    EXPECT_EQ(classify_line(std::string_view("No devices\0 were found", 23)).code, "unrecognised-line");
}

}  // namespace
}  // namespace cleanslate::agentless
