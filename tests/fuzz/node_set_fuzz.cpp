// Properties: unfold gives distinct names without brackets, commas or blanks, or an error; unfold(fold(x))
// has exactly the names of x, and folding again changes nothing. A limit selects hosts in the order of the
// inventory, at least one, or none with an error, and so does a file of limits. Targets are hosts whose names
// no program could take for an option. The terms of a list are pieces of its text, in their order.
#undef NDEBUG  // the asserts are the test
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "base/text.hpp"
#include "inventory/inventory.hpp"
#include "inventory/list_file.hpp"
#include "inventory/names.hpp"
#include "inventory/node_set.hpp"
#include "inventory/signed_terms.hpp"

namespace {

using namespace cleanslate;
using namespace cleanslate::inventory;

constexpr std::size_t max_names = 2'000;  // more only takes time

void check_node_set(std::string_view text) {
    const auto names = unfold(text, max_names);
    if (!names) {
        assert(names.error().kind == "range");
        assert(printable(names.error().message) == names.error().message);
        return;
    }
    const std::set<std::string> expected(names->begin(), names->end());
    assert(expected.size() == names->size() && !names->empty() && names->size() <= max_names);
    for (const auto& name : *names) {
        assert(!name.empty() && name.size() <= 255 && name.find_first_of("[], \t\r\n") == std::string::npos);
    }
    const std::string folded = fold(*names);
    const auto again = unfold(folded, max_names);
    assert(again);
    assert(expected == std::set<std::string>(again->begin(), again->end()));
    assert(fold(*again) == folded);
}

bool is_large(std::string_view text) {
    return std::ranges::any_of(split_terms(text), [](std::string_view term) {
        const auto names = unfold(term, max_names);
        return !names && names.error().message.find("stands for more than") != std::string::npos;
    });
}

void check_limit(std::string text) {
    std::ranges::replace(text, '@', 'a');  // no files
    static const auto fleet =
        Inventory::parse(
            "rack1: {hosts: {'gpu[01-04]': }}\nrack2: {hosts: {'gpu[05-08]': , '::1': }}\nspare:\n", "fleet")
            .value();
    const auto selected = fleet.select(text);
    if (!selected) {
        assert(selected.error().kind == "limit" || selected.error().kind == "range");
        assert(printable(selected.error().message) == selected.error().message);
        return;
    }
    assert(!selected->empty());
    auto rest = fleet.hosts().begin();
    for (const auto& host : *selected) {
        rest =
            std::find_if(rest, fleet.hosts().end(), [&](const Host& each) { return each.name == host.name; });
        assert(rest++ != fleet.hosts().end());
    }
}

// Files and standard input are not read here.
bool names_file(const SignedTerm& term) { return term.text.starts_with('@') || term.text == "-"; }

void check_terms(std::string_view text, Separators separators) {
    const char* end = text.data();
    for (const SignedTerm& term : signed_terms(text, separators)) {
        if (term.text.empty()) continue;
        assert(term.text.data() >= end && term.text == trim(term.text));
        end = term.text.data() + term.text.size();
    }
    assert(end <= text.data() + text.size());
}

void check_list(std::string_view text) {
    std::size_t terms = 0;
    const auto read = each_in_list(text, "list", Separators::commas_and_colons, [&](const SignedTerm& term) {
        ++terms;
        assert(!term.text.empty() && term.text.find_first_of("\n#") == std::string_view::npos);
        return Status();
    });
    assert(read ? terms > 0 : read.error().kind == "limit");
    assert(read || printable(read.error().message) == read.error().message);
}

void check_targets(std::string_view text) {
    if (std::ranges::any_of(signed_terms(text, Separators::commas), names_file)) return;
    const auto targets = Inventory::from_targets(text);
    if (!targets) {
        assert(printable(targets.error().message) == targets.error().message);
        return;
    }
    std::set<std::string> names;
    for (const auto& host : targets->hosts()) {
        assert(check_host_name(host.name) && names.insert(host.name).second);
        assert(!host.user || check_user(*host.user));
        assert(!host.port || *host.port > 0);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_node_set(text);
    check_terms(text, Separators::commas);
    check_terms(text, Separators::commas_and_colons);
    check_list(text);
    if (is_large(text)) return 0;
    check_limit(std::string(text));
    check_targets(text);
    return 0;
}
