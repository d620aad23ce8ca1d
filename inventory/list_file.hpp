#pragma once
// Files that list hosts: one or several names, node sets or patterns a line, as people, cleanslate,
// ClusterShell, pdsh, Slurm and MPI's tools write them.

#include <functional>
#include <string_view>

#include "base/result.hpp"
#include "inventory/signed_terms.hpp"

namespace cleanslate::inventory {

// Calls `use` with each term of the file at `path`, or of standard input for "-". Commas and blanks separate,
// and where asked for colons; `#` begins a comment; a line that ends in a comma goes on in the next;
// `slots=8` behind a name is passed over. Errors have kind "limit", those of `use` begin with FILE:LINE. A
// file that names nothing is an error.
Status each_listed(std::string_view path, Separators separators,
                   const std::function<Status(const SignedTerm&)>& use);

// The same of a text; `name` stands for FILE.
Status each_in_list(std::string_view text, std::string_view name, Separators separators,
                    const std::function<Status(const SignedTerm&)>& use);

}  // namespace cleanslate::inventory
