#pragma once
// sudo's password and which host may be given it when. Knows no sudo and no socket.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agentless/transport.hpp"

namespace cleanslate::agentless {

// sudo's password for the hosts of one sweep, and what is known of it: used from all shards. A wrong one must
// not be tried on many hosts, which locks accounts. So one host tries it first while the others wait at their
// prompts; once it was accepted it is given to all, until a host refuses it.
class BecomeSecret {
  public:
    explicit BecomeSecret(std::string password) : password_(std::move(password)) {}
    ~BecomeSecret();
    BecomeSecret(const BecomeSecret&) = delete;
    BecomeSecret& operator=(const BecomeSecret&) = delete;

    const std::string& password() const { return password_; }
    // The text without the password.
    std::string hide_in(std::string text) const;
    // Why it is given to no host any more; absent: it may be.
    std::optional<std::string> barred() const;

  private:
    friend class BecomeTurn;
    enum class Known { nothing, tried, right, refused, unheard };
    // With mutex_ held.
    std::optional<std::string> why_barred() const;
    void learn(Known known, const std::string& host);

    std::string password_;
    mutable std::mutex mutex_;
    Known known_ = Known::nothing;
    std::string host_;                                      // who tries it, refused it, or never said
    std::map<const void*, std::function<void()>> waiting_;  // wakes them
};

// One run's dealings with the secret. Ends with end(), or with itself.
class BecomeTurn final : public Script::Warden {
  public:
    // `accepted_before`: by this host in this sweep. Without a secret every answer is withheld.
    BecomeTurn(std::shared_ptr<BecomeSecret> secret, std::string host, bool accepted_before)
        : secret_(std::move(secret)), host_(std::move(host)), accepted_before_(accepted_before) {}
    ~BecomeTurn() override { end(); }

    Leave asked(const std::function<void()>& wake) override;
    void passed() override;
    void refused();  // the password was given, and it was wrong
    void unsaid();   // the password was given, and the run ended for another reason
    void end();      // whatever was not said by now will not be

    bool was_given() const { return was_given_; }
    bool has_passed() const { return has_passed_; }
    const std::string& waits_for() const { return waits_for_; }  // the host that tries it; empty: none
    const std::string& withheld() const { return withheld_; }    // why; empty: it was not

  private:
    std::shared_ptr<BecomeSecret> secret_;
    std::string host_, waits_for_, withheld_;
    bool accepted_before_;
    bool was_given_ = false, has_passed_ = false, is_settled_ = false;
};

}  // namespace cleanslate::agentless
