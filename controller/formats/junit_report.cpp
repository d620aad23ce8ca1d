#include "controller/formats/junit_report.hpp"

namespace cleanslate::controller {

void write_junit(const Report&, bool, const Sink&) {}

}  // namespace cleanslate::controller
