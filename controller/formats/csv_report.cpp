#include "controller/formats/csv_report.hpp"

namespace cleanslate::controller {

void write_csv(const Report&, const Sink&) {}

}  // namespace cleanslate::controller
