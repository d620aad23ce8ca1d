#include "agentless/ssh/ssh_config_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cleanslate::agentless::ssh {
namespace {

class SshConfigFiles : public testing::Test {
  protected:
    SshConfigFiles() {
        char name[] = "/tmp/cleanslate-config-XXXXXX";
        folder_ = ::mkdtemp(name);
    }
    ~SshConfigFiles() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
        const std::string path = folder_ + "/" + name;
        std::ofstream(path) << text;
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }
    std::string read(const std::string& path, bool guarded) const {
        const auto text = files_.read(path, guarded);
        if (!text) return "refused: " + text.error().message + " | " + text.error().remedy;
        return *text ? **text : "absent";
    }

    std::string folder_;
    ConfigSource files_ = config_files();
};

TEST_F(SshConfigFiles, AreReadOrAbsent) {
    EXPECT_EQ(read(write("c", "User a\n"), true), "User a\n");
    EXPECT_EQ(read(folder_ + "/none", true), "absent");
    EXPECT_EQ(read(folder_ + "/c/below", true), "absent");
    EXPECT_EQ(read("/dev/null", false), "");
    EXPECT_EQ(read(folder_, true), "") << "a pattern of Include may meet a folder";
    EXPECT_TRUE(read(folder_, false).starts_with("refused: " + folder_ + ": is a folder"));
}

TEST_F(SshConfigFiles, ThatOthersMayWriteAreRefusedWithTheRemedy) {
    const std::string file = write("c", "User a\n", 0620);
    EXPECT_EQ(read(file, true), "refused: " + file +
                                    ": bad owner or permissions: others could have written it | chmod go-w " +
                                    file + "; it must belong to you or to root");
    EXPECT_EQ(read(file, false), "User a\n")
        << "as for ssh, a file that was named is not looked at so closely";
    EXPECT_EQ(read(write("c", "User a\n", 0644), true), "User a\n");
}

TEST_F(SshConfigFiles, OfOtherPeopleAreRefused) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root to give a file away";
    const std::string file = write("c", "User a\n");
    ASSERT_EQ(::chown(file.c_str(), 4242, 4242), 0);
    EXPECT_TRUE(read(file, true).starts_with("refused: " + file + ": bad owner"));
}

TEST_F(SshConfigFiles, AreFoundByPatternsInOrder) {
    write("b.conf", "");
    write("a.conf", "");
    write("a.txt", "");
    EXPECT_EQ(files_.matching(folder_ + "/*.conf").value(),
              (std::vector<std::string>{folder_ + "/a.conf", folder_ + "/b.conf"}));
    EXPECT_TRUE(files_.matching(folder_ + "/none*").value().empty());
    EXPECT_TRUE(files_.matching(folder_ + "/none").value().empty());
}

}  // namespace
}  // namespace cleanslate::agentless::ssh
