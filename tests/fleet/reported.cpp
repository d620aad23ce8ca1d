#include "tests/fleet/reported.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::map<std::string, Reported> read_report(const std::string& file) {
    errno = 0;
    const auto text = read_file(file);
    need(text.has_value(), "cannot read " + file);
    const Json report = Json::parse(*text, nullptr, false);
    errno = 0;
    need(report.is_object() && report.contains("hosts") && report["hosts"].is_array(),
         file + " is no report");
    std::map<std::string, Reported> hosts;
    for (const auto& host : report["hosts"]) {
        need(host.is_object(), file + " is no report");
        hosts[text_of(host, "name")] = {text_of(host, "verdict"),
                                        host.dump(-1, ' ', false, Json::error_handler_t::replace)};
    }
    return hosts;
}

}  // namespace cleanslate::simulated
