#pragma once
// The fields of `nvidia-smi --query-gpu` and their values on the H200 of the corpus (fields.tsv).

#include <string_view>
#include <vector>

namespace cleanslate::simulated {

struct Field {
    std::string_view name;
    std::string_view unit;   // of the header, without brackets; empty: none
    std::string_view value;  // without unit; empty: computed
    bool identity = false;   // still told by a GPU that requires a reset
    std::string_view alias;  // another spelling of the name; of older drivers' for some
};

const std::vector<Field>& gpu_fields();
const std::vector<Field>& app_fields();
const Field* find_field(const std::vector<Field>& fields, std::string_view name);

inline constexpr long reserved_mib = 616;

}  // namespace cleanslate::simulated
