#include "controller/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "controller/output.hpp"
#include "controller/signals.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;

std::size_t files_in(const std::string& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(ReplaceFile, PutsTheWholeTextInPlace) {
    const TemporaryFolder folder;
    ASSERT_TRUE(replace_file(folder.file("clean.txt"), "gpu01\ngpu02\n"));
    EXPECT_EQ(contents_of(folder.file("clean.txt")), "gpu01\ngpu02\n");
    ASSERT_TRUE(replace_file(folder.file("clean.txt"), ""));
    EXPECT_EQ(contents_of(folder.file("clean.txt")), "");
    EXPECT_EQ(files_in(folder.file("")), 1u);
}

TEST(ReplaceFile, KeepsTheModeOfAFileThatIsThere) {
    const TemporaryFolder folder;
    put(folder.file("clean.txt"), "old");
    ::chmod(folder.file("clean.txt").c_str(), 0640);
    ASSERT_TRUE(replace_file(folder.file("clean.txt"), "new"));
    EXPECT_EQ(mode_of(folder.file("clean.txt")), 0640u);
}

TEST(ReplaceFile, FollowsALink) {
    const TemporaryFolder folder;
    put(folder.file("real.txt"), "old");
    std::filesystem::create_symlink("real.txt", folder.file("link.txt"));
    ASSERT_TRUE(replace_file(folder.file("link.txt"), "new"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link.txt")));
    EXPECT_EQ(contents_of(folder.file("real.txt")), "new");
}

TEST(FileReplacement, LeavesTheOldTextUntilItIsCommitted) {
    const TemporaryFolder folder;
    put(folder.file("report.html"), "old");
    {
        FileReplacement file(folder.file("report.html"));
        file.write(std::string(1u << 20, 'x'));
        EXPECT_EQ(contents_of(folder.file("report.html")), "old");
    }
    EXPECT_EQ(contents_of(folder.file("report.html")), "old");
    EXPECT_EQ(files_in(folder.file("")), 1u) << "what was written until then is gone";
    FileReplacement file(folder.file("report.html"));
    const std::string large(1u << 20, 'y');
    file.write(large);
    file.write("end");
    ASSERT_TRUE(file.commit());
    EXPECT_EQ(contents_of(folder.file("report.html")), large + "end");
    EXPECT_EQ(files_in(folder.file("")), 1u);
}

TEST(MayReplace, ForeseesWhatReplaceFileWouldRefuse) {
    const TemporaryFolder folder;
    put(folder.file("there.txt"), "old");
    EXPECT_TRUE(may_replace(folder.file("there.txt")));
    EXPECT_TRUE(may_replace(folder.file("new.txt")));
    EXPECT_FALSE(file_exists(folder.file("new.txt")));
    EXPECT_TRUE(file_exists(folder.file("there.txt")));
    for (const std::string& path : {folder.file(""), std::string("/dev/null"), std::string("/proc/self/fd/1"),
                                    folder.file("no/file")}) {
        EXPECT_FALSE(may_replace(path)) << path;
        EXPECT_FALSE(replace_file(path, "x")) << path;
    }
    EXPECT_EQ(contents_of(folder.file("there.txt")), "old");
}

TEST(ReplaceFile, RefusesWhatIsNoRegularFile) {
    const TemporaryFolder folder;
    EXPECT_FALSE(replace_file(folder.file(""), "x"));
    EXPECT_FALSE(replace_file("/dev/null", "x"));
    EXPECT_FALSE(replace_file("/dev/stdout", "x"));
    EXPECT_FALSE(replace_file("/proc/self/fd/1", "x"));
    EXPECT_FALSE(replace_file(folder.file("no/such/folder"), "x"));
    std::filesystem::create_directory(folder.file("sub"));
    const auto refused = replace_file(folder.file("sub"), "x");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("not a regular file"));
    EXPECT_EQ(files_in(folder.file("")), 1u);
}

// The limit stands for a full disk: a write ends early and the next one fails.
TEST(ReplaceFile, LeavesTheOldTextWhereTheNewOneDoesNotFit) {
    ignore_write_signals();
    const TemporaryFolder folder;
    put(folder.file("clean.txt"), "gpu01\n");
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{16, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto written = replace_file(folder.file("clean.txt"), std::string(100, 'x'));
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_FALSE(written);
    EXPECT_EQ(contents_of(folder.file("clean.txt")), "gpu01\n");
    EXPECT_EQ(files_in(folder.file("")), 1u);
}

TEST(SyncFolder, OfAFileIsNoErrorWhereItCanBeDoneAndWhereTheFolderMayNotBeRead) {
    const TemporaryFolder folder;
    EXPECT_TRUE(sync_folder_of(folder.file("log")));
    EXPECT_TRUE(sync_folder_of("log"));
    EXPECT_TRUE(sync_folder_of(folder.file("not-there/log")));
}

TEST(MakeParents, MakesPrivateFolders) {
    const TemporaryFolder folder;
    ASSERT_TRUE(make_parents(folder.file("a/b/log")));
    EXPECT_EQ(mode_of(folder.file("a")), 0700u);
    EXPECT_EQ(mode_of(folder.file("a/b")), 0700u);
    EXPECT_FALSE(std::filesystem::exists(folder.file("a/b/log")));
    EXPECT_TRUE(make_parents(folder.file("a/b/log")));
}

TEST(MakeParents, SaysWhichFolderCannotBeMade) {
    const TemporaryFolder folder;
    put(folder.file("file"), "");
    const auto made = make_parents(folder.file("file/sub/log"));
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr(folder.file("file")));
}

TEST(Output, ArrivesWhole) {
    const TemporaryFolder folder;
    std::FILE* file = std::fopen(folder.file("out").c_str(), "w");
    Output out(::fileno(file));
    out.write("one ");
    out.write("two");
    EXPECT_TRUE(out.finish());
    EXPECT_EQ(contents_of(folder.file("out")), "one two");
    std::fclose(file);
}

TEST(Output, NoticesAFullDisk) {
    std::FILE* full = std::fopen("/dev/full", "w");
    ASSERT_NE(full, nullptr);
    Output out(::fileno(full));
    out.write("report");
    const auto written = out.finish();
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message, HasSubstr("No space left"));
    EXPECT_FALSE(out.finish());
    std::fclose(full);
}

TEST(Output, OfAClosedStreamIsNotAnotherFilesAndIsNoticed) {
    const int kept = ::dup(STDOUT_FILENO);
    ::close(STDOUT_FILENO);
    occupy_closed_streams();
    const TemporaryFolder folder;
    const FileHandle other(::open(folder.file("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    std::FILE* out_file = ::fdopen(::dup(STDOUT_FILENO), "r+");
    Status written = fail("", "");
    if (out_file != nullptr) {
        Output out(::fileno(out_file));
        out.write("report");
        written = out.finish();
        std::fclose(out_file);
    }
    const ssize_t raw = ::write(STDOUT_FILENO, "report", 6);
    ::dup2(kept, STDOUT_FILENO);
    ::close(kept);
    EXPECT_NE(other.get(), STDOUT_FILENO);
    EXPECT_FALSE(written);
    EXPECT_EQ(raw, -1);
    EXPECT_EQ(contents_of(folder.file("log")), "");
}

TEST(Output, NoticesAClosedPipe) {
    ignore_write_signals();
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ::close(ends[0]);
    std::FILE* pipe = ::fdopen(ends[1], "w");
    Output out(::fileno(pipe));
    out.write(std::string(100'000, 'x'));
    EXPECT_FALSE(out.finish());
    std::fclose(pipe);
}

}  // namespace
}  // namespace cleanslate::controller::testing
