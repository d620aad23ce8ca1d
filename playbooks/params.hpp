#pragma once
// A playbook's params, and the ${NAME} that stand for their values.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/yaml.hpp"
#include "playbooks/playbook.hpp"

namespace cleanslate::playbooks {

// A param with the place of its name in the file.
struct Declared {
    Param param;
    yaml::Mark mark;
};

// Reads `params:`. Errors have kind "playbook" and begin with file:line:column.
Result<std::vector<Declared>> read_params(const yaml::Node& node, std::string_view file);

// The value in force of each param: the setting, else the default.
class Values {
  public:
    // Errors: a setting that no param names, a param with neither, a value that no scalar can hold.
    static Result<Values> make(const std::vector<Declared>& params, const Settings& settings,
                               std::string_view file);

    struct Expanded {
        std::string text;
        bool changed = false;  // a value was inserted
    };
    // Judges a value before it is inserted: what is wrong with it, or empty.
    using Judge = std::function<std::string(std::string_view value)>;

    // ${NAME} -> value, $$ -> $; any other $ stays, as the end of a pattern has it. A value is inserted as it
    // is and not looked through again. Errors (without a place): an unknown name, a ${ that is not closed,
    // more than 64 KiB.
    Result<Expanded> expand(std::string_view text, const Judge& judge = {}) const;

    // A param that no expand() asked for, or null.
    const Declared* unused(const std::vector<Declared>& params) const;

  private:
    Result<std::string> value_of(const std::string& name, const Judge& judge) const;

    std::map<std::string, std::string> values_;
    mutable std::set<std::string> used_;
};

}  // namespace cleanslate::playbooks
