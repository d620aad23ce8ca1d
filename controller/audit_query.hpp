#pragma once
// What is asked of an audit log: which hosts, and from when on.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::controller {

// "2026-11-29T12:00:00Z", "2026-11-29T12:00:00.25+01:00", "2026-11-29" (its beginning in UTC): seconds since
// 1970; absent for anything else.
std::optional<std::int64_t> parse_time(std::string_view text);

// A time as above, or how long before `now`: "2h", "7d". Errors have kind "usage".
Result<std::int64_t> parse_since(std::string_view text, std::int64_t now);

// Names, globs (* and ?) and node sets (gpu[01-04]), with commas between. Nothing given: every host.
class HostFilter {
  public:
    HostFilter() = default;
    // Errors have kind "usage" or "range".
    static Result<HostFilter> read(const std::vector<std::string>& texts);
    bool everything() const { return names_.empty() && globs_.empty(); }
    bool has(const std::string& host) const;

  private:
    std::unordered_set<std::string> names_;
    std::vector<std::string> globs_;
};

}  // namespace cleanslate::controller
