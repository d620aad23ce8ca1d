#pragma once
// How values of the domain are spelled in JSON, in the report and in the audit log alike. What was not
// observed is null, and text of a host passes through printable(): invalid bytes appear as the text \xNN.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "agentless/outcome.hpp"

namespace cleanslate::controller {

nlohmann::ordered_json text_or_null(const std::string& text);  // empty: null
nlohmann::ordered_json text_or_null(const std::optional<std::string>& text);
nlohmann::ordered_json seconds_or_null(const std::optional<Milliseconds>& duration);
nlohmann::ordered_json mib_or_null(const std::optional<Mebibytes>& size);
nlohmann::ordered_json result_word(
    agentless::SignalResult result);  // of a signal whose result never came: null
// "planned", "withheld", "not_sent", "not_ended", "ok", "failed"
std::string_view command_word(const agentless::CommandAction& action);

template <class Number>
nlohmann::ordered_json number_or_null(const std::optional<Number>& number) {
    return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(nullptr);
}

// On one line. Never throws on text that is not UTF-8.
std::string dump(const nlohmann::ordered_json& json);

}  // namespace cleanslate::controller
