#include <stdexcept>

#include "agentless/ssh/ssh_transport.hpp"
#include "tests/contract/contract.hpp"
#include "tests/contract/sshd.hpp"

namespace cleanslate::agentless::contract {
namespace {

// One sshd for the whole suite, started when first needed.
class SshFlavour final : public Flavour {
  public:
    std::string name() const override { return "ssh"; }
    std::string unavailable() override { return no_sshd_here(); }
    std::unique_ptr<Transport> make(boost::asio::io_context& io) override {
        auto context = load_ssh_context(sshd().options());
        if (!context) throw std::runtime_error(context.error().message);
        return make_ssh_transport(io, *context);
    }
    Endpoint endpoint() override { return unavailable().empty() ? sshd().endpoint() : Endpoint{}; }

  private:
    Sshd& sshd() {
        if (!sshd_) sshd_ = std::make_unique<Sshd>();
        return *sshd_;
    }
    std::unique_ptr<Sshd> sshd_;
};

}  // namespace

std::unique_ptr<Flavour> ssh_flavour() { return std::make_unique<SshFlavour>(); }

}  // namespace cleanslate::agentless::contract
