#pragma once
// What the sources of an inventory say, read and checked but not inherited yet: groups, hosts, and who
// belongs to whom.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "base/yaml.hpp"
#include "inventory/variables.hpp"

namespace cleanslate::inventory {

struct Draft {
    Draft();
    Draft(Draft&&) = default;  // names keep their place, which `host_index` needs; a copy's would not
    Draft& operator=(Draft&&) = default;

    // Variables that stand together: a part of `bound`.
    struct Block {
        std::uint32_t first = 0, count = 0;
    };
    // The same from a file of group_vars or host_vars, in the folder of that number.
    struct Beside {
        std::uint32_t folder = 0;
        Block block;
    };
    struct Edge {
        std::size_t group = 0;
        Place place;  // where the one names the other
    };
    struct Group {
        std::string name;
        Place place;                // where it was named first
        std::vector<Block> blocks;  // in the order of the sources
        std::vector<Beside> beside;
        std::int64_t priority = 1;
        std::vector<Edge> parents;  // "all" where nothing else
        std::size_t depth = 0;      // the longest way from "all"
    };
    struct Host {
        std::string name;
        Place place;
        std::int64_t key_port = 0;        // behind its name where it stood first; 0: none
        std::vector<std::size_t> groups;  // direct ones
        std::vector<Block> blocks;
    };

    std::vector<std::string> files;         // by their numbers; for messages
    std::vector<yaml::Document> documents;  // what `bound` points into
    std::vector<Bound> bound;
    std::vector<Group> groups;  // the first is "all"
    std::deque<Host> hosts;     // in the order of the sources; vectors take twice the memory while they grow
    std::unordered_map<std::size_t, std::vector<Beside>> beside_hosts;
    std::unordered_map<std::string, std::size_t> group_index;
    std::unordered_map<std::string_view, std::size_t> host_index;  // by the names in `hosts`
};

// Puts groups, hosts and variables into a draft. Errors have kind "inventory", "yaml" or "range" and begin
// with file:line:column.
class DraftBuilder {
  public:
    // Says which file is read from now on. Its document is kept for as long as the draft.
    const yaml::Node& begin(std::string file, yaml::Document document);
    // That file is read: where nothing points into its document, its memory is given back.
    void end();

    std::string_view file_name() const { return draft_.files.back(); }
    std::unexpected<Error> wrong(yaml::Mark mark, std::string_view problem, std::string remedy = {}) const;
    // Something that Ansible, too, passes over.
    void pass_over(yaml::Mark mark, std::string_view what);

    // The index of the group that `key` names, which is made where it is new.
    Result<std::size_t> group(const yaml::Node& key);
    void add_child(std::size_t parent, std::size_t child, yaml::Mark mark);
    Status group_variables(std::size_t group, const yaml::Node& node);
    // The hosts that `key` names, with `variables` (a mapping or nothing).
    Status hosts(std::size_t group, const yaml::Node& key, const yaml::Node& variables);
    // One host by its name alone, which is no range and has no port.
    Status listed_host(std::size_t group, const yaml::Node& name);
    // Variables of one host that is there already.
    Status host_variables(std::size_t host, const yaml::Node& variables);
    // Of a file beside the inventory; one that is closed by a vault has no document.
    Result<Draft::Block> beside(std::string file, yaml::Document document);
    Draft::Block locked(std::string file);

    // Parents where there are none, notes, and done.
    Draft finish(std::vector<std::string>& notes);
    Draft& draft() { return draft_; }

  private:
    Result<Draft::Block> block(const yaml::Node& node);
    std::size_t host(const std::string& name, yaml::Mark mark, std::int64_t port);
    Status check_room(const yaml::Node& key) const;
    void put_into(std::size_t group, std::size_t host);
    Status check_key(const yaml::Node& key, std::string_view what) const;
    std::uint32_t file() const { return static_cast<std::uint32_t>(draft_.files.size() - 1); }
    void note_password(std::vector<std::string>& notes) const;
    void note_unknown(std::vector<std::string>& notes) const;

    Draft draft_;
    VariableReader variables_;
    std::size_t first_bound_ = 0;  // of the file that is read
    std::vector<std::string> passed_over_;
    std::size_t passed_over_more_ = 0;
};

// The YAML form: groups at the top, with hosts, vars and children.
Status read_groups(const yaml::Node& root, DraftBuilder& builder);

// The answer of a program that was asked with --list: groups with lists of hosts and children, and
// _meta.hostvars.
Status read_listing(const yaml::Node& root, DraftBuilder& builder);

}  // namespace cleanslate::inventory
