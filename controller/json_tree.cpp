#include "controller/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.hpp"

namespace cleanslate::controller {
namespace {

using List = JsonValue::List;
using Object = JsonValue::Object;

// The name that stands twice; null: each stands once.
const std::string* repeated_name(const Object& object) {
    constexpr std::size_t few = 32;
    if (object.size() <= few) {
        for (std::size_t i = 1; i < object.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (object[i].name == object[j].name) return &object[i].name;
        return nullptr;
    }
    std::vector<const std::string*> names;
    for (const JsonMember& member : object) names.push_back(&member.name);
    const auto less = [](const auto* a, const auto* b) { return *a < *b; };
    const auto equal = [](const auto* a, const auto* b) { return *a == *b; };
    std::ranges::sort(names, less);
    const auto found = std::ranges::adjacent_find(names, equal);
    return found == names.end() ? nullptr : *found;
}

// Where the quote is that ends the text that begins at `from`; the end of it all: nowhere.
std::size_t end_of_text(std::string_view json, std::size_t from) {
    for (std::size_t at = from; (at = json.find('"', at)) != std::string_view::npos; ++at) {
        std::size_t escapes = 0;
        while (at - escapes > from && json[at - escapes - 1] == '\\') ++escapes;
        if (escapes % 2 == 0) return at;
    }
    return json.size();
}

// The parser holds what it is reading several times over before anybody can stop it.
bool has_longer_token(std::string_view json, std::size_t most) {
    constexpr std::string_view between = "{}[]:, \t\r\n";
    std::size_t begin = 0;  // of what is no text
    for (std::size_t at = 0; at < json.size(); ++at) {
        if (json[at] == '"') {
            begin = end_of_text(json, at + 1) + 1;
            if (begin - at > most) return true;
            at = begin - 1;
        } else if (between.find(json[at]) != std::string_view::npos) {
            begin = at + 1;
        } else if (at - begin > most) {
            return true;
        }
    }
    return false;
}

// Takes the events of nlohmann's parser, which holds nothing but its own nesting.
class Builder {
  public:
    Builder(std::string_view text, std::string_view streamed, const std::function<Status(JsonValue&)>& use,
            const JsonBounds& bounds)
        : text_(text), streamed_(streamed), use_(use), bounds_(bounds) {}

    bool null() { return add({}); }
    bool boolean(bool value) { return add({value}); }
    bool number_integer(std::int64_t value) { return add({value}); }
    bool number_unsigned(std::uint64_t value) { return add({value}); }
    bool number_float(double value, const std::string&) { return add({value}); }
    bool string(std::string& value) { return add({std::move(value)}); }
    bool binary(nlohmann::json::binary_t&) { return false; }  // not of JSON
    bool start_object(std::size_t) { return open({Object()}); }
    bool start_array(std::size_t) { return open({List()}); }
    bool key(std::string& name) {
        open_.back().name = std::move(name);
        return true;
    }
    bool end_object() {
        if (const auto* name = repeated_name(std::get<Object>(open_.back().value.value)))
            return refuse(fmt::format("'{}' stands twice", ellipsize(printable(*name), 60)));
        return close();
    }
    bool end_array() { return close(); }
    bool parse_error(std::size_t read, const std::string&, const nlohmann::json::exception&) {
        if (read > text_.size()) return refuse(text_.empty() ? "empty" : "it ends in the middle");
        const std::string_view before = text_.substr(0, read > 0 ? read - 1 : 0);
        const auto line = std::ranges::count(before, '\n') + 1;
        const auto line_start = before.rfind('\n');
        return refuse(
            fmt::format("no JSON at line {}, column {}", line,
                        before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1));
    }

    Result<JsonValue> result(bool ended) {
        if (error_) return std::unexpected(std::move(*error_));
        if (!ended || !root_) return fail("json", "no JSON");
        return std::move(*root_);
    }

  private:
    struct Open {
        JsonValue value;
        std::string name;  // of the member that comes next
    };

    // "hosts[3].gpus[0]"; empty: the whole.
    std::string place() const {
        std::string text;
        for (std::size_t i = 0; i < open_.size(); ++i) {
            if (const auto* list = std::get_if<List>(&open_[i].value.value))
                text += fmt::format("[{}]", is_streamed(i) ? handed_on_ : list->size());
            else if (!open_[i].name.empty())
                text += (text.empty() ? "" : ".") + ellipsize(printable(open_[i].name), 60);
        }
        return text;
    }
    bool refuse(const std::string& what) {
        const std::string where = place();
        error_ = Error{"json", "", where.empty() ? what : where + ": " + what, ""};
        return false;
    }
    bool count() {
        if (is_element_next()) values_before_ = std::exchange(values_, 0);
        ++all_values_;
        if (all_values_ > bounds_.values || ++values_ > bounds_.values_at_once)
            return refuse(fmt::format("more than {} values", all_values_ > bounds_.values
                                                                 ? bounds_.values
                                                                 : bounds_.values_at_once));
        return true;
    }
    bool open(JsonValue container) {
        if (open_.size() >= bounds_.depth) return refuse(fmt::format("nested deeper than {}", bounds_.depth));
        if (open_.empty() && !std::holds_alternative<Object>(container.value)) return refuse("no object");
        if (!count()) return false;
        open_.push_back({std::move(container), {}});
        return true;
    }
    bool close() {
        JsonValue value = std::move(open_.back().value);
        open_.pop_back();
        return put(std::move(value));
    }
    bool add(JsonValue value) { return count() && put(std::move(value)); }
    bool put(JsonValue value) {
        if (open_.empty()) {
            if (!std::holds_alternative<Object>(value.value)) return refuse("no object");
            root_ = std::move(value);
            return true;
        }
        if (is_element_next()) {
            if (auto used = use_(value); !used) {
                error_ = std::move(used.error());
                return false;
            }
            ++handed_on_;
            values_ = values_before_;
        } else if (auto* list = std::get_if<List>(&open_.back().value.value)) {
            list->push_back(std::move(value));
        } else {
            std::get<Object>(open_.back().value.value)
                .push_back({std::exchange(open_.back().name, {}), std::move(value)});
        }
        return true;
    }
    bool is_streamed(std::size_t level) const {
        return level == 1 && open_[0].name == streamed_ && std::holds_alternative<List>(open_[1].value.value);
    }
    bool is_element_next() const { return open_.size() == 2 && is_streamed(1); }

    std::string_view text_, streamed_;
    const std::function<Status(JsonValue&)>& use_;
    JsonBounds bounds_;
    std::vector<Open> open_;
    std::optional<JsonValue> root_;
    std::optional<Error> error_;
    std::size_t values_ = 0, values_before_ = 0, all_values_ = 0, handed_on_ = 0;
};

}  // namespace

std::string_view JsonValue::kind() const {
    constexpr std::string_view kinds[] = {"null",     "a truth value", "a number", "a number",
                                          "a number", "a text",        "a list",   "an object"};
    return kinds[value.index()];
}

Result<JsonValue> read_json_object(std::string_view text, std::string_view streamed,
                                   const std::function<Status(JsonValue&)>& use, const JsonBounds& bounds) {
    if (has_longer_token(text, bounds.token_bytes))
        return fail("json", fmt::format("a text or number of more than {} bytes", bounds.token_bytes));
    Builder builder(text, streamed, use, bounds);
    const bool ended = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
    return builder.result(ended);
}

}  // namespace cleanslate::controller
