// To be replaced: ssh's configuration and jumps.
#include "agentless/ssh/jumps.hpp"
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

struct Jumps::State {};
Jumps::Jumps(boost::asio::io_context&, std::shared_ptr<Cancellation>, Opener&) {}
Jumps::~Jumps() = default;
Awaitable<Result<std::shared_ptr<Link>>> Jumps::connect(const HostSettings&, Clock::time_point) {
    co_return std::unexpected(Error{"jump_failed", "jump", "jumps are not there yet", ""});
}

}  // namespace cleanslate::agentless::ssh
