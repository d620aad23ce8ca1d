#include "tests/fleet/scale/test/running_simfleet.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/fleet/scale/places.hpp"
#include "tests/fleet/selftest/running_fleet.hpp"

namespace cleanslate::simulated {

RunningSimfleet::RunningSimfleet(const std::vector<std::string>& options) : port_(free_port()) {
    std::string name = "/tmp/simfleet-test-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::vector<std::string> argv{std::string(CLEANSLATE_BINARY_DIR) + "/fleet/simfleet", folder_, "--port",
                                  std::to_string(port_)};
    argv.insert(argv.end(), options.begin(), options.end());
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::dup2(ends[0], STDIN_FILENO);
        std::vector<char*> words;
        for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        ::execv(words[0], words.data());
        ::_exit(127);
    }
    ::close(ends[0]);
    input_ = Fd(ends[1]);
    EXPECT_TRUE(comes_true([&] { return std::filesystem::exists(file("ready")); })) << argv[0];
}

std::string RunningSimfleet::stop() {
    input_.reset();
    int status = -1;
    if (pid_ > 0) ::waitpid(std::exchange(pid_, -1), &status, 0);
    EXPECT_EQ(status, 0);
    return read_file(file("served.json")).value_or("");
}

RunningSimfleet::~RunningSimfleet() {
    if (pid_ > 0) stop();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

}  // namespace cleanslate::simulated
