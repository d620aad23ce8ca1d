#include "controller/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

inventory::Host host_of_inventory() {
    inventory::Host host;
    host.name = host.address = "gpu01";
    host.user = "fleet";
    host.identity_file = "/keys/fleet";
    host.gpus = 8;
    host.max_used = Mebibytes{200};
    host.protect = {"mine", "both"};
    host.unprotect = {"Xorg"};
    return host;
}

TEST(TaskFor, TakesTheInventorysWordWhereNoFlagIsGiven) {
    const auto task = task_for(host_of_inventory(), {}, {});
    EXPECT_EQ(task.host.user, "fleet");
    EXPECT_EQ(task.host.identity_file, "/keys/fleet");
    EXPECT_EQ(task.expectations.gpus, 8);
    EXPECT_EQ(task.expectations.max_used, Mebibytes{200});
    EXPECT_FALSE(task.consent);
}

TEST(TaskFor, LetsAFlagWin) {
    Options options;
    options.user = "me";
    options.identities = {"/keys/me"};
    options.max_used = Mebibytes{50};
    const auto task = task_for(host_of_inventory(), options, {});
    EXPECT_EQ(task.host.user, "me");
    EXPECT_EQ(task.host.identity_file, std::nullopt);
    EXPECT_EQ(task.expectations.max_used, Mebibytes{50});
}

TEST(TaskFor, FallsBackToTheDefault) {
    EXPECT_EQ(task_for({}, {}, {}).expectations.max_used, std::nullopt);
    EXPECT_EQ(task_for({}, {}, {}).expectations.gpus, std::nullopt);
}

TEST(TaskFor, LeavesTheLimitToTheBaselineOnlyWhereNothingNearerSetsIt) {
    const auto baseline = std::make_shared<const agentless::Baseline>();
    const auto nothing_set = task_for({}, {}, {}, baseline);
    EXPECT_EQ(nothing_set.expectations.baseline, baseline);
    EXPECT_EQ(nothing_set.expectations.max_used, std::nullopt);
    EXPECT_EQ(task_for(host_of_inventory(), {}, {}, baseline).expectations.max_used, Mebibytes{200});
    EXPECT_EQ(task_for({}, {}, {}).expectations.baseline, nullptr);
}

TEST(TaskFor, JudgesByProcessesAloneOnlyWhereTheInventorySaysSo) {
    inventory::Host host;
    EXPECT_FALSE(task_for(host, {}, {}).expectations.unified_memory);
    host.unified_memory = false;
    EXPECT_FALSE(task_for(host, {}, {}).expectations.unified_memory);
    host.unified_memory = true;
    EXPECT_TRUE(task_for(host, {}, {}).expectations.unified_memory);
}

TEST(LoadBaseline, IsNullWithoutTheOption) { EXPECT_EQ(load_baseline({}).value(), nullptr); }

TEST(LoadBaseline, TakesTheMarginThatIsGiven) {
    const TemporaryFolder folder;
    Options options;
    options.baseline = folder.file("idle.yaml");
    put(folder.file("idle.yaml"),
        "version: 1\n"
        "gpus:\n"
        "  GPU-00000000-1111-2222-3333-444444444444: {host: gpu01, index: 0, used_mib: 4}\n");
    EXPECT_EQ(load_baseline(options).value()->margin, Mebibytes{50});
    EXPECT_EQ(load_baseline(options).value()->gpus.size(), 1u);
    options.baseline_margin = Mebibytes{0};
    EXPECT_EQ(load_baseline(options).value()->margin, Mebibytes{0});
}

TEST(LoadBaseline, RefusesAFileThatIsNoneOrNotThere) {
    const TemporaryFolder folder;
    Options options;
    options.baseline = folder.file("absent.yaml");
    EXPECT_FALSE(load_baseline(options));
    put(folder.file("empty.yaml"), "");
    options.baseline = folder.file("empty.yaml");
    EXPECT_FALSE(load_baseline(options));
}

TEST(TaskFor, KeepsTheUserOfATarget) {
    Options options;
    options.targets = "root@gpu01";
    options.user = "me";
    EXPECT_EQ(task_for(host_of_inventory(), options, {}).host.user, "fleet");
    EXPECT_EQ(task_for({}, options, {}).host.user, "me");
}

