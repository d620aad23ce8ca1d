#pragma once
// One pattern of a limit -> the hosts that it names: a name, a glob, a range of names, a regular expression,
// or a place in a group.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "inventory/host.hpp"
#include "inventory/reckoning.hpp"

namespace cleanslate::inventory {

using Groups = std::map<std::string, Indexes>;

class Patterns {
  public:
    // Both must outlive this.
    Patterns(const std::vector<Host>& hosts, const Groups& groups);

    // Which hosts, in no order, maybe some twice; at least one. Errors have kind "limit", or "range" for a
    // malformed range: what matches nothing, what cleanslate and Ansible read differently, and, of all calls
    // together, more than twenty million comparisons.
    Result<Indexes> match(std::string_view pattern);

    // Counts `amount` comparisons of whoever uses the result.
    Status work(std::size_t amount);
    bool is_group(std::string_view name) const { return groups_.contains(std::string(name)); }

  private:
    struct Named {
        Indexes hosts;
        std::vector<std::string> missing;
        std::size_t asked = 0;
        bool some() const { return missing.size() < asked; }
    };
    struct Subscript {
        std::string_view base;
        std::string_view first, last;  // `last` is empty for one place and for "to the end"
        bool slice = false;
    };

    Result<Indexes> match_expression(std::string_view pattern);
    Result<Indexes> match_brackets(std::string_view pattern);
    Result<Indexes> match_class(std::string_view pattern);
    Result<Indexes> match_subscript(std::string_view pattern, const Subscript& subscript) const;
    Result<Indexes> match_slice(std::string_view pattern, const Subscript& subscript,
                                const Indexes& members) const;
    Result<Indexes> agreed(std::string_view pattern, const Named& names, const Subscript& subscript) const;
    Status check_class(std::string_view pattern, const Indexes& by_names);
    Result<Named> find(std::vector<std::string> names);
    Result<bool> match_name(std::string_view name, Indexes& into);
    template <class Matches>
    Status match_each(Matches&& matches, Indexes& into);
    static std::optional<Subscript> take_subscript(std::string_view pattern);
    bool is_name(std::string_view name) const;
    std::unexpected<Error> no_match(std::string_view pattern, const std::vector<std::string>& missing) const;
    std::string near(std::string_view name) const;

    const std::vector<Host>& hosts_;
    const Groups& groups_;
    std::unordered_map<std::string_view, std::size_t> by_name_;
    std::size_t worked_ = 0;
};

}  // namespace cleanslate::inventory
