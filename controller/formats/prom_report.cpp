#include "controller/formats/prom_report.hpp"

namespace cleanslate::controller {

void write_prom(const Report&, const Sink&) {}

}  // namespace cleanslate::controller
