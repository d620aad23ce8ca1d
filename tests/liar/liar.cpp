#include "tests/liar/liar.hpp"

#include <fmt/format.h>

#include "agentless/records.hpp"

namespace cleanslate::agentless::liar {

std::string clean_survey(const std::string& input) {
    const auto at = input.find("nonce=") + 6;
    const auto nonce = input.substr(at, input.find('\n', at) - at);
    const auto row = escape(
        "0, GPU-00000000-1111-2222-3333-444444444444, 00000000:00:06.0, 0 MiB, 143771 MiB, 30, P0, NVIDIA "
        "H200");
    return fmt::format(
        "begin {0} 1\nmeta boot 11111111-2222-3333-4444-555555555555\nmeta uid 0\nmeta ticks 100\n"
        "meta shell 20\nnodes\nnode 0\ngpu {1}\ntool gpu 0\ntool app 0\ndone queries\ndone files\n"
        "done maps\ndone argv\ndone driver\ndone exe\nend {0}\n",
        nonce, row);
}

Liar::Liar(Hook hook, Key key, Output output)
    : hook_(std::move(hook)),
      key_(std::move(key)),
      output_(std::move(output)),
      server_([this](int peer) { Conversation(peer, key_, hook_, output_).run(); }) {}

std::string Liar::known_hosts_line() const {
    return key_.known_hosts_line(fmt::format("[127.0.0.1]:{}", *endpoint().port));
}

}  // namespace cleanslate::agentless::liar
