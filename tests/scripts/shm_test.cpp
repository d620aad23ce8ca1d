// Files in /dev/shm as a survey sees them and as the script removes them, under each shell and each set of
// tools.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/scripts/acts_fixture.hpp"
#include "tests/scripts/survey_fixture.hpp"

namespace cleanslate::agentless {
namespace {

using namespace act_tests;
using enum ShmReport::Result;

const std::vector<std::string> hostile_names{
    "job-a b",    "job-\nshmfile 1 2 3", "job-*",       "job-$(touch pwned)",
    "job-'\"`\\", "job-\x01\xff",        "job-%2d -> x"};

class ShmScript : public ActScript {
  protected:
    static void make_shm() {
        std::filesystem::create_directories("/dev/shm");
        if (::mount("none", "/dev/shm", "tmpfs", 0, "mode=1777") != 0) throw std::runtime_error("mount");
    }
    static void make(const std::string& name) {
        std::ofstream(("/dev/shm/" + name).c_str(), std::ios::binary) << "12345";
    }
    static Evidence survey(Sandbox& host, std::vector<std::string> patterns) {
        SurveyRequest request;
        request.shm_names = std::move(patterns);
        host.nvidia_smi();
        Seen seen;
        host.run(GetParam(), survey_script(request, nonce), seen);
        return survey_tests::read_text(seen.out);
    }
    static ShmReport remove(Sandbox& host, std::vector<ShmFile> files, unsigned uid = 0) {
        Seen seen;
        host.run(GetParam(), shm_script({std::move(files), boot_id()}, nonce), seen, uid);
        auto report = read_shm(seen.out, nonce);
        EXPECT_TRUE(report && report->complete) << seen.out;
        return report.value_or(ShmReport{});
    }
    static const ShmFile* find(const Evidence& evidence, const std::string& name) {
        if (!evidence.shm) return nullptr;
        for (const auto& file : *evidence.shm)
            if (file.name == name) return &file;
        return nullptr;
    }
    static ShmReport::Result result(const ShmReport& report, const ShmFile& file) {
        for (const auto& there : report.files)
            if (there.inode == file.inode && there.device == file.device) return there.result;
        throw std::runtime_error("no result for " + file.name);
    }
    static bool there(const std::string& name) { return ::access(("/dev/shm/" + name).c_str(), F_OK) == 0; }
};

INSTANTIATE_TEST_SUITE_P(Shells, ShmScript, ::testing::ValuesIn(all_shells()), name_of);
INSTANTIATE_TEST_SUITE_P(Tools, ShmScript, ::testing::ValuesIn(all_tools()), name_of);

TEST_P(ShmScript, ShowsRegularFilesThatFitAndRemovesThemWhateverTheirNames) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_shm();
        for (const auto& name : hostile_names) make(name);
        make("job-x");
        make("-rf");
        make("kept");
        std::filesystem::create_directory("/dev/shm/job-folder");
        std::filesystem::create_symlink("/etc/passwd", "/dev/shm/job-link");
        ::mkfifo("/dev/shm/job-fifo", 0600);
        const auto evidence = survey(host, {"job-*", "*-x", "-rf", "$(reboot)", "../*"});
        out.ids["known"] = evidence.shm.has_value();
        out.ids["count"] = evidence.shm ? static_cast<int>(evidence.shm->size()) : -1;
        if (!evidence.shm) return;
        for (const auto& file : *evidence.shm) {
            out.ids["odd"] += file.uid != 0 || file.bytes != 5 || file.links != 1 || !file.age_s ||
                              *file.age_s > 60 || !file.users.empty() || file.user != "root";
        }
        const auto report = remove(host, *evidence.shm);
        for (const auto& file : *evidence.shm) out.ids["removed"] += result(report, file) == removed;
        for (const auto& name : hostile_names)
            out.ids["still"] += there(name) && find(evidence, name) != nullptr;
        out.ids["x"] = there("job-x") || there("-rf");
        out.ids["others"] = there("kept") && there("job-folder") && there("job-fifo");
        out.ids["pwned"] = std::filesystem::exists("/dev/shm/pwned");
    });
    expect_quiet(seen);
    ASSERT_EQ(seen.ids.at("known"), 1);
    // Where links are read by ls, files with unprintable names are not shown.
    const bool by_ls = GetParam().tools == "busybox";
    EXPECT_EQ(seen.ids.at("count"), by_ls ? 7 : 9);
    EXPECT_EQ(seen.ids.at("odd"), 0);
    EXPECT_EQ(seen.ids.at("removed"), seen.ids.at("count"));
    EXPECT_EQ(seen.ids.at("still"), 0);
    EXPECT_EQ(seen.ids.at("x"), 0);
    EXPECT_EQ(seen.ids.at("others"), 1);
    EXPECT_EQ(seen.ids.at("pwned"), 0);
}

