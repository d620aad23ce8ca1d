#include "controller/history/gpu_change_view.hpp"

#include <fmt/core.h>

namespace cleanslate::controller::history {
namespace {

std::string place_text(const GpuPlace& place) {
    std::string text = place.host;
    if (place.index) text += fmt::format(" GPU {}", *place.index);
    if (!place.bus_id.empty()) text += " at " + place.bus_id;
    return text;
}

void write_place(JsonWriter& json, const std::optional<GpuPlace>& place) {
    if (!place) return json.null();
    json.object([&] {
        json.key("host").text(place->host);
        json.key("index").number_or_null(place->index);
        json.key("bus_id").text_or_null(place->bus_id);
    });
}

}  // namespace

std::string gpu_change_text(const GpuChange& change) {
    const std::string gpu = change.uuid + (change.name.empty() ? std::string{} : " (" + change.name + ")");
    if (!change.now) return "GPU gone: " + place_text(*change.before) + ": " + gpu;
    if (!change.before) return "GPU new: " + place_text(*change.now) + ": " + gpu;
    if (!change.uuid_before.empty())
        return "GPU swapped: " + place_text(*change.now) + ": " + change.uuid_before + " is now " + gpu;
    return "GPU moved: " + gpu + ": from " + place_text(*change.before) + " to " + place_text(*change.now);
}

void write_gpu_change_members(JsonWriter& json, const GpuChange& change) {
    json.key("uuid").text(change.uuid);
    json.key("name").text_or_null(change.name);
    json.key("uuid_before").text_or_null(change.uuid_before);
    write_place(json.key("before"), change.before);
    write_place(json.key("now"), change.now);
}

}  // namespace cleanslate::controller::history
