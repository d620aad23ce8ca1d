#pragma once
// What a list with signs leaves, in the two orders in which such lists are read: ClusterShell goes from left
// to right, Ansible adds first, then keeps, then takes away.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "inventory/signed_terms.hpp"

namespace cleanslate::inventory {

using Indexes = std::vector<std::size_t>;

class Reckoning {
  public:
    // `operand`: what the term stands for, in any order.
    void apply(const SignedTerm& term, const Indexes& operand);

    bool has_positive() const { return positive_; }
    bool has_added(std::size_t index) const { return in(added_, index); }

    // What is left, ascending; maybe nothing. A sign behind a comma is Ansible's, and then its order holds;
    // one that is glued to the term before is ClusterShell's, and where one is, both orders must leave the
    // same. The errors, of kind "limit", say what differs; `name_of` tells what an index is called.
    Result<Indexes> result(const std::function<std::string(std::size_t)>& name_of) const;

  private:
    using Set = std::vector<bool>;
    static bool in(const Set& set, std::size_t index) { return index < set.size() && set[index]; }
    void make_room(const Indexes& operand);

    Set added_, dropped_, kept_, stepwise_;
    bool positive_ = false, keeps_ = false, toggles_ = false;
    bool glued_ = false, separated_ = false;  // signs of both kinds
};

}  // namespace cleanslate::inventory
