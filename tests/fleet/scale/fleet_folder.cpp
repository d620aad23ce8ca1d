#include "tests/fleet/scale/fleet_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

void make_key(const std::string& file) {
    ::unlink(file.c_str());
    errno = 0;
    need(run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "simulated fleet", "-f", file}) ==
             0,
         "ssh-keygen failed (package openssh-client) for " + file);
}

int port_of(const FleetState& fleet, std::size_t host, int closed_port) {
    return fleet.kind(host) == Kind::refused ? closed_port : fleet.options.port;
}

std::string inventory(FleetState& fleet, int closed_port) {
    const auto& o = fleet.options;
    auto text = fmt::format(
        "all:\n  vars:\n    ansible_user: root\n    ansible_port: {}\n"
        "    ansible_ssh_private_key_file: {}/id\n    gpus: {}\n  hosts:\n",
        o.port, o.folder, fleet.host(0).host().gpus.size());
    for (std::size_t i = 0; i < fleet.size(); ++i) {
        const bool other = port_of(fleet, i, closed_port) != o.port;
        text += fmt::format("    {}: {{ansible_host: {}{}", host_name(i, fleet.size()), dotted(address_of(i)),
                            other ? fmt::format(", ansible_port: {}", closed_port) : "");
        for (const auto& [key, value] : fleet.host(i).host().inventory)
            if (value != "-") text += fmt::format(", {}: {}", key, value);
        text += "}\n";
    }
    return text;
}

std::string options_for_all(const FleetOptions& o) {
    return fmt::format(
        "Host *\n    User root\n    Port {0}\n    IdentityFile {1}/id\n    IdentitiesOnly yes\n"
        "    UserKnownHostsFile {1}/known_hosts\n    GlobalKnownHostsFile /dev/null\n"
        "    StrictHostKeyChecking yes\n    BatchMode yes\n    LogLevel ERROR\n",
        o.port, o.folder);
}

std::string ssh_config(const FleetState& fleet, int closed_port) {
    std::string text;
    for (std::size_t i = 0; i < fleet.size(); ++i) {
        text += fmt::format("Host {}\n    HostName {}\n", host_name(i, fleet.size()), dotted(address_of(i)));
        if (fleet.kind(i) == Kind::refused) text += fmt::format("    Port {}\n", closed_port);
    }
    return text + options_for_all(fleet.options);
}

std::string known_hosts(const std::string& key) {
    const auto words = split(read_file(key + ".pub").value_or(""), ' ');
    need(words.size() >= 2, "cannot read " + key + ".pub");
    return "* " + words[0] + " " + words[1] + "\n";
}

}  // namespace

std::string host_key_file(const std::string& folder) { return folder + "/host_key"; }

void write_folder(FleetState& fleet, int closed_port) {
    const auto& folder = fleet.options.folder;
    make_key(folder + "/id");
    make_key(host_key_file(folder));
    std::string kinds, addresses;
    for (std::size_t i = 0; i < fleet.size(); ++i) {
        addresses += dotted(address_of(i)) + "\n";
        if (fleet.kind(i) != Kind::healthy)
            kinds += fmt::format("{} {}\n", host_name(i, fleet.size()), name_of(fleet.kind(i)));
    }
    write_file(folder + "/known_hosts", known_hosts(host_key_file(folder)));
    write_file(folder + "/inventory.yaml", inventory(fleet, closed_port));
    write_file(folder + "/ssh_config", ssh_config(fleet, closed_port));
    write_file(folder + "/ssh_config_addresses", options_for_all(fleet.options));
    write_file(folder + "/addresses", addresses);
    write_file(folder + "/kinds.txt", kinds);
    write_file(folder + "/port", fmt::format("{}\n", fleet.options.port));
}

}  // namespace cleanslate::simulated
