#include "inventory/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "inventory/become.hpp"
#include "inventory/jumps.hpp"
#include "inventory/names.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::int64_t max_gpus = 1'024;
constexpr std::int64_t max_used_mib = 16 << 20;  // 16 TiB
constexpr std::size_t max_entries = 1'000;       // of one protect list

enum class Meaning {
    address,
    port,
    user,
    identity_file,
    proxy_jump,
    ssh_options,
    gpus,
    max_used,
    unified_memory,
    unscheduled,
    protect,
    unprotect,
    become,
    priority
};

struct Known {
    std::string_view name;
    Meaning meaning;
};

constexpr std::array known{
    Known{"host", Meaning::address},
    Known{"port", Meaning::port},
    Known{"user", Meaning::user},
    Known{"identity_file", Meaning::identity_file},
    Known{"proxy_jump", Meaning::proxy_jump},
    Known{"gpus", Meaning::gpus},
    Known{"max_used_mib", Meaning::max_used},
    Known{"unified_memory", Meaning::unified_memory},
    Known{"unscheduled", Meaning::unscheduled},
    Known{"protect", Meaning::protect},
    Known{"unprotect", Meaning::unprotect},
    Known{"become", Meaning::become},
    Known{"ansible_host", Meaning::address},
    Known{"ansible_port", Meaning::port},
    Known{"ansible_user", Meaning::user},
    Known{"ansible_ssh_private_key_file", Meaning::identity_file},
    Known{"ansible_ssh_common_args", Meaning::ssh_options},
    Known{"ansible_ssh_extra_args", Meaning::ssh_options},
    Known{"ansible_group_priority", Meaning::priority},
    // Older names that Ansible still follows: to pass over them would reach another host, or as another user.
    Known{"ansible_ssh_host", Meaning::address},
    Known{"ansible_ssh_port", Meaning::port},
    Known{"ansible_ssh_user", Meaning::user},
    Known{"ansible_private_key_file", Meaning::identity_file},
};

// Near to ours, and yet plainly something else.
constexpr std::array<std::string_view, 6> not_slips{
    "cpus", "product", "project", "projects", "ansible_scp_extra_args", "ansible_sftp_extra_args"};

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
        const auto word = k.name.starts_with("ansible_") ? k.name.substr(8) : k.name;
        (word.size() <= 5 ? shorter : longer).emplace_back(k.name);
    }
    const auto found = yaml::nearest(plain, shorter, 1);
    return found.empty() ? yaml::nearest(plain, longer, 2) : found;
}

std::unexpected<Error> wrong(std::string_view file, yaml::Mark mark, std::string_view problem,
                             std::string remedy = {}) {
    return fail("inventory", fmt::format("{}: {}", yaml::place(file, mark), problem), std::move(remedy));
}

// Where a value stands and what it is called.
struct Value {
    std::string_view file;
    const yaml::Node& key;
    const yaml::Node& node;

    std::unexpected<Error> refuse(const Error& error) const {
        return wrong(file, node.mark, fmt::format("{}: {}", key.text(), error.message), error.remedy);
    }
};

template <class T>
Status set(std::optional<Setting<T>>& slot, const Value& value, T read) {
    if (slot) {
        return wrong(value.file, value.key.mark,
                     fmt::format("{} says again what stands at {}:{}", value.key.text(), slot->mark.line,
                                 slot->mark.column),
                     "keep one of the two names");
    }
    slot = Setting<T>{std::move(read), value.key.mark};
    return {};
}

template <class T>
Status set_integer(std::optional<Setting<T>>& slot, const Value& value, std::int64_t min, std::int64_t max,
                   auto make) {
    const auto number = yaml::as_integer(value.node, value.file, value.key.text());
    if (!number) return std::unexpected(number.error());
    if (*number < min || *number > max) {
        return value.refuse(
            {"inventory", {}, fmt::format("{} is out of range", *number), fmt::format("{} to {}", min, max)});
    }
    return set(slot, value, T(make(*number)));
}

