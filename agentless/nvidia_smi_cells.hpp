#pragma once
// What one cell or one column name of nvidia-smi's CSV means. Private to the parser and the verdicts.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// A cell in place of a value: "not supported here" is harmless in an optional column, "sick" never is.
enum class CellKind { plain, not_supported, sick, refused, other_failure };

struct CellReading {
    CellKind kind = CellKind::plain;
    std::string_view code;  // finding code of a sick or refused cell; empty otherwise
};
CellReading read_cell(std::string_view cell);

// "0 MiB", "76107": digits without a leading zero and at most the unit. Absent for a sign, a decimal point,
// another unit, more than 2^40.
std::optional<Mebibytes> read_mebibytes(std::string_view cell);

// 0 to 1023, as nvidia-smi prints it (no leading zero).
std::optional<int> read_index(std::string_view cell);

// GPU-UUID, MIG-UUID, or MIG-GPU-UUID/7/0 as drivers before 470 have it.
bool is_uuid(std::string_view cell);
// A bus id as rows have it: a domain of eight digits, of four with drivers before 381.
bool is_bus_id_cell(std::string_view cell);
bool is_performance_state(std::string_view cell);  // P0 to P15
bool is_pid_list(std::string_view text);           // digits and blanks, at least one digit: what fuser prints

// "used_memory", "used_gpu_memory [MiB]" -> "used_gpu_memory": lower case, no unit (but one of memory that
// is not MiB stays, and makes it another column), aliases and older names under one name.
std::string normal_column(std::string_view column);

// A name that headers of the GPU and compute-apps queries print and that the project reads, in its normal
// form.
bool is_known_column(std::string_view normal);

std::string lowered(std::string_view text);        // ASCII only
std::string single_blanks(std::string_view text);  // runs of blanks and tabs as one blank, both ends trimmed

// The first bus id in a line of prose ("GPU0000:17:00.0: ..."), in normal form; empty where there is none.
std::string find_bus_id(std::string_view text);

// At most `limit` cells, trimmed; what is beyond stays in the last one.
std::vector<std::string_view> split_cells(std::string_view line, std::size_t limit);

}  // namespace cleanslate::agentless
