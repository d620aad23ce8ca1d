#pragma once
// Where an inventory comes from: files, folders, programs that are asked.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cleanslate::inventory {

// Whoever can run a program that knows an inventory. The answers are JSON; errors name the program.
class Programs {
  public:
    virtual ~Programs() = default;
    virtual Result<std::string> ansible_inventory(const std::string& path) = 0;  // ... -i PATH --list
    virtual Result<std::string> script(const std::string& path) = 0;             // PATH --list
};

struct Source {
    enum class Form : std::uint8_t { groups, listing };  // YAML as people write it, and a program's answer
    Form form = Form::groups;
    std::string name;  // of the file, for messages
    std::string text;
    bool may_be_empty = false;  // one of a folder's files
};

struct Sources {
    std::vector<Source> all;  // in the order in which they are read: later ones win
    std::vector<std::string>
        folders;  // where group_vars and host_vars may be; of later ones wins what they say
    std::vector<std::string> notes;  // what somebody could miss
};

// Reads what is named: "-" (standard input), "ansible:PATH" (ansible-inventory is asked), a file, a program
// (asked for its list), or a folder of them, in the order of their names and without what Ansible ignores
// there; a text in a folder with another ending than none, .yml, .yaml or .json is an error. Errors have kind
// "inventory" and name the file.
Result<Sources> read_sources(const std::vector<std::string>& paths, Programs& programs);

// Whether Ansible, reading a folder of inventories, passes over a file of this name.
bool is_ignored(std::string_view name);

}  // namespace cleanslate::inventory