Status set_bool(std::optional<Setting<bool>>& slot, const Value& value) {
    const auto read = yaml::as_bool(value.node, value.file, value.key.text());
    if (!read) return std::unexpected(read.error());
    return set(slot, value, *read);
}

Status set_text(std::optional<Setting<std::string>>& slot, const Value& value, auto check) {
    auto text = yaml::as_text(value.node, value.file, value.key.text());
    if (!text) return std::unexpected(text.error());
    if (auto fine = check(*text); !fine) return value.refuse(fine.error());
    return set(slot, value, std::move(*text));
}

Status check_and_unbracket(std::string& address) {
    address = without_brackets(address);
    return check_address(address);
}

Status check_and_expand(std::string& path) {
    auto expanded = expand_path(path);
    if (!expanded) return std::unexpected(expanded.error());
    path = std::move(*expanded);
    return {};
}

Status check_hops(std::string& text) {
    auto hops = read_hops(text);
    if (!hops) return std::unexpected(hops.error());
    text = std::move(*hops);
    return {};
}

// Of the options of ssh that stand there, those about jump hosts; all others are Ansible's alone.
Status set_hops_of_options(std::optional<Setting<std::string>>& slot, const Value& value) {
    if (!value.node.is_scalar()) return {};
    auto hops = hops_among_ssh_options(value.node.text());
    if (!hops) return value.refuse(hops.error());
    return *hops ? set(slot, value, std::move(**hops)) : Status{};
}

void add_new(std::vector<std::string>& list, const std::string& entry) {
    if (std::ranges::find(list, entry) == list.end()) list.push_back(entry);
}

// Why a protect entry would never match anything, or nothing: such an entry protects less than it seems to.
std::optional<std::string_view> useless(std::string_view entry) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; };
    if (trim(entry).empty() || entry == "*") return "nothing, or everything,";
    if (std::ranges::any_of(entry, control)) return "control bytes";
    if (entry.find("{{") != std::string_view::npos) return "a template, which is not evaluated here";
    if (entry.find('*') < entry.size() - 1) return "a * before the end";
    if (entry.front() != '/' && entry.find(' ') != std::string_view::npos) return "a blank";
    return std::nullopt;
}

Status set_list(std::vector<std::string>& list, const Value& value) {
    if (!value.node.is_sequence()) {
        return wrong(
            value.file, value.node.mark,
            fmt::format("{}: found {} where a list belongs", value.key.text(), yaml::describe(value.node)),
            fmt::format("write {}: [name, name]", value.key.text()));
    }
    if (value.node.items().size() > max_entries) {
        return value.refuse({"inventory", {}, fmt::format("more than {} entries", max_entries), {}});
    }
    for (const auto& item : value.node.items()) {
        const auto entry = yaml::as_text(item, value.file, value.key.text());
        if (!entry) return std::unexpected(entry.error());
        if (const auto problem = useless(*entry)) {
            return Value{value.file, value.key, item}.refuse(
                {"inventory",
                 {},
                 fmt::format("found {} in an entry", *problem),
                 "write an executable's name or whole path without arguments, or a unit; it may end in *"});
        }
        add_new(list, *entry);
    }
    return {};
}

Status set_become(std::optional<Setting<bool>>& slot, const Value& value) {
    const auto read = read_become(value.file, value.key, value.node);
    if (!read) return std::unexpected(read.error());
    return *read ? set(slot, value, **read) : Status{};
}

