#include "playbooks/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "playbooks/pattern.hpp"

namespace cleanslate::playbooks {
namespace {

std::string shown(std::string_view text) { return ellipsize(printable(text), 40); }

// Why `value` may not stand in a command; empty: it may. What remains is one word to every shell.
std::string not_for_a_shell(std::string_view value) {
    if (value.empty()) return "its value is empty, which a command would not show";
    if (value[0] == '-') return "its value begins with -, which a command would take for an option";
    constexpr std::string_view safe = "_.,:=+@%/-";
    for (const char c : value) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && safe.find(c) == std::string_view::npos)
            return fmt::format(
                "its value '{}' has the character '{}', and in `run` only letters, digits and {} "
                "can be inserted",
                shown(value), printable(std::string_view(&c, 1)), safe);
    }
    return {};
}

// As a playbook writes it: "1h", "30s".
std::string written(Milliseconds duration) {
    const auto ms = duration.count();
    if (ms % 3'600'000 == 0 && ms != 0) return fmt::format("{}h", ms / 3'600'000);
    if (ms % 60'000 == 0 && ms != 0) return fmt::format("{}m", ms / 60'000);
    return ms % 1000 == 0 ? fmt::format("{}s", ms / 1000) : fmt::format("{}ms", ms);
}

}  // namespace

std::unexpected<Error> refuse_at(std::string_view file, yaml::Mark mark, std::string_view what,
                                 std::string remedy) {
    return fail("playbook", fmt::format("{}: {}", yaml::place(file, mark), what), std::move(remedy));
}

std::unexpected<Error> place_at(std::string_view file, yaml::Mark mark, Error error) {
    error = with_context(std::move(error), yaml::place(file, mark));
    error.kind = "playbook";
    return std::unexpected(std::move(error));
}

std::unexpected<Error> from_yaml(Error error) {
    error.kind = "playbook";
    if (error.remedy.empty())
        error.remedy =
            "check indentation and brackets; put a text that has [ ] { } # or a colon in single quotes";
    return std::unexpected(std::move(error));
}

std::string any_of(const std::vector<std::string>& words) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i)
        out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return out;
}

Status check_keys(const yaml::Node& node, std::string_view file, std::string_view what,
                  const std::vector<std::string>& known) {
    if (!node.tag().empty()) return refuse_at(file, node.mark, "tags are not used here", "leave the ! out");
    if (!node.is_mapping())
        return refuse_at(file, node.mark,
                         fmt::format("{} is a mapping, and here is {}", what, yaml::describe(node)),
                         fmt::format("write `KEY: VALUE` lines with the keys {}", any_of(known)));
    for (const auto& [key, value] : node.entries()) {
        if (std::find(known.begin(), known.end(), key.text()) != known.end()) continue;
        const std::string near = yaml::nearest(key.text(), known);
        std::string remedy = near.empty() ? std::string() : fmt::format("did you mean `{}`? ", near);
        return refuse_at(file, key.mark, fmt::format("{} has no key `{}`", what, shown(key.text())),
                         remedy + "known here: " + any_of(known));
    }
    return {};
}

Result<yaml::Document> Reader::filled(const yaml::Node& node, const Values::Judge& judge) const {
    if (!node.tag().empty()) return refuse(node, "tags are not used here", "leave the ! out");
    if (!node.is_scalar()) {
        yaml::Node shape;  // without the children, which may be many
        shape.kind = node.kind;
        shape.mark = node.mark;
        return yaml::Document({}, shape);
    }
    auto expanded = values_.expand(node.text(), judge);
    if (!expanded) return place(node, expanded.error());
    if (expanded->text.find('\0') != std::string::npos) return refuse(node, "a NUL byte", "leave it out");
    yaml::Node out = node;
    if (expanded->changed) out.quoted = false;  // "${count}" may be a number: the quotes were YAML's need
    return yaml::with_text(out, expanded->text);
}

Result<std::string> Reader::text(const yaml::Node& node, std::string_view what) const {
    auto full = filled(node);
    if (!full) return std::unexpected(full.error());
    auto text = yaml::as_text(full->root(), file_, what);
    if (!text) return from_yaml(text.error());
    return text;
}

Result<std::int64_t> Reader::integer(const yaml::Node& node, std::string_view what, std::int64_t low,
                                     std::int64_t high) const {
    auto full = filled(node);
    if (!full) return std::unexpected(full.error());
    auto number = yaml::as_integer(full->root(), file_, what);
    if (!number) return from_yaml(number.error());
    if (*number < low || *number > high)
        return refuse(node, fmt::format("`{}` is {}", what, *number),
                      fmt::format("write a number from {} to {}", low, high));
    return number;
}

Result<bool> Reader::boolean(const yaml::Node& node, std::string_view what) const {
    auto full = filled(node);
    if (!full) return std::unexpected(full.error());
    auto value = yaml::as_bool(full->root(), file_, what);
    if (!value) return from_yaml(value.error());
    return value;
}

Result<Milliseconds> Reader::duration(const yaml::Node& node, std::string_view what, Milliseconds low,
                                      Milliseconds high) const {
    auto word = text(node, what);
    if (!word) return std::unexpected(word.error());
    auto value = parse_duration(*word);
    if (!value) return place(node, with_context(value.error(), fmt::format("`{}`", what)));
    if (*value < low || *value > high)
        return refuse(node, fmt::format("`{}` is {}", what, shown(*word)),
                      fmt::format("write {} to {}", written(low), written(high)));
    return value;
}

Result<Mebibytes> Reader::size(const yaml::Node& node, std::string_view what) const {
    auto word = text(node, what);
    if (!word) return std::unexpected(word.error());
    auto value = parse_size(*word);
    if (!value) return place(node, with_context(value.error(), fmt::format("`{}`", what)));
    return value;
}

Result<std::string> Reader::pattern(const yaml::Node& node, std::string_view what) const {
    auto expression = text(node, what);
    if (!expression) return expression;
    if (auto compiled = Pattern::compile(*expression); !compiled)
        return place(node, with_context(compiled.error(), fmt::format("`{}`", what)));
    return expression;
}

Result<std::string> Reader::command(const yaml::Node& node, std::string_view what) const {
    auto full = filled(node, not_for_a_shell);
    if (!full) return std::unexpected(full.error());
    auto line = yaml::as_text(full->root(), file_, what);
    if (!line) return from_yaml(line.error());
    if (trim(*line).empty())
        return refuse(node, fmt::format("`{}` is empty", what), "write a command for /bin/sh");
    return line;
}

}  // namespace cleanslate::playbooks
