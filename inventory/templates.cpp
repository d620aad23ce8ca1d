#include "inventory/templates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

std::unexpected<Error> not_known(std::string_view text) {
    return fail("inventory",
                fmt::format("\"{}\" is a template, which is not known here", ellipsize(printable(text), 60)),
                "write the value out (ansible-inventory fills in nothing either); only "
                "{{ inventory_hostname }} and {{ inventory_hostname_short }} are filled in");
}

}  // namespace

bool has_template(std::string_view text) {
    for (auto at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1))
        if (at + 1 < text.size() && (text[at + 1] == '{' || text[at + 1] == '%' || text[at + 1] == '#'))
            return true;
    return false;
}

Result<std::string> fill_in(std::string_view text, std::string_view name) {
    std::string filled;
    std::string_view rest = text;
    while (has_template(rest)) {
        const auto open = rest.find("{{");
        const auto close = open == std::string_view::npos ? open : rest.find("}}", open);
        if (close == std::string_view::npos || has_template(rest.substr(0, open))) return not_known(text);
        const std::string_view word = trim(rest.substr(open + 2, close - open - 2));
        filled += rest.substr(0, open);
        if (word == "inventory_hostname")
            filled += name;
        else if (word == "inventory_hostname_short")
            filled += name.substr(0, name.find('.'));
        else
            return not_known(text);
        rest.remove_prefix(close + 2);
    }
    return filled.append(rest);
}

}  // namespace cleanslate::inventory
