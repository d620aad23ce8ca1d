#pragma once
// A server in this process that lies to whoever connects.

#include "tests/contract/fake_server.hpp"
#include "tests/liar/faults.hpp"

namespace cleanslate::agentless::liar {

// A survey of a host with one GPU that nobody uses, for the survey script in `input`: were it whole, the host
// would be clean.
std::string clean_survey(const std::string& input);

class Liar {
  public:
    explicit Liar(Hook hook = {}, Key key = {}, Output output = clean_survey);

    Endpoint endpoint() const { return server_.endpoint(); }
    int connections() const { return server_.connections(); }
    // The name under which it stands in known_hosts, with its key.
    std::string known_hosts_line() const;

  private:
    Hook hook_;
    Key key_;
    Output output_;
    contract::FakeServer server_;
};

}  // namespace cleanslate::agentless::liar
