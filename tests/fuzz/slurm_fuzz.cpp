// Properties: what squeue or sinfo print is an error with a printable message, or host names that no program
// could take for an option, each once and at least one; and of partitions none but those that were asked for
// counts.
#undef NDEBUG  // the asserts are the test
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <set>

#include "base/text.hpp"
#include "controller/slurm_output.hpp"
#include "inventory/names.hpp"
#include "inventory/node_set.hpp"

namespace {

using namespace cleanslate;

void check(const Result<std::vector<std::string>>& nodes) {
    if (!nodes) {
        assert(nodes.error().kind == "slurm");
        assert(printable(nodes.error().message) == nodes.error().message);
        return;
    }
    assert(!nodes->empty());
    assert(std::set<std::string>(nodes->begin(), nodes->end()).size() == nodes->size());
    for (const auto& name : *nodes) assert(inventory::check_host_name(name) && !inventory::is_ipv6(name));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto names = inventory::unfold(text, 5'000);
        !names && names.error().message.find("stands for more") != std::string::npos)
        return 0;  // more only takes time
    check(controller::slurm_nodes_in(text, "squeue"));
    check(controller::nodes_of_job(text, "7"));
    check(controller::nodes_of_partitions(text, {"gpu", "debug"}, {}));
    check(controller::nodes_of_partitions(text, {"gpu"}, {"idle"}));
    return 0;
}
