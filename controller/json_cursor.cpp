#include "controller/json_cursor.hpp"

#include <fmt/format.h>

#include <cmath>

#include "controller/page.hpp"

namespace cleanslate::controller {
namespace {

constexpr double most_seconds = 1000.0 * 365.25 * 86'400;
constexpr std::size_t quoted = 60;  // code points of a text that does not fit
constexpr std::int64_t most_mib = std::int64_t{1} << 40;

// Nearly all texts are.
bool is_plain(std::string_view text) {
    for (const char c : text)
        if (c < 0x20 || c >= 0x7F) return false;
    return true;
}

std::string shown(const JsonValue& value) {
    const auto* text = std::get_if<std::string>(&value.value);
    if (text != nullptr) return fmt::format("'{}'", ellipsize(printable(*text), quoted));
    if (const auto* number = std::get_if<std::uint64_t>(&value.value)) return std::to_string(*number);
    if (const auto* number = std::get_if<std::int64_t>(&value.value)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&value.value)) return fmt::format("{}", *number);
    return std::string(value.kind());
}

}  // namespace

JsonValue* JsonCursor::find(std::string_view name) const {
    auto* object = std::get_if<JsonValue::Object>(&value_->value);
    if (object == nullptr) {
        unfit("an object");
        return nullptr;
    }
    for (std::size_t tried = 0; tried < object->size(); ++tried) {
        JsonMember& member = (*object)[(next_ + tried) % object->size()];
        if (member.name != name) continue;
        next_ = next_ + tried + 1;
        return &member.value;
    }
    return nullptr;
}

JsonCursor JsonCursor::member(std::string_view name) const {
    static JsonValue nothing;  // what a missing one reads as; never changed: only texts are moved out
    JsonValue* const found = find(name);
    const JsonCursor cursor(found == nullptr ? nothing : *found, *trouble_, this, name, {});
    if (found == nullptr) cursor.refuse("it is missing");
    return cursor;
}

std::optional<JsonCursor> JsonCursor::known(std::string_view name) const {
    JsonValue* const found = find(name);
    if (found == nullptr) return std::nullopt;
    return JsonCursor(*found, *trouble_, this, name, {});
}

bool JsonCursor::boolean() const {
    if (const auto* value = std::get_if<bool>(&value_->value)) return *value;
    unfit("true or false");
    return false;
}

std::string JsonCursor::text() const {
    auto* text = std::get_if<std::string>(&value_->value);
    if (text == nullptr) {
        unfit("a text");
        return {};
    }
    return is_plain(*text) ? std::move(*text) : printable(*text);
}

std::string JsonCursor::lines() const {
    auto* text = std::get_if<std::string>(&value_->value);
    if (text == nullptr) {
        unfit("a text");
        return {};
    }
    return is_plain(*text) ? std::move(*text) : printable_lines(*text);
}

std::string JsonCursor::text_or_empty() const { return is_null() ? std::string() : text(); }

std::optional<std::string> JsonCursor::text_or_null() const {
    if (is_null()) return std::nullopt;
    return text();
}

Milliseconds JsonCursor::seconds() const {
    double seconds = -1;
    if (const auto* whole = std::get_if<std::uint64_t>(&value_->value))
        seconds = static_cast<double>(*whole);
    else if (const auto* value = std::get_if<double>(&value_->value))
        seconds = *value;
    if (seconds >= 0 && seconds <= most_seconds) return Milliseconds{std::llround(seconds * 1000)};
    unfit("seconds from 0 on");
    return Milliseconds{0};
}

std::optional<Milliseconds> JsonCursor::seconds_or_null() const {
    if (is_null()) return std::nullopt;
    return seconds();
}

std::optional<Mebibytes> JsonCursor::mib_or_null() const {
    if (is_null()) return std::nullopt;
    return Mebibytes{number<std::int64_t>(0, most_mib)};
}

char JsonCursor::letter_or_mark() const {
    if (is_null()) return '?';
    const auto* text = std::get_if<std::string>(&value_->value);
    if (text != nullptr && text->size() == 1 && is_plain(*text)) return text->front();
    unfit("one letter");
    return '?';
}

std::string JsonCursor::place() const {
    std::string text = parent_ == nullptr ? std::string() : parent_->place();
    if (!name_.empty()) text += (text.empty() ? "" : ".") + ellipsize(printable(name_), quoted);
    if (index_) text += fmt::format("[{}]", *index_);
    return text;
}

void JsonCursor::unfit(std::string_view wants) const {
    if (*trouble_) return;
    refuse(fmt::format("wants {}, not {}", wants, shown(*value_)));
}

void JsonCursor::refuse(std::string_view why) const {
    if (*trouble_) return;
    const std::string where = place();
    trouble_->note(where.empty() ? std::string(why) : fmt::format("{}: {}", where, why));
}

}  // namespace cleanslate::controller