TEST(TaskFor, AsksAConfigFileOnlyWhereTheInventoryIsSilent) {
    Options options;
    options.beneath.max_used = Mebibytes{300};
    options.beneath.jump = "bastion";
    EXPECT_EQ(task_for({}, options, {}).expectations.max_used, Mebibytes{300});
    EXPECT_EQ(task_for({}, options, {}).host.proxy_jump, "bastion");
    EXPECT_EQ(task_for(host_of_inventory(), options, {}).expectations.max_used, Mebibytes{200});
    inventory::Host host;
    host.proxy_jump = "none";
    EXPECT_EQ(task_for(host, options, {}).host.proxy_jump, "none");
    const auto baseline = std::make_shared<const agentless::Baseline>();
    EXPECT_EQ(task_for({}, options, {}, baseline).expectations.max_used, std::nullopt);
    options.max_used = Mebibytes{1};
    EXPECT_EQ(task_for({}, options, {}).expectations.max_used, Mebibytes{1});
}

TEST(ReachFor, AsksAConfigFileBeneathEverythingElse) {
    Options options;
    options.beneath.user = "fleet";
    options.beneath.identities = {"/id"};
    EXPECT_EQ(reach_for(options, {}).user, "fleet");
    EXPECT_THAT(reach_for(options, {}).identity_files, ElementsAre("/id"));
    EXPECT_EQ(task_for({}, options, {}).host.user, std::nullopt) << "that would win over the inventory";
    options.user = "me";
    options.identities = {"/mine"};
    EXPECT_EQ(reach_for(options, {}).user, "me");
    EXPECT_THAT(reach_for(options, {}).identity_files, ElementsAre("/mine"));
}

TEST(TaskFor, AddsUpWhatIsProtectedOnEachLevel) {
    Options options;
    options.protect = {"flag", "both"};
    options.unprotect = {"gdm"};
    const auto task = task_for(host_of_inventory(), options, {"playbook", "mine"});
    EXPECT_THAT(task.expectations.protection.protect, ElementsAre("mine", "both", "playbook", "flag"));
    EXPECT_THAT(task.expectations.protection.unprotect, ElementsAre("Xorg", "gdm"));
}

TEST(ReachFor, TakesTheAgentFromTheEnvironment) {
    const auto reach = reach_for({}, {{"HOME", "/home/a"}, {"SSH_AUTH_SOCK", "/run/agent"}});
    EXPECT_EQ(reach.agent_socket, "/run/agent");
    EXPECT_TRUE(reach.known_hosts.empty()) << "ssh's configuration may say";
    EXPECT_FALSE(reach.local);
    Options options;
    options.known_hosts = {"mine"};
    options.local = true;
    EXPECT_THAT(reach_for(options, {}).known_hosts, ElementsAre("mine"));
    EXPECT_TRUE(reach_for(options, {}).local);
}

TEST(ReachFor, TakesTheJumpAndTheConfigurationFromTheirFlags) {
    EXPECT_EQ(reach_for({}, {}).jump, std::nullopt);
    EXPECT_EQ(reach_for({}, {}).ssh_config, std::nullopt) << "ssh's own files";
    Options options;
    options.jump = "root@bastion:2200";
    options.ssh_config = "fleet.conf";
    EXPECT_EQ(reach_for(options, {}).jump, "root@bastion:2200");
    EXPECT_EQ(reach_for(options, {}).ssh_config, "fleet.conf");
}

TEST(JobFor, OfClearHasItsPlaybook) {
    Options options;
    options.command = Command::clear;
    options.dry_run = options.include_jobs = true;
    options.settle = Milliseconds{500};
    const auto job = job_for(options, {{"SLURM_JOB_ID", "4242"}});
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(job->kind, agentless::Job::Kind::clear);
    EXPECT_EQ(job->playbook.value().name, "clear");
    EXPECT_TRUE(job->dry_run);
    EXPECT_TRUE(job->include_jobs);
    EXPECT_EQ(job->own_job, "4242");
    EXPECT_EQ(job->settle, Milliseconds{500});
}

