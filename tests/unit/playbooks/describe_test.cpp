// What a step without a name is called.
#include <gtest/gtest.h>

#include <string>

#include "playbooks/steps.hpp"
#include "transcript.hpp"

namespace cleanslate::playbooks {
namespace {

std::string name_of(const std::string& step) {
    const auto playbook = accepted("steps:\n  - " + step + "\n");
    return playbook.steps.empty() ? "" : playbook.steps[0].name;
}

std::string term(const std::string& match) { return name_of("signal: TERM\n    match: {" + match + "}"); }

TEST(Describe, SaysWhomASignalMeans) {
    EXPECT_EQ(term("holding: gpu"), "TERM holders");
    EXPECT_EQ(term("gpus: [0, 3], tree: true"), "TERM holders of GPU 0, 3 and their launchers");
    EXPECT_EQ(term("cmdline: [vllm, sglang], pid: [7, 9], descendants: true"),
              "TERM processes with cmdline 'vllm' or 'sglang' with pid 7 or 9 and their descendants");
    EXPECT_EQ(term("cgroup: lab, not_cgroup: [prod, web]"),
              "TERM processes with cgroup 'lab' without cgroup 'prod' or 'web'");
}

TEST(Describe, SaysWhomASignalLeavesOut) {
    EXPECT_EQ(term("holding: gpu, orphaned: true, uid_at_least: 1000, older_than: 12h, used_at_least: 1GiB"),
              "TERM orphaned holders with uid 1000 or more older than 12h00m with 1024 MiB or more");
    EXPECT_EQ(term("holding: gpu, user: [ann, bob], not_user: root"),
              "TERM holders of user ann or bob not of user root");
    EXPECT_EQ(term("holding: gpu, slurm_job: [none, 42], pod: none, unit: any"),
              "TERM holders in no slurm job or slurm job 42 in no pod in any unit");
}

TEST(Describe, SaysWhoseProcessesItMeans) {
    EXPECT_EQ(term("unit: [o.service, p*]"), "TERM processes in unit o.service or unit p*");
}

TEST(Describe, SaysWhatAStepDoes) {
    EXPECT_EQ(name_of("stop: [slurm_jobs, units]\n    match: {holding: gpu}"),
              "stop units, slurm jobs of holders");
    EXPECT_EQ(name_of("stop: mps"), "stop MPS of holders");
    EXPECT_EQ(name_of("run: |\n      ./drain.sh\n      second"), "run ./drain.sh");
    EXPECT_EQ(name_of("run: x\n    when: before"), "before: run x");
    EXPECT_EQ(name_of("run: x\n    when: after"), "after: run x");
    EXPECT_EQ(name_of("verify:"), "verify");
    EXPECT_EQ(name_of("verify: {gpus: [0, 3]}"), "verify GPU 0, 3");
    EXPECT_EQ(name_of("reset:"), "reset GPUs");
    EXPECT_EQ(name_of("reset: {daemons: [a.service, b.service]}"), "reset GPUs without a.service, b.service");
    EXPECT_EQ(name_of("reboot:"), "reboot");
    EXPECT_EQ(name_of("clean_shm: ['nccl-*', torch_*]"), "clean /dev/shm of nccl-*, torch_*");
}

TEST(Describe, StaysOneShortLine) {
    Match match;
    for (int i = 0; i < 200; ++i) match.cmdline.push_back(std::string(100, 'x') + "\n\x1b[2J");
    SignalStep step;
    step.match = match;
    const auto name = describe(step);
    EXPECT_LE(name.size(), 200U);
    EXPECT_EQ(name.find_first_of("\n\x1b"), std::string::npos);
}

}  // namespace
}  // namespace cleanslate::playbooks
