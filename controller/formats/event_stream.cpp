#include "controller/formats/event_stream.hpp"

namespace cleanslate::controller {

void write_events(const Report&, bool, const Sink&) {}

}  // namespace cleanslate::controller
