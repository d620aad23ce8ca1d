#pragma once
// What cleanslate's JSON report says of each host, for the judge.

#include <map>
#include <string>

namespace cleanslate::simulated {

struct Reported {
    std::string verdict;
    std::string text;  // everything the report has on the host
};

// Host name -> what is said. Dies where the file is no report.
std::map<std::string, Reported> read_report(const std::string& file);

}  // namespace cleanslate::simulated
