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
#include "inventory/inventory.hpp"
#include "inventory/names.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cleanslate;
    using inventory::Inventory;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
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
    assert(read->select("all")->size() == read->hosts().size());
    return 0;
}
