#include "inventory/list_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cleanslate::inventory {
namespace {

class ListFile : public testing::Test {
  protected:
    ~ListFile() override { std::filesystem::remove(path_); }

    // "a|!b", or the error with FILE for the path.
    std::string read(std::string_view text) {
        std::ofstream(path_, std::ios::binary) << text;
        std::string out;
        const auto use = [&](const SignedTerm& term) -> Status {
            if (term.text == "bad") return fail("range", "is bad");
            if (!out.empty()) out += '|';
            if (term.sign != Sign::add) out += term.sign == Sign::keep ? '&' : '!';
            out += term.text;
            return {};
        };
        const auto done = each_listed(path_, Separators::commas_and_colons, use);
        if (done) return out;
        EXPECT_TRUE(done.error().kind == "limit" || done.error().kind == "range");
        std::string message = done.error().message;
        if (const auto at = message.find(path_); at != std::string::npos)
            message.replace(at, path_.size(), "FILE");
        return message;
    }

    std::string path_ = std::filesystem::path(testing::TempDir()) / fmt::format("list_{}", getpid());
};

TEST_F(ListFile, HasNamesOneOrSeveralALine) {
    EXPECT_EQ(read("a\nb\n"), "a|b");
    EXPECT_EQ(read("a b\tc,d"), "a|b|c|d");
    EXPECT_EQ(read("n[1-2, 5],m\n!n1"), "n[1-2, 5]|m|!n1");
    EXPECT_EQ(read("a:b\n::1\n"), "a|b|::1");
}

TEST_F(ListFile, MayHaveCommentsBlankLinesAndLineEndsOfWindows) {
    EXPECT_EQ(read("# fleet\r\n\r\n  a # first\r\n\t\r\nb#x\r\n"), "a|b");
    EXPECT_EQ(read("\xEF\xBB\xBF# with a mark\na\n"), "a");
}

TEST_F(ListFile, TakesAListThatWasBrokenBehindCommas) {
    EXPECT_EQ(read("n[01-03,07,\n  09],m1,\n\n  m2\n"), "n[01-03,07,09]|m1|m2");
}

TEST_F(ListFile, TakesHostfilesOfMpi) {
    EXPECT_EQ(read("n1 slots=8\nn2 slots=8 max_slots=16\nn3 max-slots=1\n"), "n1|n2|n3");
    EXPECT_EQ(read("n1 slots=x\n"), "FILE:1: \"slots=x\" is no host name");
    EXPECT_EQ(read("slots=8\n"), "FILE:1: \"slots=8\" is no host name");
    EXPECT_EQ(read("a\nn1 ansible_host=10.0.0.1\n"), "FILE:2: \"ansible_host=10.0.0.1\" is no host name");
}

TEST_F(ListFile, AnErrorNamesItsLine) {
    EXPECT_EQ(read("a\n\nbad\n"), "FILE:3: is bad");
    EXPECT_EQ(read("a\nb,\nc,bad\n"), "FILE:2: is bad") << "where what was broken begins";
    EXPECT_EQ(read("a,,b\n"), "FILE:1: an empty name");
    EXPECT_EQ(read("a,\n"), "FILE:1: an empty name");
    EXPECT_EQ(read("!a b\n"), "FILE:1: \"a b\": a sign and several names");
}

TEST_F(ListFile, WithoutANameIsAnError) {
    EXPECT_EQ(read(""), "FILE: names no host");
    EXPECT_EQ(read("# nobody\n\n"), "FILE: names no host");
    std::filesystem::remove(path_);
    EXPECT_EQ(each_listed(path_, Separators::commas, {}).error().message,
              path_ + ": can not be read: No such file or directory");
}

}  // namespace
}  // namespace cleanslate::inventory
