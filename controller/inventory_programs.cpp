#include "controller/inventory_programs.hpp"

#include <filesystem>

#include "base/text.hpp"
#include "controller/json_tree.hpp"
#include "controller/program_answer.hpp"

namespace cleanslate::controller {
namespace {

// Its answer, if that is one whole JSON object.
Result<std::string> json_of(const Program& program) {
    auto answer = answer_of(program);
    if (!answer) return answer;
    JsonBounds bounds;
    bounds.depth = 64;
    bounds.values_at_once = bounds.values;
    const auto keep = [](JsonValue&) -> Status { return {}; };
    if (const auto read = read_json_object(*answer, "", keep, bounds); !read)
        return std::unexpected(with_context(
            read.error(), printable(program.words.front()) + ": its answer is not one JSON object"));
    return answer;
}

}  // namespace

Result<std::string> InventoryPrograms::ansible_inventory(const std::string& path) {
    Program program;
    const std::string plain = path.starts_with('-') ? "./" + path : path;  // no option of its
    program.words = {"ansible-inventory", "-i", plain, "--list"};
    // A source that Ansible can not read would leave its hosts out, with no more than a warning. --export
    // leaves what groups say to whoever reads, who has no group_vars of theirs then. Whatever the user's own
    // variables and ansible.cfg say.
    program.variables = {{"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED", "True"},
                         {"ANSIBLE_INVENTORY_UNPARSED_FAILED", "True"},
                         {"ANSIBLE_INVENTORY_EXPORT", "False"}};
    program.if_absent =
        "install ansible-core here, or convert the inventory where it is: ansible-inventory -i PATH --list "
        "--yaml --export";
    return json_of(program);
}

Result<std::string> InventoryPrograms::script(const std::string& path) {
    std::error_code failed;
    const auto whole = std::filesystem::absolute(path, failed);
    Program program;
    program.words = {failed ? path : whole.string(), "--list"};
    return json_of(program);
}

}  // namespace cleanslate::controller
