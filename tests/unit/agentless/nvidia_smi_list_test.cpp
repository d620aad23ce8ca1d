#include "agentless/nvidia_smi_list.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace cleanslate::agentless {
namespace {

std::string gpu_uuid(int n) { return fmt::format("GPU-00000000-1111-2222-3333-{:012}", n); }
std::string mig_uuid(int n) { return fmt::format("MIG-00000000-1111-2222-3333-{:012}", n); }
std::string gpu(int n, const std::string& name = "NVIDIA H200") {
    return fmt::format("GPU {}: {} (UUID: {})\n", n, name, gpu_uuid(n));
}
std::string instance(int device, int n, const std::string& profile = "1g.18gb") {
    return fmt::format("  MIG {}     Device  {}: (UUID: {})\n", profile, device, mig_uuid(n));
}

// "0[1g.18gb@0 3g.71gb@1] 1": GPUs and their instances.
std::string shape(const GpuList& list) {
    std::string all;
    for (const auto& listed : list.gpus) {
        all += fmt::format("{}{}", all.empty() ? "" : " ", listed.index);
        for (const auto& mig : listed.instances)
            all +=
                fmt::format("{}{}@{}", &mig == listed.instances.data() ? "[" : " ", mig.profile, mig.device);
        if (!listed.instances.empty()) all += "]";
    }
    return all;
}

TEST(List, OfARealH200HasOneGpu) {
    std::ifstream file(std::string(CLEANSLATE_SOURCE_DIR) + "/tests/corpus/h200/list.txt");
    std::stringstream text;
    text << file.rdbuf();
    const auto list = read_gpu_list(text.str());
    EXPECT_TRUE(list.problems.empty());
    ASSERT_EQ(list.gpus.size(), 1u);
    EXPECT_EQ(list.gpus[0].index, 0);
    EXPECT_EQ(list.gpus[0].name, "NVIDIA H200");
    EXPECT_EQ(list.gpus[0].uuid, "GPU-00000000-1111-2222-3333-444444444444");
    EXPECT_TRUE(list.gpus[0].instances.empty());
}

TEST(List, HasMigInstancesBelowTheirGpusAndNotAsGpus) {
    const auto list = read_gpu_list(gpu(0) + instance(0, 1, "3g.71gb") + instance(1, 2) + gpu(1) +
                                    instance(0, 3, "1c.2g.35gb+me"));
    EXPECT_TRUE(list.problems.empty());
    EXPECT_EQ(shape(list), "0[3g.71gb@0 1g.18gb@1] 1[1c.2g.35gb+me@0]");
    EXPECT_EQ(list.gpus[0].instances[1].uuid, mig_uuid(2));
}

TEST(List, OfAnOldDriverNamesInstancesByTheirGpu) {
    const auto line = [](int of, const char* path) {
        return fmt::format("  MIG 1g.5gb Device 0: (UUID: MIG-{}/{})\n", gpu_uuid(of), path);
    };
    const auto list = read_gpu_list(gpu(0) + line(0, "7/0"));
    EXPECT_TRUE(list.problems.empty());
    ASSERT_EQ(shape(list), "0[1g.5gb@0]");
    EXPECT_EQ(list.gpus[0].instances[0].uuid, "MIG-" + gpu_uuid(0) + "/7/0");
    EXPECT_EQ(read_gpu_list(gpu(0) + line(1, "7/0")).problems.size(), 1u);  // it is of another GPU
    for (const auto* path : {"7", "7/", "/7/0", "7/0/1", "7/x", "-1/0"})
        EXPECT_EQ(shape(read_gpu_list(gpu(0) + line(0, path))), "0") << path;
}

TEST(List, IsTheSameWithCrlfWithAByteOrderMarkAndWithoutALastNewline) {
    const std::string text = gpu(0) + instance(0, 1);
    std::string crlf;
    for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
    for (const auto& same : {crlf, "\xEF\xBB\xBF" + text, text.substr(0, text.size() - 1), "\n\n" + text}) {
        const auto list = read_gpu_list(same);
        EXPECT_TRUE(list.problems.empty()) << same;
        EXPECT_EQ(shape(list), "0[1g.18gb@0]") << same;
        EXPECT_EQ(list.gpus[0].instances[0].uuid, mig_uuid(1));
    }
}

TEST(List, TakesNamesAsTheyAre) {
    for (const auto* name : {"Orin (nvgpu)", "A: B: C", "GPU, with, commas", "X (UUID: none)", "(", ")",
                             "GRID V100D-8Q", "MIG 1g.5gb Device 0:"}) {
        const auto list = read_gpu_list(gpu(0, name));
        ASSERT_EQ(list.gpus.size(), 1u) << name;
        EXPECT_EQ(list.gpus[0].name, name);
        EXPECT_EQ(list.gpus[0].uuid, gpu_uuid(0));
    }
}

TEST(List, KeepsAnyOtherLineAsAProblem) {
    const std::vector<std::string> lines{
        "No devices were found",
        "Unable to determine the device handle for gpu 0000:0B:00.0: Unknown Error",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "GPU 0: NVIDIA H200",
        "GPU 0: NVIDIA H200 (UUID: GPU-1)",
        "GPU 0: NVIDIA H200 (UUID: " + mig_uuid(0) + ")",
        "GPU 0: NVIDIA H200 (UUID: [Unknown Error])",
        "GPU 0: (UUID: " + gpu_uuid(0) + ")",
        "GPU 00: NVIDIA H200 (UUID: " + gpu_uuid(0) + ")",
        "GPU -1: NVIDIA H200 (UUID: " + gpu_uuid(0) + ")",
        "GPU 1024: NVIDIA H200 (UUID: " + gpu_uuid(0) + ")",
        "GPU 99999999999999999999: NVIDIA H200 (UUID: " + gpu_uuid(0) + ")",
        "GPU : NVIDIA H200 (UUID: " + gpu_uuid(0) + ")",
        "GPU 0 NVIDIA H200 (UUID: " + gpu_uuid(0) + ")",
        "gpu 0: NVIDIA H200 (UUID: " + gpu_uuid(0) + ")",
        "GPU 0: NVIDIA H200 (UUID: " + gpu_uuid(0) + ") and more",
        "GPU 0: NVIDIA H200 (UUID: " + gpu_uuid(0),
        "843 928GPU 0: NVIDIA H200 (UUID: " + gpu_uuid(0) + ")",
        "GPU ",
        "MIG ",
        std::string("\0", 1),
        "\xff\xfe",
    };
    for (const auto& line : lines) {
        const auto list = read_gpu_list(line + "\n" + gpu(7));
        EXPECT_EQ(shape(list), "7") << line;
        EXPECT_EQ(list.problems.size(), 1u) << line;
    }
}

TEST(List, ThatWasCutInItsLastLineSaysSo) {
    const std::string text = gpu(0) + gpu(1);
    for (std::size_t cut = gpu(0).size() + 1; cut + 1 < text.size(); ++cut) {
        const auto list = read_gpu_list(text.substr(0, cut));
        EXPECT_EQ(shape(list), "0") << cut;
        EXPECT_EQ(list.problems.size(), 1u) << cut;
    }
}

TEST(Instance, BelongsToTheGpuRightAboveItOrToNone) {
    EXPECT_EQ(shape(read_gpu_list(instance(0, 1))), "");
    EXPECT_EQ(read_gpu_list(instance(0, 1)).problems.size(), 1u);
    // Where the line of its GPU could not be read, it is not the GPU before that one.
    for (const auto* between : {"GPU 1: NVIDIA H200 (UUID: ?)\n",
                                "Unable to determine the device handle for gpu: Unknown Error\n"}) {
        const auto list = read_gpu_list(gpu(0) + instance(0, 1) + between + instance(0, 2) + gpu(2));
        EXPECT_EQ(shape(list), "0[1g.18gb@0] 2") << between;
        EXPECT_EQ(list.problems.size(), 2u) << between;
    }
    // A line of an instance that cannot be read leaves the others where they are.
    const auto list = read_gpu_list(gpu(0) + instance(0, 1) + "  MIG what\n" + instance(1, 2));
    EXPECT_EQ(shape(list), "0[1g.18gb@0 1g.18gb@1]");
    EXPECT_EQ(list.problems.size(), 1u);
}

TEST(Instance, HasAProfileADeviceAndAUuid) {
    for (const std::string& line :
         std::vector<std::string>{std::string("  MIG 1g.18gb     Device  0:\n"),
                                  "  MIG      Device  0: (UUID: " + mig_uuid(1) + ")\n",
                                  "  MIG 1g.18gb     Device  x: (UUID: " + mig_uuid(1) + ")\n",
                                  "  MIG 1g.18gb     Device  0 (UUID: " + mig_uuid(1) + ")\n",
                                  "  MIG 1g 18gb     Device  0: (UUID: " + mig_uuid(1) + ")\n",
                                  "  MIG 1g.18gb     Device  0: (UUID: " + gpu_uuid(1) + ")\n",
                                  "  MIG 1g.18gb     Device  0: (UUID: MIG-1)\n",
                                  "  MIG 1g.18gb 0: (UUID: " + mig_uuid(1) + ")\n"}) {
        const auto list = read_gpu_list(gpu(0) + line);
        EXPECT_EQ(shape(list), "0") << line;
        EXPECT_EQ(list.problems.size(), 1u) << line;
    }
}

TEST(List, TakesWhatItSaysTwiceOnce) {
    EXPECT_EQ(shape(read_gpu_list(gpu(0) + gpu(0))), "0");
    EXPECT_EQ(read_gpu_list(gpu(0) + gpu(0)).problems.size(), 1u);
    const std::string same_uuid = "GPU 1: NVIDIA H200 (UUID: " + gpu_uuid(0) + ")\n";
    EXPECT_EQ(shape(read_gpu_list(gpu(0) + same_uuid)), "0");
    // The instances of the second are not the first's.
    EXPECT_EQ(shape(read_gpu_list(gpu(0) + gpu(0) + instance(0, 1))), "0");
    EXPECT_EQ(shape(read_gpu_list(gpu(0) + instance(0, 1) + instance(0, 2) + instance(1, 1))),
              "0[1g.18gb@0]");
}

TEST(List, IsBounded) {
    std::string many;
    for (int i = 0; i < 3000; ++i) many += gpu(i % 1024, std::string(2000, 'x')) + instance(i % 1024, i);
    const auto list = read_gpu_list(many);
    EXPECT_LE(list.gpus.size(), 1024u);
    for (const auto& listed : list.gpus) EXPECT_LE(listed.name.size(), 256u);
    EXPECT_LE(list.problems.size(), 64u);

    std::string instances = gpu(0);
    for (int i = 0; i < 1000; ++i) instances += instance(i, i);
    EXPECT_LE(read_gpu_list(instances).gpus.at(0).instances.size(), 64u);

    std::string noise;
    for (int i = 0; i < 100'000; ++i) noise += "noise\n";
    EXPECT_EQ(read_gpu_list(noise).problems.back(), "99937 more lines were not read");
    const auto endless = read_gpu_list(std::string(1'000'000, ' ') + gpu(0) + gpu(1));
    EXPECT_EQ(shape(endless), "1");
    EXPECT_EQ(endless.problems.size(), 1u);
}

}  // namespace
}  // namespace cleanslate::agentless
