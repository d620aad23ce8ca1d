#pragma once
// YAML -> Inventory -> selected hosts. docs/inventory-format.md is the user's side of this header.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "inventory/host.hpp"
#include "inventory/sources.hpp"

namespace cleanslate::inventory {

class Inventory {
  public:
    // `name` stands in messages ("fleet.yaml:3:5: ..."). Errors have kind "inventory" and
    // begin with file:line:column where there is a place. An inventory without a host is one.
    static Result<Inventory> parse(std::string_view yaml, std::string_view name);
    // Files, folders, programs and - for standard input, see read_sources(); later ones win.
    static Result<Inventory> load(const std::vector<std::string>& paths, Programs& programs);
    // The same of what is no program: one is an error.
    static Result<Inventory> load(const std::vector<std::string>& paths);
    static Result<Inventory> load(const std::string& path);
    // "root@gpu[01-04]:2222,gpu07,[::1]:22": hosts named outright, without any file. Errors as above, or
    // "range".
    static Result<Inventory> from_targets(std::string_view targets);

    // All hosts, in the order of the file, each once.
    const std::vector<Host>& hosts() const { return hosts_; }
    // Group name -> indexes into hosts(), in order; has "all" and, where any, "ungrouped".
    const std::map<std::string, std::vector<std::size_t>>& groups() const { return groups_; }
    // Things worth saying once: unknown variables and the like.
    const std::vector<std::string>& notes() const { return notes_; }

    // LIMIT: names, groups, globs, ranges, @FILE; `,` union, `!` exclusion, `&` intersection. The result is
    // in inventory order. A pattern that matches nothing, a limit without a positive term, and an empty
    // result are errors of kind "limit" with the near names in the remedy; a host with a setting that can not
    // be used is one of kind "inventory".
    Result<std::vector<Host>> select(std::string_view limit) const&;
    // The same for whoever needs the inventory no more: its hosts move into the result.
    Result<std::vector<Host>> select(std::string_view limit) &&;
    // For whoever wants their names alone: those with a setting that can not be used are told in `notes`.
    Result<std::vector<Host>> select_for_names(std::string_view limit, std::vector<std::string>& notes) const;

  private:
    static Result<Inventory> read(Sources sources);
    Status check_usable(const std::vector<std::size_t>& chosen) const;
    std::vector<Host> hosts_at(const std::vector<std::size_t>& chosen) const;

    std::vector<Host> hosts_;
    std::map<std::string, std::vector<std::size_t>> groups_;
    std::map<std::size_t, std::shared_ptr<const Error>> unusable_;  // by their places in hosts_
    std::vector<std::string> notes_;
};

}  // namespace cleanslate::inventory
