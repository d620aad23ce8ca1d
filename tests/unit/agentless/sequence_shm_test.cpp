// clean_shm: withheld without its flag, on clean hosts too, and what is kept and why.

#include <algorithm>

#include "transcript.hpp"

namespace cleanslate::agentless {
namespace {

using testing::ended;
using testing::Scene;
using testing::Transcript;
using namespace std::chrono_literals;

constexpr const char* clean_shm =
    "steps:\n"
    "  - signal: TERM\n"
    "    match: {holding: gpu}\n"
    "  - clean_shm: {names: ['nccl-*'], older_than: 1h}\n";

Scene with_files(Scene scene, std::vector<std::string> names) {
    auto& shm = scene.evidence().shm.emplace();
    std::uint64_t inode = 10;
    for (const auto& name : names) {
        ShmFile file;
        file.name = name;
        file.device = 1;
        file.inode = inode++;
        file.uid = 2000;
        file.user = "bob";
        file.bytes = 3u << 20;
        file.age_s = 7200;
        shm.push_back(file);
    }
    return scene;
}

class Leftovers : public Transcript {
  protected:
    RemoveFiles expect_removal(ShmReport::Result result) {
        const Move move = next();
        const auto* files = std::get_if<RemoveFiles>(&move);
        EXPECT_NE(files, nullptr) << "expected a removal, got move " << move.index();
        if (files == nullptr) return {};
        ShmReport report;
        report.complete = true;
        for (const auto& file : files->request.files)
            report.files.push_back({file.device, file.inode, result});
        sequence_->files_removed(*files, report);
        return *files;
    }
};

TEST_F(Leftovers, AreKeptUnlessThePersonAllowsIt) {
    use(clean_shm);
    expect_survey(with_files(Scene(8), {"nccl-a", "nccl-b"}));
    EXPECT_EQ(asked_.shm_names, std::vector<std::string>{"nccl-*"});
    expect_finish(Verdict::clean);
    EXPECT_EQ(outcome_.commands.size(), 2u);
    EXPECT_TRUE(outcome_.commands.at(0).withheld);
    EXPECT_TRUE(has_finding("shm-kept", "/dev/shm/nccl-a, /dev/shm/nccl-b kept: --allow-shm was not given"));
}

TEST_F(Leftovers, AreRemovedFromACleanHostWhichIsLookedAtOnceMore) {
    job_.allow_shm = true;
    use(clean_shm);
    expect_survey(with_files(Scene(8), {"nccl-a"}));
    expect_removal(ShmReport::Result::removed);
    EXPECT_EQ(locks_, 1);
    EXPECT_EQ(outcome_.commands.at(0).command, "rm /dev/shm/nccl-a");
    EXPECT_EQ(outcome_.commands.at(0).about, "3 MiB of bob, unchanged for 2h00m");
    EXPECT_EQ(outcome_.commands.at(0).bytes, 3u << 20);
    EXPECT_TRUE(outcome_.commands.at(0).ok);
    expect_survey(with_files(Scene(8), {}));
    expect_finish(Verdict::clean);
}

TEST_F(Leftovers, AreRemovedOnceAKillLeftTheHostCleanAndTheSettlingIsNoLonger) {
    job_.allow_shm = true;
    use(clean_shm);
    expect_survey(with_files(Scene(8).holder(812, 2, 76107), {"nccl-a"}));
    expect_signal("TERM", {812}, ended, 20ms);
    expect_survey(with_files(Scene(8), {"nccl-a"}));
    expect_removal(ShmReport::Result::removed);
    expect_survey(with_files(Scene(8), {}));
    expect_survey(with_files(Scene(8), {}), 2070ms);
    expect_finish(Verdict::clean);
}

TEST_F(Leftovers, OfACleanHostLeadToNoOtherStepWhenSomebodyComesMeanwhile) {
    job_.allow_shm = true;
    use(clean_shm);
    expect_survey(with_files(Scene(8), {"nccl-a"}));
    expect_removal(ShmReport::Result::in_use);
    expect_survey(with_files(Scene(8).holder(900, 1, 500), {"nccl-a"}));
    expect_finish(Verdict::dirty);
    EXPECT_TRUE(outcome_.signals.empty());
    EXPECT_TRUE(has_finding("shm-kept", "somebody has it open or mapped by now"));
    EXPECT_FALSE(outcome_.commands.at(0).ok);
}

TEST_F(Leftovers, FoldManyThatAreKeptForOneReason) {
    use(clean_shm);
    expect_survey(with_files(Scene(8), {"nccl-a", "nccl-b", "nccl-c", "nccl-d", "nccl-e"}));
    expect_finish(Verdict::clean);
    EXPECT_EQ(std::ranges::count(outcome_.findings, "shm-kept", &Finding::code), 1);
    EXPECT_TRUE(has_finding("shm-kept", "/dev/shm/nccl-c and 2 more kept"));
}

constexpr const char* clean_shm_when_drained =
    "steps:\n"
    "  - run: check drained\n"
    "    when: before\n"
    "  - signal: TERM\n"
    "    match: {holding: gpu}\n"
    "  - clean_shm: {names: ['nccl-*'], older_than: 1h}\n";

TEST_F(Leftovers, OfACleanHostStayWhereABeforeCommandVetoesIt) {
    job_.allow_shm = true;
    use(clean_shm_when_drained);
    expect_survey(with_files(Scene(8), {"nccl-a"}));
    expect_command("check drained", CommandAction::Kind::before, 1);
    expect_survey(with_files(Scene(8), {"nccl-a"}));
    expect_survey(with_files(Scene(8), {"nccl-a"}), 2060ms);
    expect_finish(Verdict::clean);
    EXPECT_TRUE(has_finding("vetoed", "check drained"));
    EXPECT_EQ(outcome_.commands.size(), 1u);
}

TEST_F(Leftovers, OfACleanHostGoAfterItsBeforeCommand) {
    job_.allow_shm = true;
    use(clean_shm_when_drained);
    expect_survey(with_files(Scene(8), {"nccl-a"}));
    expect_command("check drained", CommandAction::Kind::before);
    expect_survey(with_files(Scene(8), {"nccl-a"}));
    expect_removal(ShmReport::Result::removed);
    expect_survey(with_files(Scene(8), {}));
    expect_survey(with_files(Scene(8), {}), 2060ms);
    expect_finish(Verdict::clean);
}

TEST_F(Leftovers, OfACleanHostArePlannedWithTheBeforeCommand) {
    job_.allow_shm = job_.dry_run = true;
    use(clean_shm_when_drained);
    expect_survey(with_files(Scene(8), {"nccl-a"}));
    expect_finish(Verdict::clean);
    EXPECT_EQ(outcome_.plan_steps.at(0).commands.size(), 1u);
    EXPECT_EQ(outcome_.plan_steps.at(1).notes.size(), 1u);
    EXPECT_EQ(outcome_.plan_steps.at(2).commands.size(), 1u);
}

TEST_F(Leftovers, NoBeforeCommandRunsWhereThereAreNone) {
    job_.allow_shm = true;
    use(clean_shm_when_drained);
    expect_survey(with_files(Scene(8), {}));
    expect_finish(Verdict::clean);
    EXPECT_TRUE(outcome_.commands.empty());
}

}  // namespace
}  // namespace cleanslate::agentless
