#include "inventory/reckoning.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cleanslate::inventory {

void Reckoning::make_room(const Indexes& operand) {
    if (operand.empty()) return;
    const std::size_t size = std::max(added_.size(), *std::ranges::max_element(operand) + 1);
    for (Set* set : {&added_, &dropped_, &stepwise_}) set->resize(size);
}

void Reckoning::apply(const SignedTerm& term, const Indexes& operand) {
    make_room(operand);
    if (term.sign != Sign::add) (term.glued ? glued_ : separated_) = true;
    switch (term.sign) {
        case Sign::add:
            positive_ = true;
            for (const auto index : operand) added_[index] = stepwise_[index] = true;
            return;
        case Sign::drop:
            for (const auto index : operand) dropped_[index] = true, stepwise_[index] = false;
            return;
        case Sign::keep: {
            Set named(added_.size()), both(added_.size());
            for (const auto index : operand) {
                named[index] = true;
                both[index] = !keeps_ || in(kept_, index);
            }
            for (std::size_t i = 0; i < named.size(); ++i)
                if (!named[i]) stepwise_[i] = false;
            kept_ = std::move(both);
            keeps_ = true;
            return;
        }
        case Sign::toggle: {
            toggles_ = true;
            Indexes each = operand;
            std::ranges::sort(each);
            each.erase(std::ranges::unique(each).begin(), each.end());
            for (const auto index : each) {
                stepwise_[index] = !stepwise_[index];
                added_[index] = true;
            }
            return;
        }
    }
}

Result<Indexes> Reckoning::result(const std::function<std::string(std::size_t)>& name_of) const {
    if (toggles_ && separated_)
        return fail("limit",
                    "`^` is ClusterShell's, and a sign behind a comma is Ansible's: not both in one list",
                    "write the signs without commas in front: n[1-4]^n[3-6]!n1");
    Indexes stepwise, at_once;
    for (std::size_t i = 0; i < added_.size(); ++i) {
        if (stepwise_[i]) stepwise.push_back(i);
        if (added_[i] && !dropped_[i] && (!keeps_ || in(kept_, i))) at_once.push_back(i);
    }
    if (toggles_) return stepwise;
    if (!glued_ || stepwise == at_once) return at_once;
    const auto [one, other] = std::ranges::mismatch(stepwise, at_once);
    const bool in_steps = other == at_once.end() || (one != stepwise.end() && *one < *other);
    return fail("limit",
                fmt::format("from left to right {} is {}, with all signs at the end it is {}",
                            name_of(in_steps ? *one : *other), in_steps ? "in it" : "not in it",
                            in_steps ? "not" : "in it"),
                "name hosts first and put the signs behind them: n[1-9],m1!n3");
}

}  // namespace cleanslate::inventory
