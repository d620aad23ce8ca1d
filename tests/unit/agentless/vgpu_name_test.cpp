#include "agentless/vgpu_name.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless {
namespace {

TEST(VgpuName, EndsInMemoryAndSeries) {
    for (const auto* name :
         {"GRID A100-8Q", "NVIDIA H100-1-10C", "GRID M60-2B", "GRID T4-2B4", "GRID V100-4A", "GRID M10-0Q",
          "NVIDIA A100-1-5CME", "NVIDIA A100-7-40C", "NVIDIA RTX Pro 6000 Blackwell DC-1-24Q",
          "NVIDIA RTX Pro 6000 Blackwell DC-1-24CGFX", "NVIDIA A100-1-5CNOME", "NVIDIA H200X-141C"})
        EXPECT_TRUE(is_vgpu_name(name)) << name;
}

TEST(VgpuName, IsNoneOfAPhysicalGpus) {
    for (const auto* name : {"",
                             "-",
                             "-8Q",
                             "8Q",
                             "NVIDIA H200",
                             "NVIDIA A100-SXM4-80GB",
                             "NVIDIA A100-PCIE-40GB",
                             "Tesla V100-SXM2-32GB-LS",
                             "Tesla V100-DGXS-16GB",
                             "Tesla P100-PCIE-16GB",
                             "Quadro RTX 6000",
                             "NVIDIA GeForce RTX 4090",
                             "NVIDIA GB10",
                             "NVIDIA DRIVE-PG199-PROD",
                             "NVIDIA A100-PG509-200",
                             "Tesla K80",
                             "GRID K520",
                             "NVIDIA A100-8",
                             "NVIDIA A100-8q",
                             "NVIDIA A100-8QX",
                             "NVIDIA A100-Q",
                             "NVIDIA A100-1234Q"})
        EXPECT_FALSE(is_vgpu_name(name)) << name;
}

}  // namespace
}  // namespace cleanslate::agentless