TEST(JobFor, HasTheBoundsAndTheWordsForWhatCannotBeTakenBack) {
    Options options;
    options.command = Command::clear;
    options.max_kills = 3;
    options.max_kills_total = 30;
    options.serial = 2;
    options.lock_wait = Milliseconds{0};
    options.allow_reset = options.allow_shm = true;
    const auto job = job_for(options, {});
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(job->max_kills, 3);
    EXPECT_EQ(job->max_kills_total, 30);
    EXPECT_EQ(job->reboots_at_a_time, 2);
    EXPECT_EQ(job->lock_wait, Milliseconds{0});
    EXPECT_TRUE(job->allow_reset);
    EXPECT_TRUE(job->allow_shm);
    EXPECT_FALSE(job->allow_reboot);
}

TEST(IdleFlags, AreThoseForStepsThatThePlaybookDoesNotHave) {
    playbooks::Playbook playbook;
    playbook.name = "mine";
    playbook.steps.push_back({"reset", playbooks::ResetStep{}, 1});
    Options options;
    EXPECT_THAT(idle_flags(options, playbook), IsEmpty());
    options.allow_reset = options.allow_reboot = options.allow_shm = true;
    options.serial = 2;
    EXPECT_THAT(idle_flags(options, playbook),
                ElementsAre("--allow-reboot changes nothing: playbook mine has no `reboot` step",
                            "--serial changes nothing: playbook mine has no `reboot` step",
                            "--allow-shm changes nothing: playbook mine has no `clean_shm` step"));
    playbook.steps.push_back({"reboot", playbooks::RebootStep{}, 2});
    playbook.steps.push_back({"clean_shm", playbooks::CleanShmStep{}, 3});
    EXPECT_THAT(idle_flags(options, playbook), IsEmpty());
}

TEST(JobFor, RefusesAPlaybookThatIsNotThere) {
    Options options;
    options.command = Command::clear;
    options.playbook = "no-such-playbook";
    EXPECT_FALSE(job_for(options, {}));
}

TEST(JobFor, OfACheckHasNone) {
    const auto job = job_for({}, {});
    ASSERT_TRUE(job);
    EXPECT_EQ(job->kind, agentless::Job::Kind::check);
    EXPECT_FALSE(job->playbook);
    EXPECT_EQ(job->own_job, std::nullopt);
}

TEST(SelectHosts, OfThisMachineHasOne) {
    Options options;
    options.local = true;
    const auto selection = select_hosts(options);
    ASSERT_TRUE(selection);
    ASSERT_EQ(selection->hosts.size(), 1u);
    EXPECT_FALSE(selection->hosts[0].name.empty());
}

TEST(SelectHosts, TakesTargetsOutright) {
    Options options;
    options.targets = "root@gpu[01-02]:2222";
    const auto selection = select_hosts(options);
    ASSERT_TRUE(selection) << selection.error().message;
    ASSERT_EQ(selection->hosts.size(), 2u);
    EXPECT_EQ(selection->hosts[1].name, "gpu02");
    EXPECT_EQ(selection->hosts[1].user, "root");
    EXPECT_EQ(selection->hosts[1].port, 2222);
}

TEST(SelectHosts, ReadsAnInventoryAndItsLimit) {
    const TemporaryFolder folder;
    put(folder.file("fleet.yaml"), "all:\n  hosts:\n    gpu[01-04]:\n");
    Options options;
    options.inventories = {folder.file("fleet.yaml")};
    EXPECT_EQ(select_hosts(options).value().hosts.size(), 4u);
    options.limit = "gpu02";
    EXPECT_EQ(select_hosts(options).value().hosts.size(), 1u);
    for (const char* wrong : {"", "gpu09", "!gpu01", "gpu01,!gpu01"}) {
        options.limit = wrong;
        EXPECT_FALSE(select_hosts(options)) << wrong;
    }
    options.inventories = {folder.file("absent.yaml")};
    EXPECT_FALSE(select_hosts(options));
}

}  // namespace
}  // namespace cleanslate::controller::testing