Status read_known(Meaning meaning, const Value& value, Variables& out) {
    switch (meaning) {
        case Meaning::address:
            return set_text(out.address, value, check_and_unbracket);
        case Meaning::port:
            return set_integer(out.port, value, 1, 65'535,
                               [](auto n) { return static_cast<std::uint16_t>(n); });
        case Meaning::user:
            return set_text(out.user, value, check_user);
        case Meaning::identity_file:
            return set_text(out.identity_file, value, check_and_expand);
        case Meaning::proxy_jump:
            return set_text(out.proxy_jump, value, check_hops);
        case Meaning::ssh_options:
            return set_hops_of_options(out.proxy_jump, value);
        case Meaning::gpus:
            return set_integer(out.gpus, value, 0, max_gpus, [](auto n) { return static_cast<int>(n); });
        case Meaning::max_used:
            return set_integer(out.max_used, value, 0, max_used_mib, [](auto n) { return Mebibytes{n}; });
        case Meaning::unified_memory:
            return set_bool(out.unified_memory, value);
        case Meaning::unscheduled:
            return set_bool(out.unscheduled, value);
        case Meaning::priority:
            return set_integer(out.priority, value, -1'000'000, 1'000'000, [](auto n) { return n; });
        case Meaning::protect:
            return set_list(out.protect, value);
        case Meaning::unprotect:
            return set_list(out.unprotect, value);
        case Meaning::become:
            break;
    }
    return set_become(out.become, value);
}

}  // namespace

void apply(const Variables& nearer, Host& host) {
    if (nearer.address) host.address = nearer.address->value;
    if (nearer.port) host.port = nearer.port->value;
    if (nearer.user) host.user = nearer.user->value;
    if (nearer.identity_file) host.identity_file = nearer.identity_file->value;
    if (nearer.proxy_jump) host.proxy_jump = nearer.proxy_jump->value;
    if (nearer.gpus) host.gpus = nearer.gpus->value;
    if (nearer.max_used) host.max_used = nearer.max_used->value;
    if (nearer.unified_memory) host.unified_memory = nearer.unified_memory->value;
    if (nearer.become) host.become = nearer.become->value;
    if (nearer.unscheduled) host.unscheduled = nearer.unscheduled->value;
    for (const auto& entry : nearer.protect) add_new(host.protect, entry);
    for (const auto& entry : nearer.unprotect) add_new(host.unprotect, entry);
}

std::optional<Conflict> conflict(const Variables& a, const Variables& b) {
    std::optional<Conflict> found;
    const auto compare = [&](std::string_view name, const auto& x, const auto& y) {
        if (x && y && x->value != y->value && !found) found = Conflict{name, x->mark, y->mark};
    };
    compare("the address", a.address, b.address);
    compare("the port", a.port, b.port);
    compare("the user", a.user, b.user);
    compare("the identity file", a.identity_file, b.identity_file);
    compare("the jump hosts", a.proxy_jump, b.proxy_jump);
    compare("gpus", a.gpus, b.gpus);
    compare("max_used_mib", a.max_used, b.max_used);
    compare("unified_memory", a.unified_memory, b.unified_memory);
    compare("become", a.become, b.become);
    compare("unscheduled", a.unscheduled, b.unscheduled);
    return found;
}

Status VariableReader::read_one(const yaml::Node& key, const yaml::Node& value, Variables& out) {
    const auto exact = std::ranges::find(known, key.text(), &Known::name);
    if (exact != known.end()) return read_known(exact->meaning, {file_, key, value}, out);
    if (is_about_become(key.text())) return read_known(Meaning::become, {file_, key, value}, out);
    if (foreign_.contains(key.text())) return {};
    if (const auto ours = meant(key.text()); !ours.empty()) {
        return wrong(file_, key.mark, fmt::format("unknown variable {}", printable(key.text())),
                     fmt::format("did you mean {}?", ours));
    }
    foreign_.emplace(key.text());
    if (!key.text().starts_with("ansible_")) unknown_.try_emplace(std::string(key.text()), key.mark);
    return {};
}

Result<Variables> VariableReader::read(const yaml::Node& node) {
    Variables out;
    if (node.is_null()) return out;
    if (!node.is_mapping()) {
        return wrong(file_, node.mark, fmt::format("found a {} where variables belong", yaml::describe(node)),
                     "write a mapping, such as {ansible_host: 10.0.0.1}");
    }
    for (const auto& [key, value] : node.entries()) {
        if (auto fine = read_one(key, value, out); !fine) return std::unexpected(fine.error());
    }
    return out;
}

}  // namespace cleanslate::inventory
