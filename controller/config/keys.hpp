#pragma once
// What a config file may set, and what it may not: one table each. docs/config.md shows the first.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/options.hpp"

namespace cleanslate::controller::config {

enum class Shape { text, list, growing_list, yes_or_no };

// What a value names, and so which part of it is a path.
enum class Names { no_file, file, file_or_none, inventory, playbook, format };

struct Key {
    std::string_view name;  // of the option of the same name, without its dashes
    Shape shape;
    Names names;
    std::string_view built_in;  // what holds where nobody has said anything
    std::string_view meaning;
};

std::span<const Key> keys();
// Null: there is none.
const Key* find_key(std::string_view name);
std::vector<std::string> key_names();

// Why an option must be given each time and is no setting, as a sentence's end: "asks ..."; empty: it is not
// listed here.
std::string_view never_a_default(std::string_view name);

// Whether a command looks into config files at all. What does not, works whatever is in them.
bool reads_config(Command command);

// Whether a command that has the option takes it from a file.
bool applies(const Key& key, Command command);

}  // namespace cleanslate::controller::config
