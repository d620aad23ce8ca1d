#pragma once
// Optional columns of a GPU query: what each can say of a GPU's state. None of them is needed for a clean
// verdict; an unknown field costs only itself.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// The fields that a survey asks for, in normal form, in the order of the query. Where a binary has a field
// under an older name only, `older` is that name (clocks_throttle_reasons... for clocks_event_reasons...).
struct OptionalField {
    std::string_view name;
    std::string_view older;  // empty: none
};
std::span<const OptionalField> optional_fields();

// Whether the normal name is one of them, or an older name of one.
bool is_optional_column(std::string_view normal);

// Reads `row.optional` as a whole, once, and adds to `row.troubles` what it says: sick, or Trouble::none with
// the code of a note. Cells that mean "not supported" say nothing.
void judge_optional_columns(GpuRow& row);

// Puts the rows of the survey's optional query into the GPUs that they are of (uuid, else bus id, else
// index). `columns` are the asked ones, "uuid" and "pci.bus_id" and "index" among them. What is no row of
// exactly one known GPU is a problem, and changes nothing.
struct OptionalTable {
    std::vector<std::string> problems;
};
OptionalTable add_optional_table(std::string_view out, const std::vector<std::string>& columns,
                                 std::vector<GpuRow>& gpus);

}  // namespace cleanslate::agentless
