#pragma once
// Variables that count for a host -> its settings.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "inventory/host.hpp"
#include "inventory/variables.hpp"

namespace cleanslate::inventory {

// Of each variable the nearest one that was put in, and all of the lists, which grow.
class Settings {
  public:
    // What comes later is nearer, and wins.
    void put(const Bound& bound, std::uint16_t level);
    // The port behind a host's key: farther than the host's own ansible_port, nearer than its groups'.
    void put_key_port(std::int64_t port);
    const Bound* find(Variable variable) const { return slots_[index(variable)].bound; }

    // Whether two hosts with the same variables may get different settings: templates.
    bool depend_on_the_name() const;

    // Fills in all of `host` but its name, which is known. Errors (kind "inventory") begin with
    // file:line:column: a value that cannot be used, or that is not known here (a template, a vault).
    Status apply(const std::vector<std::string>& files, Host& host) const;

  private:
    class Applied;
    struct Slot {
        const Bound* bound = nullptr;
        std::uint16_t level = 0;
    };
    static constexpr std::size_t index(Variable variable) { return static_cast<std::size_t>(variable); }

    std::array<Slot, variable_count> slots_{};
    std::vector<const Bound*> lists_;  // protect and unprotect, farthest first
    std::int64_t key_port_ = 0;        // 0: none
};

// Refuses what no host could have for a variable that is ours alone (gpus, protect, ...); all others, and
// what depends on the host, are looked at when they are needed.
Status check_value(const Bound& bound, std::string_view file);

}  // namespace cleanslate::inventory
