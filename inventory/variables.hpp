#pragma once
// The variables of one host, range or group, as they stand in one place of the file.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "base/yaml.hpp"
#include "inventory/host.hpp"

namespace cleanslate::inventory {

template <class T>
struct Setting {
    T value;
    yaml::Mark mark;
};

struct Variables {
    std::optional<Setting<std::string>> address;
    std::optional<Setting<std::uint16_t>> port;
    std::optional<Setting<std::string>> user;
    std::optional<Setting<std::string>> identity_file;
    std::optional<Setting<std::string>> proxy_jump;
    std::optional<Setting<int>> gpus;
    std::optional<Setting<Mebibytes>> max_used;
    std::optional<Setting<bool>> unified_memory;
    std::optional<Setting<bool>> become;
    std::optional<Setting<bool>> unscheduled;
    std::optional<Setting<std::int64_t>> priority;  // ansible_group_priority; read of groups only
    std::vector<std::string> protect;
    std::vector<std::string> unprotect;
};

// What is nearer wins; the lists grow.
void apply(const Variables& nearer, Host& host);

// A variable that both set, to different values; nothing where they agree.
struct Conflict {
    std::string_view name;
    yaml::Mark first, second;
};
std::optional<Conflict> conflict(const Variables& a, const Variables& b);

// Reads the mappings of variables of one file and remembers the names that are not ours.
class VariableReader {
  public:
    explicit VariableReader(std::string_view file) : file_(file) {}

    // A mapping, or nothing. Errors begin with file:line:column.
    Result<Variables> read(const yaml::Node& node);

    // Names of variables that mean nothing to us, with their first place.
    const std::map<std::string, yaml::Mark>& unknown() const { return unknown_; }

  private:
    Status read_one(const yaml::Node& key, const yaml::Node& value, Variables& out);

    std::string_view file_;
    std::map<std::string, yaml::Mark> unknown_;
    std::set<std::string, std::less<>> foreign_;  // names that were looked at and are no misspelling of ours
};

}  // namespace cleanslate::inventory
