#pragma once
// What a survey script prints, made by hand, and what is read of it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "agentless/records.hpp"
#include "agentless/remote.hpp"

namespace cleanslate::agentless::testing {

inline const std::string all_done = "done queries\ndone files\ndone maps\ndone argv\ndone driver\ndone exe\n";

inline std::string proc(int pid, int parent, const std::string& comm = "x", const std::string& uid = "0") {
    return fmt::format("proc {0} {1} {2}\n", pid, uid,
                       escape(fmt::format("{} ({}) S {} 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {}00 0 0", pid,
                                          comm, parent, pid)));
}

inline std::string survey(const std::string& records) {
    return "\nbegin n 1\nmeta uid 0\nmeta shell 20\n" + records + "end n\n";
}

inline Evidence read(const std::string& records) {
    auto evidence = read_survey(survey(records), "n");
    EXPECT_TRUE(evidence.has_value());
    return evidence ? *evidence : Evidence{};
}

inline const std::string core_row =
    "gpu " +
    escape(
        "0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0, 14 MiB, "
        "143771 MiB, 30, P0, NVIDIA H200") +
    "\n";

}  // namespace cleanslate::agentless::testing
