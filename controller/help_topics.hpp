#pragma once
// Short texts for `cleanslate help TOPIC`; each is a file in help/, and one screen of 80 columns.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::controller {

struct Topic {
    std::string_view name;
    std::string_view text;  // its first line says what it is about
    std::string_view summary() const { return text.substr(0, text.find('\n')); }
};

std::span<const Topic> topics();
// Null: there is none.
const Topic* find_topic(std::string_view name);
std::vector<std::string> topic_names();

// "Topics of `cleanslate help TOPIC`: ...", of 80 columns, without the last line end.
std::string list_of_topics();
// A line each, with what it is about.
std::string table_of_topics();

}  // namespace cleanslate::controller
