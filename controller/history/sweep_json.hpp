#pragma once
// JSON of what several answers of the history have in common. Private to the history.

#include "controller/history/diff.hpp"
#include "controller/json_writer.hpp"

namespace cleanslate::controller::history {

// RFC 3339, or null.
void write_time(JsonWriter& json, const std::optional<std::int64_t>& time);
void write_sweep(JsonWriter& json, const SweepHead& sweep);
void write_holder(JsonWriter& json, const StoredHolder& holder);

}  // namespace cleanslate::controller::history
