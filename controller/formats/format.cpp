#include "controller/formats/format.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::array formats{
    std::pair<std::string_view, Format>{"text", Format::text},
    std::pair<std::string_view, Format>{"json", Format::json},
    std::pair<std::string_view, Format>{"jsonl", Format::jsonl},
    std::pair<std::string_view, Format>{"csv", Format::csv},
    std::pair<std::string_view, Format>{"junit", Format::junit},
    std::pair<std::string_view, Format>{"prom", Format::prom},
    std::pair<std::string_view, Format>{"html", Format::html},
};

constexpr std::array forms{
    std::pair<std::string_view, ListForm>{"plain", ListForm::plain},
    std::pair<std::string_view, ListForm>{"folded", ListForm::folded},
    std::pair<std::string_view, ListForm>{"slurm", ListForm::slurm},
    std::pair<std::string_view, ListForm>{"mpi", ListForm::mpi},
    std::pair<std::string_view, ListForm>{"ansible", ListForm::ansible},
};

template <class Table>
auto value_of(const Table& table, std::string_view word) {
    using Value = std::remove_cvref_t<decltype(table.front().second)>;
    for (const auto& [name, value] : table)
        if (name == word) return std::optional<Value>(value);
    return std::optional<Value>();
}

template <class Table, class Value>
std::string_view name_of(const Table& table, Value wanted) {
    for (const auto& [name, value] : table)
        if (value == wanted) return name;
    return "";
}

}  // namespace

std::string_view to_string(Format format) { return name_of(formats, format); }
std::string_view to_string(ListForm form) { return name_of(forms, form); }

Result<FormatRequest> read_format_request(std::string_view text) {
    const auto equals = text.find('=');
    const std::string_view word = text.substr(0, equals);
    const auto format = value_of(formats, word);
    if (!format) {
        std::vector<std::string> words;
        for (const auto& known : formats) words.emplace_back(known.first);
        const std::string near = yaml::nearest(word, words);
        return fail(
            "usage",
            "wants one of text, json, jsonl, csv, junit, prom and html, with =FILE or without, not '" +
                printable(std::string(text)) + "'" + (near.empty() ? "" : ". Did you mean " + near + "?"));
    }
    if (equals == std::string_view::npos) return FormatRequest{*format, "-"};
    const std::string_view file = text.substr(equals + 1);
    if (file.empty()) return fail("usage", "wants a file after " + std::string(word) + "=");
    return FormatRequest{*format, std::string(file)};
}

Result<ListRequest> read_list_request(std::string_view text) {
    if (text.empty()) return fail("usage", "wants a file");
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return ListRequest{ListForm::plain, std::string(text)};
    const auto form = value_of(forms, text.substr(0, equals));
    if (!form) {
        // A slip of a form would be a file of this name.
        constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
        if (text.substr(0, equals).find_first_not_of(letters) == std::string_view::npos)
            return fail("usage", "wants one of plain, folded, slurm, mpi and ansible before the =, not '" +
                                     printable(std::string(text.substr(0, equals))) +
                                     "'; a file of such a name is given as ./" +
                                     printable(std::string(text)));
        return ListRequest{ListForm::plain, std::string(text)};
    }
    const std::string_view file = text.substr(equals + 1);
    if (file.empty()) return fail("usage", "wants a file after " + std::string(text));
    return ListRequest{*form, std::string(file)};
}

}  // namespace cleanslate::controller
