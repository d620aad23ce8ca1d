#pragma once
// Who waits for whom with a password that all hosts share.

#include <memory>
#include <string>

#include "agentless/shared_secret.hpp"
#include "agentless/transport.hpp"

namespace cleanslate::agentless {

// One host's dealings with the secret, once. Ends with end(), or with itself.
class SecretTurn final : public Script::Warden {
  public:
    // Without a secret every answer is withheld.
    SecretTurn(std::shared_ptr<SharedSecret> secret, std::string host, std::string whose = {})
        : secret_(std::move(secret)), host_(std::move(host)), whose_(std::move(whose)) {}
    ~SecretTurn() override { end(); }

    Leave asked(const std::function<void()>& wake) override;
    void passed() override;
    void refused();  // the password was given, and it was wrong
    void unsaid();   // it was not given after all, or what followed was not about it
    void end();      // whatever was not said by now will not be

    bool was_given() const { return was_given_; }
    bool has_passed() const { return has_passed_; }
    const std::string& waits_for() const { return waits_for_; }  // the host that tries it; empty: none
    const std::string& withheld() const { return withheld_; }    // why; empty: it was not

  private:
    using Known = SharedSecret::Account::Known;
    std::shared_ptr<SharedSecret> secret_;
    std::string host_, whose_, waits_for_, withheld_;
    bool was_given_ = false, has_passed_ = false, is_settled_ = false;
};

}  // namespace cleanslate::agentless
