#pragma once
// A password that a person typed once, and which host may be given it when. Knows no sudo and no socket.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "agentless/transport.hpp"

namespace cleanslate::agentless {

// One password for the hosts of one sweep, and what is known of it: used from all shards. A wrong one must
// not be tried on many hosts, which locks accounts. So one host tries it first while the others wait; once it
// was accepted it is given to all, until a host refuses it. What is known is known of one account (`whose`,
// empty where there is only one): that it is not root's password says nothing about alice.
class SharedSecret {
  public:
    explicit SharedSecret(std::string password) : password_(std::move(password)) {}
    ~SharedSecret();
    SharedSecret(const SharedSecret&) = delete;
    SharedSecret& operator=(const SharedSecret&) = delete;

    const std::string& password() const { return password_; }
    // The text without the password.
    std::string hide_in(std::string text) const;
    // Why this host is not given it; absent: it may be.
    std::optional<std::string> barred(const std::string& host, const std::string& whose = {}) const;

  private:
    friend class SecretTurn;
    struct Account {
        enum class Known { nothing, tried, right, refused, unheard } known = Known::nothing;
        std::string host;                                      // who tries it, refused it, or never said
        std::set<std::string> accepted_by;                     // they are given it whatever others say
        std::map<const void*, std::function<void()>> waiting;  // wakes them
        // Why it is given to no further host.
        std::optional<std::string> why_barred(const std::string& whose) const;
        void learn(Known what, const std::string& from);
    };

    std::string password_;
    mutable std::mutex mutex_;
    std::map<std::string, Account> accounts_;
};

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
