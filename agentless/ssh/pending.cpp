// To be replaced: ssh's configuration.
#include "agentless/ssh/ssh_config.hpp"

namespace cleanslate::agentless::ssh {

struct SshConfig::Parsed {};
SshConfig::SshConfig() = default;
Result<SshConfig> SshConfig::load(const std::vector<std::string>&, bool, const std::string&,
                                  const std::string&) {
    return SshConfig();
}
Result<ConfigValues> SshConfig::values_for(const ConfigQuery&) const { return ConfigValues(); }
std::vector<std::string> SshConfig::notes() const { return {}; }

}  // namespace cleanslate::agentless::ssh
