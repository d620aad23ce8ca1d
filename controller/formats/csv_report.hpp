#pragma once
// One row a GPU, for spreadsheets and joins: docs/formats.md.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

// RFC 4180 but for the line ends, which are LF; the first row names the columns. A host without GPUs has a
// row whose GPU cells are empty, and so is every cell of what was not observed.
void write_csv(const Report& report, const Sink& sink);

}  // namespace cleanslate::controller
