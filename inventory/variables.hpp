#pragma once
// The variables that mean something here, found in the mappings of an inventory. Their values are read by
// settings.hpp, once it is known which of them count.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/yaml.hpp"

namespace cleanslate::inventory {

// One for each thing that can be set on its own: ansible_host and ansible_ssh_host are two variables to
// Ansible.
enum class Variable : std::uint8_t {
    ansible_ssh_host,
    ansible_host,
    host,
    ansible_ssh_port,
    ansible_port,
    port,
    ansible_ssh_user,
    ansible_user,
    user,
    ansible_ssh_private_key_file,
    ansible_private_key_file,
    identity_file,
    proxy_jump,
    ssh_args,
    ssh_common_args,
    ssh_extra_args,
    ansible_ssh_host_key_checking,
    ansible_host_key_checking,
    ssh_timeout,
    connection,
    paramiko_host,  // these count where that is paramiko
    paramiko_port,
    paramiko_user,
    paramiko_private_key_file,
    paramiko_proxy_command,
    ssh_executable,
    become,  // and ansible_become: the nearer one counts
    become_user,
    become_method,
    become_other,
    gpus,
    max_used,
    unified_memory,
    unscheduled,
    protect,
    unprotect,
    priority,
    locked_file  // none of the inventory's: a whole file of variables that can not be read
};
constexpr std::size_t variable_count = static_cast<std::size_t>(Variable::locked_file) + 1;

// One of them where it stands. The nodes belong to a document of the draft.
struct Bound {
    const yaml::Entry* entry = nullptr;  // name and value; null: of locked_file
    std::uint32_t file = 0;              // among the draft's
    Variable variable = Variable::host;
};

// Where a line of an inventory of several files stands.
struct Place {
    std::uint32_t file = 0;
    yaml::Mark mark;
};

// Finds the variables of ours, and remembers the names that are not.
class VariableReader {
  public:
    // Adds to `out` what `node`, a mapping or nothing, holds; of two names for one variable the one that
    // Ansible knows. A mapping's slips of our own names are errors, and so are values of ours that no host
    // could have. Errors begin with file:line:column and have kind "inventory" or "yaml".
    Status read(const yaml::Node& node, std::string_view file_name, std::uint32_t file,
                std::vector<Bound>& out);

    // Names of variables that mean nothing to us, with their first place.
    const std::map<std::string, Place>& unknown() const { return unknown_; }
    // The first password for sudo, which is passed over whatever its value; no name: there is none.
    const std::pair<std::string, Place>& password() const { return password_; }

  private:
    std::pair<std::string, Place> password_;
    std::map<std::string, Place> unknown_;
    std::set<std::string, std::less<>> foreign_;  // names that were looked at and are no misspelling of ours
};

}  // namespace cleanslate::inventory
