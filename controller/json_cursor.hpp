#pragma once
// Typed reading of a JSON tree. What does not fit is noted once, with its place ("hosts[3].gpus[0].used_mib:
// wants ..."), and reads as a harmless value from then on: the reader asks at the end whether anything was.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "controller/json_tree.hpp"

namespace cleanslate::controller {

// The first thing that did not fit.
class JsonTrouble {
  public:
    void note(std::string text) {
        if (!first_) first_ = std::move(text);
    }
    explicit operator bool() const { return first_.has_value(); }
    const std::string& first() const { return *first_; }

  private:
    std::optional<std::string> first_;
};

// One value of the tree. Not longer lived than the cursor it came from. Texts are moved out of the tree: read
// each once.
class JsonCursor {
  public:
    // Of the whole tree; `name` and `index` say what it is part of ("hosts", 3).
    JsonCursor(JsonValue& value, JsonTrouble& trouble, std::string_view name = {},
               std::optional<std::size_t> index = {})
        : value_(&value), trouble_(&trouble), name_(name), index_(index) {}

    bool is_null() const { return value_->is_null(); }
    // A member that has to be there, and one that need not.
    JsonCursor member(std::string_view name) const;
    std::optional<JsonCursor> known(std::string_view name) const;
    void each(auto&& read) const {  // element of a list
        auto* list = std::get_if<JsonValue::List>(&value_->value);
        if (list == nullptr) return unfit("a list");
        for (std::size_t i = 0; i < list->size() && !*trouble_; ++i)
            read(JsonCursor((*list)[i], *trouble_, this, {}, i));
    }
    void each_member(auto&& read) const {  // name and value, of an object
        auto* object = std::get_if<JsonValue::Object>(&value_->value);
        if (object == nullptr) return unfit("an object");
        for (JsonMember& member : *object)
            if (!*trouble_) read(member.name, JsonCursor(member.value, *trouble_, this, member.name, {}));
    }

    bool boolean() const;
    std::string text() const;           // printable()
    std::string lines() const;          // printable_lines()
    std::string text_or_empty() const;  // null: empty
    std::optional<std::string> text_or_null() const;
    // A whole number within the bounds, and within those of its type.
    template <class Number>
    Number number(Number least = std::numeric_limits<Number>::min(),
                  Number most = std::numeric_limits<Number>::max()) const {
        const auto* positive = std::get_if<std::uint64_t>(&value_->value);
        const auto* negative = std::get_if<std::int64_t>(&value_->value);
        if (positive != nullptr && std::cmp_less_equal(*positive, most) &&
            std::cmp_greater_equal(*positive, least))
            return static_cast<Number>(*positive);
        if (negative != nullptr && std::cmp_less_equal(*negative, most) &&
            std::cmp_greater_equal(*negative, least))
            return static_cast<Number>(*negative);
        unfit("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
        return least > 0 ? least : Number{};
    }
    template <class Number>
    std::optional<Number> number_or_null(Number least = std::numeric_limits<Number>::min(),
                                         Number most = std::numeric_limits<Number>::max()) const {
        return is_null() ? std::nullopt : std::optional(number<Number>(least, most));
    }
    Milliseconds seconds() const;  // from 0 to 1000 years
    std::optional<Milliseconds> seconds_or_null() const;
    std::optional<Mebibytes> mib_or_null() const;  // from 0 to 2^40
    char letter_or_mark() const;                   // one printable ASCII character; null: '?'
    // One of an array of words, by to_string().
    template <class Word, std::size_t N>
    Word word(const Word (&all)[N]) const {
        const auto* text = std::get_if<std::string>(&value_->value);
        std::string words;
        for (const Word word : all) {
            if (text != nullptr && to_string(word) == *text) return word;
            words += (words.empty() ? "" : ", ") + std::string(to_string(word));
        }
        unfit("one of " + words);
        return all[0];
    }

    // "hosts[3].verdict: wants clean, dirty, ..., not 'clear'".
    void unfit(std::string_view wants) const;
    // The same in words of the caller's.
    void refuse(std::string_view why) const;

  private:
    JsonCursor(JsonValue& value, JsonTrouble& trouble, const JsonCursor* parent, std::string_view name,
               std::optional<std::size_t> index)
        : value_(&value), trouble_(&trouble), parent_(parent), name_(name), index_(index) {}
    std::string place() const;
    JsonValue* find(std::string_view name) const;

    JsonValue* value_;
    JsonTrouble* trouble_;
    const JsonCursor* parent_ = nullptr;
    std::string_view name_;
    std::optional<std::size_t> index_;
    mutable std::size_t next_ = 0;  // members are mostly read in the order in which they were written
};

}  // namespace cleanslate::controller
