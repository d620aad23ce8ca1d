// Shows what host keys a host has, without a login.
#include <algorithm>

#include "agentless/ssh/host_key_errors.hpp"
#include "agentless/ssh/opener.hpp"
#include "agentless/ssh/ssh_context.hpp"
#include "agentless/ssh/ssh_transport.hpp"
#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless {
namespace ssh {
namespace {

using Standing = ShownHostKey::Standing;

Standing standing_of(HostKeyMatch::Answer answer) {
    switch (answer) {
        case HostKeyMatch::Answer::known:
            return Standing::known;
        case HostKeyMatch::Answer::revoked:
            return Standing::revoked;
        case HostKeyMatch::Answer::changed:
        case HostKeyMatch::Answer::other_type:
            return Standing::changed;
        case HostKeyMatch::Answer::unknown:
        case HostKeyMatch::Answer::authority:
            break;
    }
    return Standing::unknown;
}

ShownHostKey judged(const HostSettings& settings, const KnownKeys& known, std::string_view blob) {
    const HostKeyMatch match = match_host_key(known, blob);
    ShownHostKey key;
    key.type = key_type(blob);
    key.fingerprint = fingerprint(blob);
    key.blob = blob;
    key.standing = standing_of(match.answer);
    if (match.key != nullptr) {
        key.place = match.key->place();
        key.known_fingerprint = fingerprint(match.key->blob);
    }
    if (match.answer != HostKeyMatch::Answer::known) key.problem = host_key_error(settings, match, blob);
    return key;
}

class SshHostKeyViewer final : public HostKeyViewer {
  public:
    SshHostKeyViewer(boost::asio::io_context& io, std::shared_ptr<SshContext> context)
        : context_(std::move(context)), opener_(std::make_shared<Opener>(io, cancellation_, context_)) {}
    ~SshHostKeyViewer() override { opener_->close(); }

    Awaitable<Result<std::vector<ShownHostKey>>> look(const Endpoint& endpoint,
                                                      Clock::time_point deadline) override {
        const auto settings = settings_for(endpoint, context_->options, context_->config);
        if (!settings) co_return std::unexpected(settings.error());
        const auto known = context_->host_keys->find(*settings);
        if (!known) co_return std::unexpected(known.error());
        std::vector<std::string> algorithms = host_key_algorithms(*known);
        std::vector<ShownHostKey> keys;
        // A handshake shows one key, of the first type in the list that the host has.
        while (!algorithms.empty()) {
            const auto blob = co_await opener_->host_key(*settings, algorithms, deadline);
            const bool has_no_other = !blob && !keys.empty() && blob.error().kind == "handshake_failed";
            if (has_no_other) break;
            if (!blob) co_return std::unexpected(blob.error());
            keys.push_back(judged(*settings, *known, *blob));
            if (keys.front().standing != Standing::unknown) break;
            const std::string type = keys.back().type;
            const auto gone = std::erase_if(
                algorithms, [&](const std::string& name) { return host_key_type(name) == type; });
            if (gone == 0) break;
        }
        co_return keys;
    }

    void cancel_all() override { cancellation_->request(); }

  private:
    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
    std::shared_ptr<SshContext> context_;
    std::shared_ptr<Opener> opener_;
};

}  // namespace
}  // namespace ssh

std::unique_ptr<HostKeyViewer> make_host_key_viewer(boost::asio::io_context& io,
                                                    std::shared_ptr<SshContext> context) {
    return std::make_unique<ssh::SshHostKeyViewer>(io, std::move(context));
}

Status believe_host_key(SshContext& context, const Endpoint& endpoint, const std::string& blob) {
    const auto settings = ssh::settings_for(endpoint, context.options, context.config);
    if (!settings) return std::unexpected(settings.error());
    context.host_keys->believe(*settings, blob);
    return {};
}

Result<ShownHostKey> judge_host_key(const SshContext& context, const Endpoint& endpoint,
                                    const std::string& blob) {
    const auto settings = ssh::settings_for(endpoint, context.options, context.config);
    if (!settings) return std::unexpected(settings.error());
    const auto known = context.host_keys->find(*settings);
    if (!known) return std::unexpected(known.error());
    return ssh::judged(*settings, *known, blob);
}

}  // namespace cleanslate::agentless
