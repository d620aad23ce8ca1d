#include "controller/formats/host_lists.hpp"

namespace cleanslate::controller {

bool is_listed_clean(const Report& report, const agentless::HostOutcome& host) {
    return verdict_of(report, host) == agentless::Verdict::clean && !is_clean_in_part(host);
}

std::string host_list(const Report& report, bool clean, ListForm) {
    std::string names;
    for (const auto& host : report.result.hosts)
        if (is_listed_clean(report, host) == clean) names += host.name + "\n";
    return names;
}

}  // namespace cleanslate::controller
