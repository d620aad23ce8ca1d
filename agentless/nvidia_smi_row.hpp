#pragma once
// One row of a GPU query: whether a line is one, and what its cells say. Private to the parser.

#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// What a table without a header and without asked columns may be: index and memory, or the core query.
const std::vector<std::vector<std::string>>& default_columns();

// The line's cells, one for each column, where every cell that tells a row from prose (index, uuid, bus id,
// used memory) is a value or a failure text; empty where the line is no such row. Surplus commas belong to a
// name that stands last.
std::vector<std::string_view> fit_cells(std::string_view line, const std::vector<std::string>& columns);

// Why they are no row of these columns, where they are none: their number, or a cell.
std::string misfit(const std::vector<std::string_view>& cells, const std::vector<std::string>& columns);

// `terminated`: a newline followed. Without one, a number that ends the row may be the beginning of a longer
// one.
GpuRow read_row(const std::vector<std::string_view>& cells, const std::vector<std::string>& columns,
                bool terminated);

std::string bounded(std::string_view cell);  // at most 256 bytes

}  // namespace cleanslate::agentless
