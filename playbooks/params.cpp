#include "playbooks/params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "playbooks/reader.hpp"

namespace cleanslate::playbooks {
namespace {

constexpr std::size_t max_params = 100;
constexpr std::size_t max_value_bytes = 4096;
constexpr std::size_t max_text_bytes = 64 * 1024;

bool is_name(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto fits = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
    return !text.empty() && text.size() <= 64 && letter(text[0]) &&
           std::all_of(text.begin(), text.end(), fits);
}

std::string shown(std::string_view text) { return ellipsize(printable(text), 40); }

// What no scalar should hold, in words; empty: nothing. A NUL would end a pattern where nobody sees it.
std::string_view wrong_value(std::string_view value) {
    if (value.find('\0') != std::string_view::npos) return "has a NUL byte";
    if (value.size() > max_value_bytes) return "is longer than 4096 bytes";
    return {};
}

Result<std::string> plain_text(const yaml::Node& node, std::string_view file, std::string_view what) {
    if (!node.tag().empty()) return refuse_at(file, node.mark, "tags are not used here", "leave the ! out");
    auto text = yaml::as_text(node, file, what);
    if (!text) return from_yaml(text.error());
    if (const auto wrong = wrong_value(*text); !wrong.empty())
        return refuse_at(file, node.mark, fmt::format("{} {}", what, wrong), "write a short text");
    return text;
}

// The right side of `NAME: ...`: a default, or a mapping with default and description, or nothing.
Status read_param(const yaml::Node& node, std::string_view file, Param& param) {
    if (node.is_null()) return {};
    if (!node.is_mapping()) {
        auto text = plain_text(node, file, "the default of " + param.name);
        if (text) param.fallback = *text;
        return text ? Status{} : std::unexpected(text.error());
    }
    if (auto keys = check_keys(node, file, "a param", {"default", "description"}); !keys) return keys;
    if (const yaml::Node* fallback = node.find("default")) {
        if (fallback->is_null())
            return refuse_at(
                file, fallback->mark, fmt::format("param `{}` has an empty default", param.name),
                "write '' for the empty text, or leave `default:` out: then --set must give a value");
        auto text = plain_text(*fallback, file, "default");
        if (!text) return std::unexpected(text.error());
        param.fallback = *text;
    }
    if (const yaml::Node* about = node.find("description")) {
        auto text = plain_text(*about, file, "description");
        if (!text) return std::unexpected(text.error());
        param.description = trim(*text);
        if (param.description != printable(param.description))
            return refuse_at(file, about->mark, "`description` is not one line of plain text",
                             "write a few words");
    }
    return {};
}

std::vector<std::string> names_of(const std::vector<Declared>& params) {
    std::vector<std::string> names;
    for (const auto& declared : params) names.push_back(declared.param.name);
    return names;
}

Error unknown_setting(std::string_view name, const std::vector<Declared>& params, std::string_view file) {
    const auto names = names_of(params);
    const std::string near = yaml::nearest(name, names);
    std::string remedy = names.empty() ? "this playbook has no params" : "its params: " + any_of(names);
    if (!near.empty()) remedy = fmt::format("did you mean `{}`? ", near) + remedy;
    return Error{
        "playbook", {}, fmt::format("{}: --set {}: there is no such param", file, shown(name)), remedy};
}

}  // namespace

Result<std::vector<Declared>> read_params(const yaml::Node& node, std::string_view file) {
    std::vector<Declared> params;
    if (node.is_null()) return params;
    if (!node.is_mapping())
        return refuse_at(file, node.mark,
                         fmt::format("`params` is a mapping, and here is {}", yaml::describe(node)),
                         "write one `NAME: DEFAULT` a line below it");
    if (node.entries().size() > max_params)
        return refuse_at(file, node.mark, fmt::format("{} params", node.entries().size()),
                         fmt::format("use at most {}", max_params));
    for (const auto& [key, value] : node.entries()) {
        if (!is_name(key.text()))
            return refuse_at(file, key.mark, fmt::format("`{}` is no name for a param", shown(key.text())),
                             "use letters, digits and _, beginning with a letter");
        Declared declared{{std::string(key.text()), {}, {}}, key.mark};
        if (auto read = read_param(value, file, declared.param); !read) return std::unexpected(read.error());
        params.push_back(std::move(declared));
    }
    return params;
}

Result<Values> Values::make(const std::vector<Declared>& params, const Settings& settings,
                            std::string_view file) {
    Values values;
    for (const auto& [name, value] : settings) {
        const auto same = [&](const Declared& declared) { return declared.param.name == name; };
        if (std::none_of(params.begin(), params.end(), same))
            return std::unexpected(unknown_setting(name, params, file));
        if (const auto wrong = wrong_value(value); !wrong.empty())
            return fail("playbook", fmt::format("{}: --set {}: the value {}", file, name, wrong),
                        "give a short text");
        values.values_[name] = value;
    }
    for (const auto& [param, mark] : params) {
        if (values.values_.contains(param.name)) continue;
        if (!param.fallback)
            return refuse_at(file, mark, fmt::format("param `{}` has no value", param.name),
                             fmt::format("give --set {}=VALUE, or write a default here", param.name));
        values.values_[param.name] = *param.fallback;
    }
    return values;
}

Result<std::string> Values::value_of(const std::string& name, const Judge& judge) const {
    const auto value = values_.find(name);
    if (value == values_.end()) {
        std::vector<std::string> names;
        for (const auto& [known, unused] : values_) names.push_back(known);
        const std::string near = yaml::nearest(name, names);
        return fail("playbook", fmt::format("there is no param `{}`", shown(name)),
                    (near.empty() ? std::string() : fmt::format("did you mean ${{{}}}? ", near)) +
                        "name it under `params:`, or write $${ for the two characters ${");
    }
    used_.insert(name);
    if (const std::string wrong = judge ? judge(value->second) : std::string(); !wrong.empty())
        return fail("playbook", fmt::format("param `{}`: {}", name, wrong),
                    "give another value, or write the text into the playbook itself");
    return value->second;
}

Result<Values::Expanded> Values::expand(std::string_view text, const Judge& judge) const {
    Expanded out;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view rest = text.substr(at);
        if (rest.starts_with("${")) {
            const std::size_t end = rest.find('}');
            if (end == std::string_view::npos)
                return fail("playbook", "a ${ that is never closed",
                            "write ${NAME}, or $${ for the two characters");
            auto value = value_of(std::string(rest.substr(2, end - 2)), judge);
            if (!value) return std::unexpected(value.error());
            out.text += *value;
            out.changed = true;
            at += end + 1;
        } else {
            out.text += rest[0];
            at += rest.starts_with("$$") ? 2 : 1;
        }
        if (out.text.size() > max_text_bytes)
            return fail("playbook", "a text of more than 64 KiB", "write a shorter one");
    }
    return out;
}

const Declared* Values::unused(const std::vector<Declared>& params) const {
    for (const auto& declared : params)
        if (!used_.contains(declared.param.name)) return &declared;
    return nullptr;
}

}  // namespace cleanslate::playbooks
