// hosts: shows what an inventory and a limit select, and with which settings.

#include <unistd.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.hpp"
#include "controller/commands.hpp"
#include "controller/console.hpp"
#include "controller/exit_status.hpp"
#include "controller/json_writer.hpp"
#include "controller/settings.hpp"
#include "inventory/inventory.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using Names = std::vector<std::string_view>;

struct Answer {
    std::string text;
    std::vector<std::string> notes;  // about the inventory
};

// Group -> its hosts among `selected`, in order; no group without one.
std::map<std::string_view, Names> groups_of(const inventory::Inventory& inventory,
                                            const std::vector<inventory::Host>& selected) {
    std::unordered_map<std::string_view, bool> chosen;
    for (const inventory::Host& host : selected) chosen.emplace(host.name, true);
    std::map<std::string_view, Names> groups;
    for (const auto& [group, members] : inventory.groups())
        for (const std::size_t member : members)
            if (chosen.contains(inventory.hosts()[member].name))
                groups[group].push_back(inventory.hosts()[member].name);
    return groups;
}

std::string_view word_of(inventory::HostKeyTrust trust) {
    if (trust == inventory::HostKeyTrust::off) return "off";
    return trust == inventory::HostKeyTrust::accept_new ? "accept-new" : "strict";
}

void write_ssh(JsonWriter& json, const inventory::SshSettings& ssh) {
    const auto texts = [&json](const std::vector<std::string>& list) {
        json.list(list, [&json](const std::string& entry) { json.text(entry); });
    };
    json.key("more_identity_files");
    texts(ssh.more_identity_files);
    json.key("known_hosts");
    ssh.known_hosts ? texts(*ssh.known_hosts) : json.null();
    json.key("global_known_hosts");
    ssh.global_known_hosts ? texts(*ssh.global_known_hosts) : json.null();
    json.key("host_key_check");
    ssh.host_keys ? json.text(word_of(*ssh.host_keys)) : json.null();
    json.key("connect_timeout_seconds").seconds_or_null(ssh.connect_timeout);
}

void write_host(JsonWriter& json, const inventory::Host& host, const Names& groups) {
    const auto boolean = [&json](std::string_view key, const std::optional<bool>& value) {
        json.key(key);
        value ? json.boolean(*value) : json.null();
    };
    const auto texts = [&json](std::string_view key, const auto& list) {
        json.key(key).list(list, [&json](const auto& entry) { json.text(entry); });
    };
    json.object([&] {
        json.key("name").text(host.name);
        json.key("address").text(host.address);
        json.key("port").number_or_null(host.port);
        json.key("user").text_or_null(host.user);
        json.key("identity_file").text_or_null(host.identity_file);
        json.key("proxy_jump").text_or_null(host.proxy_jump);
        write_ssh(json, host.ssh != nullptr ? *host.ssh : inventory::SshSettings{});
        boolean("become", host.become);
        json.key("gpus").number_or_null(host.gpus);
        json.key("max_used_mib").mib_or_null(host.max_used);
        boolean("unified_memory", host.unified_memory);
        boolean("unscheduled", host.unscheduled);
        texts("protect", host.protect);
        texts("unprotect", host.unprotect);
        texts("groups", groups);
    });
}

std::string hosts_json(const std::vector<inventory::Host>& hosts,
                       const std::map<std::string_view, Names>& groups,
                       const std::vector<std::string>& notes) {
    std::unordered_map<std::string_view, Names> groups_of_host;
    for (const auto& [group, members] : groups)
        for (const std::string_view member : members) groups_of_host[member].push_back(group);
    std::string text;
    JsonWriter json(text);
    json.object([&] {
        json.key("schema").text("cleanslate.hosts/1");
        json.key("hosts").list(
            hosts, [&](const inventory::Host& host) { write_host(json, host, groups_of_host[host.name]); });
        json.key("notes").list(notes, [&](const std::string& note) { json.text(note); });
    });
    return text + "\n";
}

std::string names_text(const Options& options, const std::vector<inventory::Host>& hosts) {
    std::vector<std::string> names;
    for (const auto& host : hosts) names.push_back(host.name);
    if (options.folded) return printable(inventory::fold(names)) + "\n";
    std::string text;
    for (const std::string& name : names) text += printable(name) + "\n";
    return text;
}

Result<Answer> with_groups(const Options& options) {
    const auto inventory = load_inventory(options);
    if (!inventory) return std::unexpected(inventory.error());
    auto notes = inventory->notes();
    auto hosts = options.groups ? inventory->select_for_names(limit_of(options), notes)
                                : inventory->select(limit_of(options));
    if (!hosts) return std::unexpected(hosts.error());
    keep_only(options, *hosts);
    if (auto share = take_share(*hosts, options); !share) return std::unexpected(share.error());
    const auto groups = groups_of(*inventory, *hosts);
    if (!options.groups) return Answer{hosts_json(*hosts, groups, notes), notes};
    std::string text;
    for (const auto& [group, members] : groups) text += printable(group) + "\n";
    return Answer{std::move(text), std::move(notes)};
}

Result<Answer> answer(const Options& options) {
    const bool as_json = options.format == Format::json;
    if ((as_json || options.groups) && !options.local) return with_groups(options);
    const auto selection = select_hosts(options, as_json ? Wanted::hosts : Wanted::names);
    if (!selection) return std::unexpected(selection.error());
    if (options.groups) return Answer{};  // this machine is in none
    return Answer{
        as_json ? hosts_json(selection->hosts, {}, selection->notes) : names_text(options, selection->hosts),
        selection->notes};
}

}  // namespace

int hosts_command(const Context& context) {
    const auto said = answer(context.options);
    if (!said) {
        print_error(said.error());
        return exit_usage;
    }
    Console console(STDERR_FILENO);
    for (const std::string& note : said->notes) console.write("note: " + printable(note) + "\n");
    context.out.write(said->text);
    return finish_output(context);
}

}  // namespace cleanslate::controller
