#include "controller/json_text.hpp"

#include "base/text.hpp"
#include "controller/report.hpp"

namespace cleanslate::controller {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(printable(text)); }

Json text_or_null(const std::optional<std::string>& text) {
    return text ? Json(printable(*text)) : Json(nullptr);
}

Json seconds_or_null(const std::optional<Milliseconds>& duration) {
    return duration ? Json(static_cast<double>(duration->count()) / 1000.0) : Json(nullptr);
}

Json mib_or_null(const std::optional<Mebibytes>& size) { return size ? Json(size->count) : Json(nullptr); }

Json result_word(agentless::SignalResult result) {
    if (result == agentless::SignalResult::sent) return nullptr;
    return agentless::to_string(result);
}

std::string_view command_word(const agentless::CommandAction& action) {
    if (action.withheld) return "withheld";
    if (was_not_sent(action)) return "not_sent";
    if (action.planned) return "planned";
    if (!action.ran_to_end) return "not_ended";
    return action.ok ? "ok" : "failed";
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace cleanslate::controller
