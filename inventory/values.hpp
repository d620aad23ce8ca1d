#pragma once
// Values of an inventory's variables, read as what they are meant to be. Private to settings.cpp. Errors have
// kind "inventory" and begin with file:line:column.

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "inventory/host.hpp"
#include "inventory/variables.hpp"

namespace cleanslate::inventory {

// Where a value stands and what it is called.
struct Value {
    std::string_view file;
    const yaml::Node& key;
    const yaml::Node& node;

    std::unexpected<Error> wrong(std::string_view problem, std::string remedy = {}) const {
        return fail("inventory",
                    fmt::format("{}: {}: {}", yaml::place(file, node.mark), printable(key.text()), problem),
                    std::move(remedy));
    }
    std::unexpected<Error> refuse(const Error& error) const { return wrong(error.message, error.remedy); }
    std::unexpected<Error> found(std::string_view what, std::string_view expected, std::string remedy) const {
        return wrong(fmt::format("found {} where {} belongs", what, expected), std::move(remedy));
    }
};

// What stands there, for messages: "8", a list, the tag !vault.
std::string shown(const yaml::Node& node);

// A tag other than that of a text, such as !vault, or what stands for one in Ansible's JSON.
bool is_tagged(const yaml::Node& node);

// The text in {"__ansible_unsafe": "text"}, which is how Ansible's JSON says that no template is filled in
// there; any other node itself.
const yaml::Node& bare(const yaml::Node& node);

// Whether what it is becomes known with the host alone, or never: a template, a vault.
bool is_open(const yaml::Node& node);

// A text as Ansible would see it. Numbers and the like that it would write in another way are refused.
Result<std::string> text_of(const Value& value);

// `check` says whether the text will do, and may change it.
inline Status set_text(std::optional<std::string>& slot, const Value& value, auto check) {
    auto text = text_of(value);
    if (!text) return std::unexpected(text.error());
    if (auto fine = check(*text); !fine) return value.refuse(fine.error());
    slot = std::move(*text);
    return {};
}

// `take` gets the number, if it is one from `min` to `max`.
inline Status set_number(const Value& value, std::optional<std::int64_t> number, std::int64_t min,
                         std::int64_t max, auto take) {
    if (!number)
        return value.found(shown(value.node), "an integer", "write plain digits, such as 8, without a unit");
    if (*number < min || *number > max)
        return value.wrong(fmt::format("{} is out of range", *number), fmt::format("{} to {}", min, max));
    take(*number);
    return {};
}

Status set_bool(std::optional<bool>& slot, const Value& value);
Status set_become(std::optional<bool>& slot, const Value& value);

// Adds the entries of a protect list; `open_too`: those that are not known, which are errors, as well.
Status set_list(std::vector<std::string>& list, const Value& value, bool open_too);

// Whether the connection is paramiko; one that is none of SSH's is refused.
Result<bool> read_paramiko(const Value& value);
// Refuses a variable that paramiko alone follows: to pass over it may reach another host, or as another user.
Status refuse_paramikos(const Value& value);
// Refuses another program than OpenSSH's, which may go elsewhere.
Status check_executable(const Value& value);

// Reads a variable that is ours alone and no list into the host; nothing to do for any other.
Status set_ours(Variable variable, const Value& value, Host& host);

}  // namespace cleanslate::inventory
