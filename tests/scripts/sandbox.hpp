#pragma once
// A host of its own for one script run: mount and pid namespace, /proc, /dev and /run of its own, where a
// test makes device files and processes as it likes. All of it ends with the sandbox.

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::testing {

using Argv = std::vector<std::string>;

// What a test inside the sandbox tells the test outside.
struct Seen {
    std::string out, err;            // of the script
    std::string earlier;             // what one before it printed
    std::map<std::string, int> ids;  // pids and whatever else has a name
    long milliseconds = 0;           // that the script took
    std::string failure;             // set where the sandbox itself failed
};

// How the script is run.
struct Runner {
    std::string name;   // for test names
    Argv shell;         // reads the script from its standard input
    std::string tools;  // "busybox": its applets come first on PATH; "gawk", "original-awk": as awk; "": the
                        // machine's
};

inline std::ostream& operator<<(std::ostream& out, const Runner& runner) { return out << runner.name; }

// The shells that this machine has, and the sets of tools.
std::vector<Runner> all_shells();
std::vector<Runner> all_tools();

// Inside: this is pid 1, and pid 2 is called kthreadd.
class Sandbox {
  public:
    // Files with their folders; text files that start with #! are executable.
    void file(const std::string& path, std::string_view text);
    void device(const std::string& name) { file("/dev/" + name, std::string(8192, '\0')); }
    // A nvidia-smi that answers the core query with one idle GPU and the compute-apps query with `apps`, and
    // runs `before` (sh) first.
    void nvidia_smi(const std::string& before = "", const std::string& apps = "");
    // Hides a program of the machine.
    void hide(const std::string& program);

    // A child that runs `body` and then sleeps; returns when body has ended.
    int process(const std::function<void()>& body);
    // A child that is `program` with these arguments (the first is its name); returns when it has begun.
    int program(const std::string& path, const Argv& argv, const std::function<void()>& before = {});

    // Runs `input` under the shell as user `uid`, to its end; at most `seconds`.
    void run(const Runner& runner, const std::string& input, Seen& seen, unsigned uid = 0, int seconds = 30);

    // How many processes there are besides 1 and 2, once no more than `allowed` are there, or after 5 s.
    int left(int allowed = 0) const;
    static std::string start_of(int pid);  // field 22 of stat
    static char state_of(int pid);
};

// Empty where a sandbox can be made, else why not.
std::string no_sandbox();

// Runs `body` inside; what it put into Seen comes back.
Seen inside(const std::function<void(Sandbox&, Seen&)>& body);

}  // namespace cleanslate::testing

#define SKIP_WITHOUT_SANDBOX() \
    if (const auto why = cleanslate::testing::no_sandbox(); !why.empty()) GTEST_SKIP() << why
