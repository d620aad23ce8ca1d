#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/host_block.hpp"
#include "text_of.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MigBlock, GivesAHolderThatTheDriverDoesNotNameNoPid) {
    HostOutcome host = dirty_host("gpu01");
    MigInstance& instance = host.last->gpus[2].instances.emplace_back();
    instance.device = 0;
    instance.gpu_instance = 7;
    instance.profile = "1g.18gb";
    instance.holders = {{}};
    EXPECT_THAT(of({host}), HasSubstr("        MIG 0     1g.18gb  a process without pid\n"));
}

TEST(MigBlock, ShowsMigInstancesBelowTheirGpuWithTheirHoldersPids) {
    HostOutcome host = dirty_host("gpu01");
    auto& instances = host.last->gpus[2].instances;
    for (int device = 0; device < 4; ++device) {
        MigInstance& instance = instances.emplace_back();
        instance.device = device;
        instance.gpu_instance = 7 + device;
        instance.profile = device == 3 ? "3g.71gb" : "1g.18gb";
    }
    instances[1].holders = {{812, 5812}, {813, 5813}};
    EXPECT_THAT(of({host}),
                HasSubstr("            keeps a dead process's memory through inherited descriptors\n"
                          "        MIG 0,2   1g.18gb  no holder\n"
                          "        MIG 1     1g.18gb  pid 812, pid 813\n"
                          "        MIG 3     3g.71gb  no holder\n"
                          "    GPU 0-1,3-7 clean"));
}

TEST(MigBlock, SaysOfNoInstanceThatNobodyHoldsItWhereThatCannotBeTold) {
    HostOutcome host = dirty_host("gpu01");
    auto& instances = host.last->gpus[2].instances;
    instances.resize(4);
    for (int i = 0; i < 2; ++i) {
        instances[i].device = i;
        instances[i].profile = "1g.18gb";
        // those two again, by the kernel's numbers
        instances[i + 2].gpu_instance = 7 + i;
        instances[i + 2].compute_instance = 0;
    }
    instances[3].holders = {{812, 5812}};
    EXPECT_THAT(of({host}), HasSubstr("        MIG 0-1   1g.18gb\n"
                                      "        MIG GI 8 CI 0 pid 812\n"
                                      "    GPU 0-1,3-7 clean"));
}

TEST(MigBlock, KeepsTheInstancesOfCleanGpusToItself) {
    HostOutcome host = dirty_host("gpu01");
    for (GpuVerdict& gpu : host.last->gpus)
        if (gpu.index != 2) gpu.instances.resize(7);
    EXPECT_THAT(of({host}), Not(HasSubstr("MIG")));
}

}  // namespace
}  // namespace cleanslate::controller::testing
