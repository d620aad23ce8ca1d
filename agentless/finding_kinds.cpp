#include "agentless/finding_kinds.hpp"

namespace cleanslate::agentless {

const std::vector<FindingKind>& finding_kinds() {
    static const std::vector<FindingKind> kinds = [] {
        std::vector<FindingKind> all;
        for (const auto& part : {driver_findings(), tool_findings(), host_findings(), act_findings()})
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }();
    return kinds;
}

}  // namespace cleanslate::agentless