TEST_P(ShmScript, NamesWhoHasAFileOpenOrMappedAndSparesIt) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_shm();
        for (const char* name : {"job-open", "job-mapped", "job-free"}) make(name);
        out.ids["opener"] = host.process([] { survey_tests::open_file("/dev/shm/job-open"); });
        out.ids["mapper"] = host.process([] {
            const int fd = ::open("/dev/shm/job-mapped", O_RDONLY);
            if (::mmap(nullptr, 5, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) ::_exit(1);
            ::close(fd);
        });
        const auto evidence = survey(host, {"job-*"});
        const auto* open = find(evidence, "job-open");
        const auto* mapped = find(evidence, "job-mapped");
        const auto* free = find(evidence, "job-free");
        if (open == nullptr || mapped == nullptr || free == nullptr) throw std::runtime_error("not seen");
        out.ids["open by"] = open->users.size() == 1 ? open->users[0] : -1;
        out.ids["mapped by"] = mapped->users.size() == 1 ? mapped->users[0] : -1;
        out.ids["free by"] = static_cast<int>(free->users.size());
        out.ids["shown"] =
            evidence.find(out.ids["opener"]) != nullptr && evidence.find(out.ids["mapper"]) != nullptr;
        const auto report = remove(host, {*open, *mapped, *free});
        out.ids["spared"] = result(report, *open) == in_use && result(report, *mapped) == in_use;
        out.ids["removed"] = result(report, *free) == removed;
        out.ids["there"] = there("job-open") && there("job-mapped") && !there("job-free");
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.ids.at("open by"), seen.ids.at("opener"));
    EXPECT_EQ(seen.ids.at("mapped by"), seen.ids.at("mapper"));
    EXPECT_EQ(seen.ids.at("free by"), 0);
    EXPECT_EQ(seen.ids.at("shown"), 1);
    EXPECT_EQ(seen.ids.at("spared"), 1);
    EXPECT_EQ(seen.ids.at("removed"), 1);
    EXPECT_EQ(seen.ids.at("there"), 1);
}

TEST_P(ShmScript, SparesWhatHasChangedSinceItWasListed) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_shm();
        for (const char* name : {"job-grown", "job-linked", "job-other", "job-gone", "job-folder"})
            make(name);
        const auto evidence = survey(host, {"job-*"});
        std::ofstream("/dev/shm/job-grown", std::ios::app) << "more";
        std::filesystem::create_hard_link("/dev/shm/job-linked", "/dev/shm/second");
        std::filesystem::rename("/dev/shm/job-other", "/dev/shm/moved");
        make("job-other");
        std::filesystem::remove("/dev/shm/job-gone");
        std::filesystem::remove("/dev/shm/job-folder");
        std::filesystem::create_directory("/dev/shm/job-folder");
        if (!evidence.shm || evidence.shm->size() != 5) throw std::runtime_error("not seen");
        const auto report = remove(host, *evidence.shm);
        for (const char* name : {"job-grown", "job-linked", "job-other", "job-folder"})
            out.ids["changed"] += result(report, *find(evidence, name)) == changed && there(name);
        out.ids["gone"] = result(report, *find(evidence, "job-gone")) == gone;
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.ids.at("changed"), 4);
    EXPECT_EQ(seen.ids.at("gone"), 1);
}

TEST_P(ShmScript, RemovesNothingWhereItCannotSeeWhoUsesIt) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_shm();
        make("job-x");
        if (::chown("/dev/shm/job-x", 65534, 65534) != 0) throw std::runtime_error("chown");
        const auto evidence = survey(host, {"job-x"});
        if (!evidence.shm || evidence.shm->size() != 1) throw std::runtime_error("not seen");
        out.ids["unreadable"] =
            result(remove(host, *evidence.shm, 65534), evidence.shm->front()) == unreadable;
        out.ids["there"] = there("job-x");
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.ids.at("unreadable"), 1);
    EXPECT_EQ(seen.ids.at("there"), 1);
}

TEST_P(ShmScript, RemovesNothingAfterABoot) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_shm();
        make("job-x");
        const auto evidence = survey(host, {"job-x"});
        if (!evidence.shm || evidence.shm->size() != 1) throw std::runtime_error("not seen");
        host.run(GetParam(), shm_script({*evidence.shm, "00000000-0000-0000-0000-000000000000"}, nonce), out);
        out.ids["there"] = there("job-x");
    });
    expect_quiet(seen);
    const auto report = read_shm(seen.out, nonce);
    ASSERT_TRUE(report && report->complete && report->files.size() == 1) << seen.out;
    EXPECT_EQ(report->files[0].result, changed);
    EXPECT_EQ(seen.ids.at("there"), 1);
}

TEST_P(ShmScript, SaysNothingOfFilesThatWereNotAskedFor) {
    const auto seen = inside([&](Sandbox& host, Seen& out) {
        make_shm();
        make("job-x");
        out.ids["unasked"] = survey(host, {}).shm.has_value();
        out.ids["none"] = survey(host, {"other-*"}).shm.value_or(std::vector<ShmFile>(3)).empty();
    });
    expect_quiet(seen);
    EXPECT_EQ(seen.ids.at("unasked"), 0);
    EXPECT_EQ(seen.ids.at("none"), 1);
}

}  // namespace
}  // namespace cleanslate::agentless
