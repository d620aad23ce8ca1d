#include "inventory/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <unordered_map>

#include "base/text.hpp"
#include "inventory/become.hpp"
#include "inventory/settings.hpp"

namespace cleanslate::inventory {
namespace {

struct Known {
    std::string_view name;
    Variable variable;
};

constexpr std::array known{
    Known{"host", Variable::host},
    Known{"port", Variable::port},
    Known{"user", Variable::user},
    Known{"identity_file", Variable::identity_file},
    Known{"proxy_jump", Variable::proxy_jump},
    Known{"gpus", Variable::gpus},
    Known{"max_used_mib", Variable::max_used},
    Known{"unified_memory", Variable::unified_memory},
    Known{"unscheduled", Variable::unscheduled},
    Known{"protect", Variable::protect},
    Known{"unprotect", Variable::unprotect},
    Known{"ansible_host", Variable::ansible_host},
    Known{"ansible_port", Variable::ansible_port},
    Known{"ansible_user", Variable::ansible_user},
    Known{"ansible_ssh_private_key_file", Variable::ansible_ssh_private_key_file},
    Known{"ansible_ssh_args", Variable::ssh_args},
    Known{"ansible_ssh_common_args", Variable::ssh_common_args},
    Known{"ansible_ssh_extra_args", Variable::ssh_extra_args},
    Known{"ansible_host_key_checking", Variable::ansible_host_key_checking},
    Known{"ansible_ssh_host_key_checking", Variable::ansible_ssh_host_key_checking},
    Known{"ansible_ssh_timeout", Variable::ssh_timeout},
    Known{"ansible_connection", Variable::connection},
    Known{"ansible_paramiko_host", Variable::paramiko_host},
    Known{"ansible_paramiko_port", Variable::paramiko_port},
    Known{"ansible_paramiko_user", Variable::paramiko_user},
    Known{"ansible_paramiko_private_key_file", Variable::paramiko_private_key_file},
    Known{"ansible_paramiko_proxy_command", Variable::paramiko_proxy_command},
    Known{"ansible_ssh_executable", Variable::ssh_executable},
    Known{"ansible_group_priority", Variable::priority},
    // Older names that Ansible still follows: to pass over them would reach another host, or as another user.
    Known{"ansible_ssh_host", Variable::ansible_ssh_host},
    Known{"ansible_ssh_port", Variable::ansible_ssh_port},
    Known{"ansible_ssh_user", Variable::ansible_ssh_user},
    Known{"ansible_private_key_file", Variable::ansible_private_key_file},
};

// Near to ours, and yet plainly something else.
constexpr std::array<std::string_view, 7> not_slips{"cpus",
                                                    "product",
                                                    "project",
                                                    "projects",
                                                    "ansible_scp_executable",
                                                    "ansible_scp_extra_args",
                                                    "ansible_sftp_extra_args"};

// Names that are in use for many things elsewhere: what is near to them is no slip.
constexpr std::array<std::string_view, 4> common_words{"host", "port", "user", "become"};

std::optional<Variable> variable_of(std::string_view name) {
    static const auto index = [] {
        std::unordered_map<std::string_view, Variable> all;
        for (const auto& [known_name, variable] : known) all.emplace(known_name, variable);
        return all;
    }();
    if (const auto found = index.find(name); found != index.end()) return found->second;
    if (!is_about_become(name)) return std::nullopt;
    if (name == "become" || name == "ansible_become" || name == "ansible_sudo") return Variable::become;
    if (name.ends_with("_user")) return Variable::become_user;
    if (name.ends_with("_method")) return Variable::become_method;
    return Variable::become_other;
}

// The name of ours that `name` is a slip of, or empty. Short names are near to too much: there one edit is
// the limit.
std::string meant(std::string_view name) {
    if (std::ranges::find(not_slips, name) != not_slips.end()) return {};
    std::string plain;
    for (const char c : name) {
        const bool capital = c >= 'A' && c <= 'Z';
        plain += capital ? static_cast<char>(c - 'A' + 'a') : c == '-' ? '_' : c;
    }
    if (plain == "max_used") return "max_used_mib";  // what playbooks say
    std::vector<std::string> shorter, longer;
    for (const auto& k : known) {
        if (std::ranges::find(common_words, k.name) != common_words.end()) continue;
        const auto word = k.name.starts_with("ansible_") ? k.name.substr(8) : k.name;
        (word.size() <= 5 ? shorter : longer).emplace_back(k.name);
    }
    const auto found = yaml::nearest(plain, shorter, 1);
    return found.empty() ? yaml::nearest(plain, longer, 2) : found;
}

bool is_ansibles(const Bound& bound) { return bound.entry->first.text().starts_with("ansible_"); }

// Two names of one variable in one place: Ansible's counts, else the later one.
void bind(const Bound& bound, std::size_t first, std::vector<Bound>& out) {
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
    const auto same =
        std::find_if(begin, out.end(), [&](const Bound& other) { return other.variable == bound.variable; });
    if (same == out.end())
        out.push_back(bound);
    else if (is_ansibles(bound) || !is_ansibles(*same))
        *same = bound;
}

std::unexpected<Error> wrong(std::string_view file, yaml::Mark mark, std::string_view problem,
                             std::string remedy = {}) {
    return fail("inventory", fmt::format("{}: {}", yaml::place(file, mark), problem), std::move(remedy));
}

}  // namespace

Status VariableReader::read(const yaml::Node& node, std::string_view file_name, std::uint32_t file,
                            std::vector<Bound>& out) {
    if (node.is_null()) return {};
    if (!node.is_mapping()) {
        return wrong(file_name, node.mark,
                     fmt::format("found a {} where variables belong", yaml::describe(node)),
                     "write a mapping, such as {ansible_host: 10.0.0.1}");
    }
    const std::size_t first = out.size();
    for (const yaml::Entry& entry : node.entries()) {
        const std::string_view name = entry.first.text();
        if (is_become_password(name)) {
            if (password_.first.empty()) password_ = {std::string(name), {file, entry.first.mark}};
            continue;
        }
        if (const auto variable = variable_of(name)) {
            const Bound bound{&entry, file, *variable};
            if (auto fine = check_value(bound, file_name); !fine) return fine;
            bind(bound, first, out);
            continue;
        }
        if (foreign_.contains(name)) continue;
        if (const auto ours = meant(name); !ours.empty()) {
            return wrong(file_name, entry.first.mark, fmt::format("unknown variable {}", printable(name)),
                         fmt::format("did you mean {}?", ours));
        }
        foreign_.emplace(name);
        if (!name.starts_with("ansible_"))
            unknown_.try_emplace(std::string(name), Place{file, entry.first.mark});
    }
    return {};
}

}  // namespace cleanslate::inventory
