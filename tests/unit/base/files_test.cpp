#include "base/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace cleanslate {
namespace {

class ReadFile : public testing::Test {
  protected:
    ReadFile() { std::filesystem::create_directories(folder_); }
    ~ReadFile() override { std::filesystem::remove_all(folder_); }
    std::string path(const std::string& name) const { return folder_ / name; }

  private:
    std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / ("read_file_" + std::to_string(getpid()));
};

TEST_F(ReadFile, GivesTheBytesAsTheyAre) {
    const std::string bytes("a\r\n\0\xFF", 5);
    std::ofstream(path("f"), std::ios::binary) << bytes;
    EXPECT_EQ(read_file(path("f"), 5).value(), bytes);
}

TEST_F(ReadFile, ReadsAPipeToItsEnd) {
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path("pipe")) << std::string(200'000, 'x'); });
    const auto read = read_file(path("pipe"), 1'000'000);
    writer.join();
    EXPECT_EQ(read.value().size(), 200'000U);
}

TEST_F(ReadFile, RefusesMoreThanTheBound) {
    std::ofstream(path("f")) << "123456";
    const auto read = read_file(path("f"), 5);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, "file");
    EXPECT_EQ(read.error().message, path("f") + ": is larger than 5 bytes");
}

TEST_F(ReadFile, NamesWhatCanNotBeRead) {
    EXPECT_EQ(read_file(path("none"), 5).error().message,
              path("none") + ": can not be read: No such file or directory");
    EXPECT_EQ(read_file(path(""), 5).error().message, path("") + ": is a folder");
}

TEST_F(ReadFile, GivesAFileOfAnySizeInPieces) {
    std::ofstream(path("f"), std::ios::binary) << std::string(300'000, 'x') << "end";
    std::size_t total = 0, largest = 0;
    std::string last;
    const auto read = read_pieces(path("f"), [&](std::string_view piece) -> Status {
        total += piece.size();
        largest = std::max(largest, piece.size());
        last = piece;
        return {};
    });
    EXPECT_TRUE(read);
    EXPECT_EQ(total, 300'003U);
    EXPECT_LE(largest, 65'536U);
    EXPECT_TRUE(last.ends_with("end"));
    EXPECT_EQ(read_pieces(path("none"), [](std::string_view) -> Status { return {}; }).error().message,
              path("none") + ": can not be read: No such file or directory");
}

TEST_F(ReadFile, StopsAtTheFirstPieceThatIsNotWanted) {
    std::ofstream(path("f")) << std::string(300'000, 'x');
    int pieces = 0;
    const auto read = read_pieces(path("f"), [&](std::string_view) -> Status {
        ++pieces;
        return fail("usage", "enough");
    });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, "enough");
    EXPECT_EQ(pieces, 1);
}

}  // namespace
}  // namespace cleanslate
