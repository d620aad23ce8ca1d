#pragma once
// The programs whose reading of a list is compared with cleanslate's.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "tests/support/subprocess.hpp"

namespace cleanslate::inventory::testing {

using cleanslate::testing::Ended;
using Names = std::vector<std::string>;

inline Ended call(Names argv, std::string input = {}, std::map<std::string, std::string> env = {}) {
    return cleanslate::testing::run(
        {std::move(argv), std::move(input), std::move(env), std::chrono::seconds(120)});
}

inline Names sorted(Names names) {
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    return names;
}

inline Names words(std::string_view text, char separator) {
    Names all;
    for (const auto word : split(text, separator))
        if (!word.empty()) all.emplace_back(word);
    return all;
}

inline std::string beside_sources(const std::string& file) {
    return std::string(CLEANSLATE_SOURCE_DIR) + "/tests/patterns/" + file;
}

// The cells of each line of a data file that is no comment.
inline std::vector<Names> cases_of(const std::string& file) {
    std::ifstream in(beside_sources(file));
    std::vector<Names> cases;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line.starts_with("# ")) continue;
        auto& cells = cases.emplace_back();
        for (const auto cell : split(line, '\t')) cells.emplace_back(cell);
    }
    return cases;
}

inline std::string joined(const Names& names, char separator) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : std::string(1, separator)) + name;
    return text;
}

// The python that Debian's packages are for, if it has `module`; else empty.
inline std::string python_with(const std::string& module) {
    const std::string python = "/usr/bin/python3";
    if (::access(python.c_str(), X_OK) != 0) return "";
    return call({python, "-c", "import " + module}).status == 0 ? python : "";
}

// scontrol as ./dev unpacks it, or as it is installed.
class Scontrol {
  public:
    Scontrol() {
        const std::string unpacked = std::string(CLEANSLATE_SOURCE_DIR) + "/build/unpacked";
        for (const std::string& root : {std::string(), unpacked}) {
            if (::access((root + "/usr/bin/scontrol").c_str(), X_OK) != 0) continue;
            set_up(root);
            if (hostnames("n[1-2]") == Names{"n1", "n2"}) return;
            program_.clear();
        }
    }
    ~Scontrol() {
        if (!configuration_.empty()) std::filesystem::remove(configuration_);
    }
    Scontrol(const Scontrol&) = delete;
    Scontrol& operator=(const Scontrol&) = delete;

    bool runs() const { return !program_.empty(); }
    // Nothing where it refuses the text.
    std::optional<Names> hostnames(const std::string& text) const {
        const Ended ended = show("hostnames", text);
        if (ended.status != 0 || !ended.err.empty() || ended.out.empty()) return std::nullopt;
        return sorted(words(ended.out, '\n'));
    }
    std::string hostlist(const Names& names) const {
        return std::string(trim(show("hostlist", joined(names, ',')).out));
    }

  private:
    void set_up(const std::string& root) {
        program_ = root + "/usr/bin/scontrol";
        std::error_code failed;
        for (const auto& machine : std::filesystem::directory_iterator(root + "/usr/lib", failed))
            if (std::filesystem::exists(machine.path() / "slurm-wlm", failed))
                libraries_ = machine.path() / "slurm-wlm";
        configuration_ = std::filesystem::temp_directory_path() /
                         ("cleanslate_slurm_" + std::to_string(::getpid()) + ".conf");
        std::ofstream(configuration_)
            << "ClusterName=x\nSlurmctldHost=localhost\nNodeName=localhost\nPluginDir=" << libraries_ << "\n";
    }
    Ended show(const std::string& what, const std::string& text) const {
        return call({program_, "show", what, text}, {},
                    {{"SLURM_CONF", configuration_}, {"LD_LIBRARY_PATH", libraries_}});
    }

    std::string program_, libraries_, configuration_;
};

}  // namespace cleanslate::inventory::testing
