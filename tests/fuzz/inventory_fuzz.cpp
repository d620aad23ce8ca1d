// Property of the inventory reader: it ends with hosts that have names, addresses and users which no program
// could take for an option, each name once, in groups whose indexes are right, or with an error that names
// the file.
#undef NDEBUG  // the asserts are the test
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <set>

#include "base/text.hpp"
#include "inventory/host_keys.hpp"
#include "inventory/inventory.hpp"
#include "inventory/jumps.hpp"
#include "inventory/names.hpp"
#include "inventory/ssh_args.hpp"
#include "inventory/templates.hpp"

namespace {

// The same of what stands in keys and values: options of ssh, templates, ranges with ports.
void check_parts(std::string_view text) {
    using namespace cleanslate::inventory;
    if (const auto args = read_ssh_args(text)) {
        assert(!args->user || check_user(*args->user));
        assert(!args->port || *args->port > 0);
        assert(!args->jump || read_hops(*args->jump).value() == *args->jump);
    }
    if (const auto filled = fill_in(text, "n1")) assert(has_template(text) || *filled == text);
    if (const auto key = read_host_key(text, 1'000)) {
        assert(!key->names.empty() && key->names.size() <= 1'000);
        for (const auto& name : key->names) assert(check_host_name(name));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cleanslate;
    using inventory::Inventory;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_parts(text);
    const auto read = Inventory::parse(text, "fuzz.yaml");
    if (!read) {
        assert(read.error().kind == "inventory");
        assert(read.error().message.starts_with("fuzz.yaml:"));
        assert(printable(read.error().message) == read.error().message);
        return 0;
    }
    std::set<std::string_view> names;
    for (const auto& host : read->hosts()) {
        assert(names.insert(host.name).second);
        assert(inventory::check_host_name(host.name) && inventory::check_address(host.address));
        assert(!host.user || inventory::check_user(*host.user));
        assert(!host.port || *host.port > 0);
    }
    assert(!read->hosts().empty());
    assert(read->groups().at("all").size() == read->hosts().size());
    for (const auto& [group, members] : read->groups()) {
        assert(std::ranges::is_sorted(members) && std::ranges::adjacent_find(members) == members.end());
        assert(members.empty() || members.back() < read->hosts().size());
    }
    for (const auto& note : read->notes()) assert(printable(note) == note);
    const auto all = read->select("all");  // or a host has a setting that can not be used
    assert(all ? all->size() == read->hosts().size() : all.error().kind == "inventory");
    return 0;
}
