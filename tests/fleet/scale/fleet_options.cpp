#include "tests/fleet/scale/fleet_options.hpp"

#include <fmt/format.h>

#include <charconv>

#include "tests/fleet/description_words.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

std::unexpected<Error> wrong(const std::string& name, std::string_view value, std::string_view want) {
    return std::unexpected(Error{"usage", "", fmt::format("{} {}: {} is wanted", name, value, want), usage});
}

std::optional<double> percentage(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > 100)
        return std::nullopt;
    return value;
}

std::optional<Share> read_share(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto kind = find_kind(text.substr(0, equals));
    const auto percent = percentage(text.substr(equals + 1));
    if (!kind || !percent) return std::nullopt;
    return Share{*kind, *percent};
}

template <class Number>
bool take(Number& field, std::string_view value, long least, long most) {
    const auto number = to_number(value);
    if (!number || *number < least || *number > most) return false;
    field = static_cast<Number>(*number);
    return true;
}

Result<void> take_option(FleetOptions& options, const std::string& name, const std::string& value) {
    bool fits = true;
    std::string want = "a number";
    if (name == "--hosts") {
        fits = take(options.hosts, value, 1, 4'000'000), want = "1 to 4000000";
    } else if (name == "--gpus") {
        fits = take(options.gpus, value, 0, 32), want = "0 to 32";
    } else if (name == "--seed") {
        fits = take(options.seed, value, 0, std::numeric_limits<long>::max());
    } else if (name == "--threads") {
        fits = take(options.threads, value, 1, 64), want = "1 to 64";
    } else if (name == "--port") {
        fits = take(options.port, value, 0, 65'535), want = "0 to 65535";
    } else if (name == "--model") {
        options.model = value;
    } else if (name == "--rtt" || name == "--release" || name == "--redirty") {
        const auto duration = duration_ms(value);
        fits = duration.has_value(), want = "a duration such as 200ms";
        if (fits && name == "--rtt") options.rtt = Moment(*duration);
        if (fits && name == "--redirty") options.redirty = Moment(*duration);
        if (fits && name == "--release") options.release_ms = *duration;
    } else if (name == "--share") {
        const auto share = read_share(value);
        fits = share.has_value(), want = "KIND=PERCENT";
        if (fits) options.shares.push_back(*share);
    } else {
        return wrong(name, value, "an option that there is");
    }
    if (!fits) return wrong(name, value, want);
    return {};
}

}  // namespace

Result<FleetOptions> read_fleet_options(const std::vector<std::string>& arguments) {
    FleetOptions options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& name = arguments[i];
        if (!name.starts_with("--")) {
            if (!options.folder.empty()) return wrong(name, "", "one folder");
            options.folder = name;
            continue;
        }
        if (i + 1 == arguments.size()) return wrong(name, "", "a value");
        if (auto taken = take_option(options, name, arguments[++i]); !taken)
            return std::unexpected(taken.error());
    }
    if (options.folder.empty()) return wrong("FOLDER", "", "a folder");
    if (options.hosts == 0) return wrong("--hosts", "", "a number of hosts");
    double sum = 0;
    for (const auto& share : options.shares) sum += share.percent;
    if (sum > 100) return wrong("--share", "", "at most 100 % together");
    return options;
}

}  // namespace cleanslate::simulated
