#include "inventory/values.hpp"

#include <algorithm>

#include "inventory/become.hpp"
#include "inventory/jumps.hpp"
#include "inventory/scalars.hpp"
#include "inventory/templates.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::int64_t max_gpus = 1'024;
constexpr std::int64_t max_used_mib = 16 << 20;  // 16 TiB
constexpr std::size_t max_entries = 1'000;       // of one protect list

bool is_plain_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos &&
           (text.size() == 1 || text[0] != '0');
}

// What is ours is written in plain digits: 010 is 8 to Ansible, and 10 to its writer.
std::optional<std::int64_t> our_number(const yaml::Node& node) {
    return is_plain_number(trim(node.text())) ? number_in(node) : std::nullopt;
}

Status check_hops(std::string& text) {
    auto hops = read_hops(text);
    if (!hops) return std::unexpected(hops.error());
    text = std::move(*hops);
    return {};
}

// The value of a mapping that has this key alone, else null.
const yaml::Node* only_value(const yaml::Node& node, std::string_view key) {
    const bool alone = node.is_mapping() && node.entries().size() == 1;
    return alone && node.entries().front().first.text() == key ? &node.entries().front().second : nullptr;
}

bool is_vault(const yaml::Node& node) {
    return node.tag().starts_with("!vault") || only_value(node, "__ansible_vault") != nullptr;
}

void add_new(std::vector<std::string>& list, const std::string& entry) {
    if (std::ranges::find(list, entry) == list.end()) list.push_back(entry);
}

// Why a protect entry would never match anything, or nothing: such an entry protects less than it seems to.
std::optional<std::string_view> useless(std::string_view entry) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; };
    if (trim(entry).empty() || entry == "*") return "nothing, or everything,";
    if (std::ranges::any_of(entry, control)) return "control bytes";
    if (has_template(entry)) return "a template, which is not known here,";
    if (entry.find('*') < entry.size() - 1) return "a * before the end";
    if (entry.front() != '/' && entry.find(' ') != std::string_view::npos) return "a blank";
    return std::nullopt;
}

}  // namespace

const yaml::Node& bare(const yaml::Node& node) {
    const yaml::Node* const text = only_value(node, "__ansible_unsafe");
    return text != nullptr && text->is_scalar() ? *text : node;
}

std::string shown(const yaml::Node& node) {
    if (is_vault(node)) return "the tag !vault";
    if (!node.tag().empty()) return fmt::format("the tag {}", printable(node.tag()));
    if (node.is_null()) return "nothing";
    if (!node.is_scalar()) return fmt::format("a {}", yaml::describe(node));
    return fmt::format("\"{}\"", ellipsize(printable(node.text()), 60));
}

bool is_tagged(const yaml::Node& node) {
    return (!node.tag().empty() && node.tag() != "tag:yaml.org,2002:str") || is_vault(node);
}

bool is_open(const yaml::Node& node) {
    return is_tagged(node) || (node.is_scalar() && has_template(node.text()));
}

Result<std::string> text_of(const Value& value) {
    const yaml::Node& node = value.node;
    if (is_vault(node))
        return value.found(shown(node), "a text",
                           "its content is not known here, nor does ansible-inventory open single values: "
                           "write it out, or encrypt its file as a whole, for -i ansible:PATH with "
                           "ANSIBLE_VAULT_PASSWORD_FILE");
    if (!node.is_scalar() || is_tagged(node)) return value.found(shown(node), "a text", "");
    const Scalar kind = kind_of(node);
    if (kind == Scalar::text || (kind == Scalar::integer && is_plain_number(node.text())))
        return std::string(node.text());
    return value.found(fmt::format("{}, {} to Ansible,", shown(node), describe(kind)), "a text",
                       "put it into quotes");
}

Status set_bool(std::optional<bool>& slot, const Value& value) {
    slot = truth_in(value.node);
    if (slot) return {};
    return value.found(shown(value.node), "true or false", "write true or false");
}

Status set_become(std::optional<bool>& slot, const Value& value) {
    const auto read = read_become(value.file, value.key, value.node);
    if (!read) return std::unexpected(read.error());
    if (*read) slot = **read;
    return {};
}

Status set_list(std::vector<std::string>& list, const Value& value, bool open_too) {
    if (!value.node.is_sequence())
        return value.found(shown(value.node), "a list",
                           fmt::format("write {}: [name, name]", value.key.text()));
    if (value.node.items().size() > max_entries)
        return value.wrong(fmt::format("more than {} entries", max_entries));
    for (const auto& item : value.node.items()) {
        if (is_open(item) && !open_too) continue;
        const Value one{value.file, value.key, bare(item)};
        const auto entry = text_of(one);
        if (!entry) return std::unexpected(entry.error());
        if (const auto problem = useless(*entry))
            return one.wrong(
                fmt::format("found {} in an entry", *problem),
                "write an executable's name or whole path without arguments, or a unit; it may end in *");
        add_new(list, *entry);
    }
    return {};
}

Result<bool> read_paramiko(const Value& value) {
    const auto text = text_of(value);
    if (!text) return std::unexpected(text.error());
    std::string_view name = *text;
    for (const std::string_view prefix : {"ansible.builtin.", "ansible.legacy.", "ansible.netcommon."})
        if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    if (name == "ssh" || name == "smart") return false;
    if (name == "paramiko" || name == "paramiko_ssh") return true;
    if (name == "local")
        return value.wrong("this machine is no host of an inventory",
                           "leave it out (-l 'all,!NAME'), and look at it with --local");
    return value.wrong(fmt::format("found {}: only SSH is spoken here", shown(value.node)),
                       "leave the host out: -l 'all,!NAME'");
}

Status refuse_paramikos(const Value& value) {
    return value.wrong(
        "a variable that paramiko alone follows is not known here",
        "say it with ansible_host, ansible_port, ansible_user, ansible_ssh_private_key_file or "
        "proxy_jump");
}

Status check_executable(const Value& value) {
    const auto text = text_of(value);
    if (!text) return std::unexpected(text.error());
    if (*text == "ssh" || *text == "/usr/bin/ssh" || *text == "/bin/ssh") return {};
    return value.wrong(fmt::format("found {}: no program is run in ssh's place", shown(value.node)),
                       "leave it out, and say with variables or in ssh's configuration what it does");
}

Status set_ours(Variable variable, const Value& value, Host& host) {
    switch (variable) {
        case Variable::gpus:
            return set_number(value, our_number(value.node), 0, max_gpus,
                              [&](auto n) { host.gpus = static_cast<int>(n); });
        case Variable::max_used:
            return set_number(value, our_number(value.node), 0, max_used_mib,
                              [&](auto n) { host.max_used = Mebibytes{n}; });
        case Variable::unified_memory:
            return set_bool(host.unified_memory, value);
        case Variable::unscheduled:
            return set_bool(host.unscheduled, value);
        case Variable::proxy_jump:
            return set_text(host.proxy_jump, value, check_hops);
        default:
            return {};
    }
}

}  // namespace cleanslate::inventory
