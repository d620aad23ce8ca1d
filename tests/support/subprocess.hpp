#pragma once
// Runs a program as a person would: to its end, with both streams read, or in a terminal of its own.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cleanslate::testing {

struct Ended {
    int status = -1;  // exit status; 128 + N where signal N ended it; -1: had to be killed at the deadline
    std::string out, err;
    std::chrono::milliseconds took{0};
};

struct RunSpec {
    std::vector<std::string> argv;
    std::string input;                       // standard input, then its end
    std::map<std::string, std::string> env;  // over this process's own
    std::chrono::seconds deadline{60};
};

Ended run(const RunSpec& spec);

// A program in a pseudo-terminal of 80 x 24: stdin, stdout and stderr are the terminal.
class Terminal {
  public:
    explicit Terminal(const std::vector<std::string>& argv,
                      const std::map<std::string, std::string>& env = {});
    ~Terminal();  // kills what still runs
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    // Reads until `text` was printed (true), the program ended or the deadline passed (false).
    bool wait_for(const std::string& text, std::chrono::seconds deadline = std::chrono::seconds(30));
    void type(const std::string& keys);
    void signal(int number);
    void resize(unsigned short columns);
    void forget();   // the screen so far
    void hang_up();  // as when its window is closed: nothing is read or typed any more
    int wait_end(std::chrono::seconds deadline = std::chrono::seconds(60));  // as Ended::status
    const std::string& screen() const { return screen_; }                    // everything printed so far
    int pid() const { return pid_; }

  private:
    bool read_some(std::chrono::steady_clock::time_point until);
    int pid_ = -1;
    int fd_ = -1;
    std::string screen_;
};

}  // namespace cleanslate::testing
