// parse, from its words to its end, in this process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "controller/commands.hpp"
#include "temporary_folder.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class ParseCommand : public ::testing::Test {
  protected:
    // Its exit status; the report's host, or a null, in host_.
    int parse(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"parse", "--format", "json"});
        const auto options = read_command_line(arguments, {});
        if (!options) return options.error().exit_status;
        std::FILE* file = std::fopen(folder_.file("stdout").c_str(), "w");
        Output out(::fileno(file));
        ::testing::internal::CaptureStderr();
        const int status = run_command_line({*options, {}, arguments, Terminal{}, out});
        err_ = ::testing::internal::GetCapturedStderr();
        std::fclose(file);
        const Json report = Json::parse(contents_of(folder_.file("stdout")), nullptr, false);
        host_ = report.is_object() ? report["hosts"][0] : Json();
        return status;
    }
    std::string input(const std::string& text) {
        put(folder_.file("input"), text);
        return folder_.file("input");
    }
    bool has(const std::string& code) const {
        for (const auto& finding : host_["findings"])
            if (finding["code"] == code) return true;
        return false;
    }
    TemporaryFolder folder_;
    Json host_;
    std::string err_;
};

TEST_F(ParseCommand, JudgesTheExitStatusWhereItIsTold) {
    const std::string file = input("0, 0 MiB\n");
    EXPECT_EQ(parse({"--expect", "1", file}), 0);
    EXPECT_EQ(parse({"--expect", "1", "--exit-status", "0", file}), 0);
    EXPECT_EQ(parse({"--expect", "1", "--exit-status", "255", file}), 3);
    EXPECT_TRUE(has("nvidia-smi-failed"));
    EXPECT_EQ(parse({"--expect", "1", "--exit-status", "124", file}), 3);
    EXPECT_TRUE(has("driver-hung"));
}

TEST_F(ParseCommand, RefusesWhatIsNoExitStatus) {
    for (const auto* wrong : {"256", "-1", "", "1.0", "ok", "99999999999999999999"})
        EXPECT_EQ(parse({"--exit-status", wrong, input("")}), 2) << wrong;
}

TEST_F(ParseCommand, ReadsAPipeOfNoiseWithoutRefusingItsSize) {
    const std::string pipe = folder_.file("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] {
        std::ofstream out(pipe, std::ios::binary);
        const std::string piece(1 << 20, 'x');
        for (int i = 0; i < 70; ++i) out << piece << (i % 7 == 0 ? "\n" : "");
    });
    EXPECT_EQ(parse({"--expect", "1", pipe}), 3);
    writer.join();
    EXPECT_EQ(host_["verdict"], "unknown");
    EXPECT_TRUE(has("line-too-long"));
}

TEST_F(ParseCommand, TakesABaseline) {
    EXPECT_EQ(parse({"--expect", "1", "--baseline", folder_.file("absent"), input("0, 0 MiB\n")}), 2);
    EXPECT_THAT(err_, HasSubstr("absent"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
