#pragma once
// ed25519 keys for servers that lie, and for whoever logs in to them.

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>

namespace cleanslate::agentless::liar {

class Key {
  public:
    Key();                                               // a fresh one
    std::string blob() const;                            // the public key as SSH has it
    std::string signature(std::string_view data) const;  // with the algorithm's name before it
    std::string pem() const;                             // the private key
    std::string known_hosts_line(std::string_view name) const;

  private:
    std::shared_ptr<EVP_PKEY> key_;
};

}  // namespace cleanslate::agentless::liar
