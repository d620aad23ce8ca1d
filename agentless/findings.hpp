#pragma once
// The findings that a verdict can have: one table of codes, and the only place that makes one.
// docs/findings.md shows the same table to operators; a test compares the two.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/verdict.hpp"

namespace cleanslate::agentless {

struct FindingKind {
    std::string_view code;
    Severity severity;  // the usual one
    std::string_view meaning;
    std::string_view evidence;  // what shows it
    std::string_view remedy;    // may be empty
    // The other one that it can be; docs/findings.md says when.
    std::optional<Severity> sometimes = {};
};
// "sick or note".
std::string severities_of(const FindingKind& kind);
const std::vector<FindingKind>& finding_kinds();

// Severity and remedy come from the table; `text` may hold bytes from the host and comes out printable and
// bounded. A code that the table lacks is `unknown`.
Finding finding(std::string_view code, std::string_view text);
Finding finding(std::string_view code, Severity severity, std::string_view text);

// Adds findings and folds repetition: the same code and text once; from the fifth of one code on only their
// number.
class Findings {
  public:
    explicit Findings(std::vector<Finding>& out) : out_(out) {}
    ~Findings();
    Findings(const Findings&) = delete;
    Findings& operator=(const Findings&) = delete;
    void add(Finding finding);

  private:
    std::vector<Finding>& out_;
    std::vector<std::pair<Finding, std::size_t>> folded_;
};

// "pid 70 (sleep)", for texts.
std::string name_of(const Holder& holder);
// "pid 70 (sleep), pid 71 (sh) and 3 more".
std::string names_of(const std::vector<const Holder*>& holders);

}  // namespace cleanslate::agentless
