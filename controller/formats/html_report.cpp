#include "controller/formats/html_report.hpp"

namespace cleanslate::controller {

void write_html(const Report&, bool, const Sink&) {}

}  // namespace cleanslate::controller
