#pragma once
// One row a GPU, for spreadsheets and joins.

#include "controller/page.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

void write_csv(const Report& report, const Sink& sink);

}  // namespace cleanslate::controller
