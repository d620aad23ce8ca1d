#include <dirent.h>

#include "agentless/local_transport.hpp"
#include "tests/contract/contract.hpp"

namespace cleanslate::agentless::contract {
namespace {

class MemoryFlavour final : public Flavour {
  public:
    std::string name() const override { return "memory"; }
    std::unique_ptr<Transport> make(boost::asio::io_context& io) override {
        const auto fleet = std::make_shared<MemoryFleet>();
        (*fleet)["host"].reply = [this](const Script&) { return reply_; };
        return make_memory_transport(io, fleet);
    }
    Endpoint endpoint() override { return {.name = "host", .address = {}, .user = {}, .identity_file = {}}; }
    void pretend(MemoryReply reply) override { reply_ = std::move(reply); }
    bool runs_processes() const override { return false; }

  private:
    MemoryReply reply_;
};

class LocalFlavour final : public Flavour {
  public:
    std::string name() const override { return "local"; }
    std::unique_ptr<Transport> make(boost::asio::io_context& io) override { return make_local_transport(io); }
};

}  // namespace

std::unique_ptr<Flavour> memory_flavour() { return std::make_unique<MemoryFlavour>(); }
std::unique_ptr<Flavour> local_flavour() { return std::make_unique<LocalFlavour>(); }

int open_descriptors() {
    int count = 0;
    DIR* directory = opendir("/proc/self/fd");
    while (readdir(directory) != nullptr) ++count;
    closedir(directory);
    return count - 3;  // ".", ".." and the directory's own
}

}  // namespace cleanslate::agentless::contract
