#pragma once
// A password that a person typed once, and which host may be given it when. Knows no sudo and no socket.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace cleanslate::agentless {

// One password for the hosts of one sweep, and what is known of it: used from all shards. A wrong one must
// not be tried on many hosts, which locks accounts. So one host tries it first while the others wait; once it
// was accepted it is given to all, until a host refuses it. What is known is known of one account (`whose`,
// empty where there is only one): that it is not root's password says nothing about alice.
class SharedSecret {
  public:
    // Keeps a copy of its own, and wipes it when it goes.
    explicit SharedSecret(const std::string& password) : password_(password) {}
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

}  // namespace cleanslate::agentless
