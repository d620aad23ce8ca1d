#include "tests/fleet/plan.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace cleanslate::simulated {

namespace {

std::string host_key(const Fleet& fleet, const Member& member) {
    return fleet.folder + "/hosts/" + member.host.name + "/host_key";
}

void make_key(const std::string& file, const std::string& comment) {
    errno = 0;
    need(run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", file}) == 0,
         "ssh-keygen failed (package openssh-client) for " + file);
}

bool binds(const Fd& socket, const std::string& address, int port) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, address.c_str(), &place.sin_addr);
    return ::bind(socket.get(), reinterpret_cast<sockaddr*>(&place), sizeof place) == 0;
}

std::string inventory(const Fleet& fleet) {
    std::string text =
        "all:\n  vars:\n    ansible_user: root\n    ansible_port: " + std::to_string(fleet.port) +
        "\n    ansible_ssh_private_key_file: " + fleet.folder + "/key\n  hosts:\n";
    for (const auto& member : fleet.members) {
        std::map<std::string, std::string> variables{{"gpus", std::to_string(member.host.gpus.size())}};
        for (const auto& [key, value] : member.host.inventory) variables[key] = value;
        text += "    " + member.host.name + ":\n      ansible_host: " + member.address + "\n";
        for (const auto& [key, value] : variables)
            if (value != "-") text += "      " + key + ": " + value + "\n";
    }
    return text;
}

std::string ssh_config(const Fleet& fleet) {
    std::string text;
    for (const auto& member : fleet.members)
        text += "Host " + member.host.name + "\n    HostName " + member.address + "\n";
    return text + "Host *\n    User root\n    Port " + std::to_string(fleet.port) + "\n    IdentityFile " +
           fleet.folder + "/key\n    IdentitiesOnly yes\n    UserKnownHostsFile " + fleet.folder +
           "/known_hosts\n    GlobalKnownHostsFile /dev/null\n    BatchMode yes\n    LogLevel ERROR\n";
}

}  // namespace

void make_keys(const Fleet& fleet) {
    make_key(fleet.folder + "/key", "simulated fleet");
    for (const auto& member : fleet.members)
        if (!member.host.unreachable) make_key(host_key(fleet, member), member.host.name);
}

void write_fleet_files(const Fleet& fleet) {
    std::string known;
    std::string table;
    for (const auto& member : fleet.members) {
        const std::string port = std::to_string(fleet.port);
        table +=
            member.host.name + "\t" + member.address + "\t" + port + "\t" +
            (member.init < 0 ? "-\t-" : std::to_string(member.init) + "\t" + std::to_string(member.start)) +
            "\n";
        if (member.host.unreachable) continue;
        const auto words = split(read_file(host_key(fleet, member) + ".pub").value_or(""), ' ');
        need(words.size() >= 2, "no host key of " + member.host.name);
        known += "[" + member.address + "]:" + port + " " + words[0] + " " + words[1] + "\n";
    }
    write_file(fleet.folder + "/known_hosts", known);
    write_file(fleet.folder + "/inventory.yaml", inventory(fleet));
    write_file(fleet.folder + "/ssh_config", ssh_config(fleet));
    write_file(fleet.folder + "/hosts.tsv", table);
}

Fleet read_fleet(const std::string& folder) {
    Fleet fleet;
    fleet.folder = folder;
    errno = 0;
    const auto table = read_file(folder + "/hosts.tsv");
    need(table.has_value(), folder + " holds no fleet");
    for (const auto& line : split(*table, '\n')) {
        const auto fields = split(line, '\t');
        need(fields.size() == 5, "malformed " + folder + "/hosts.tsv");
        const std::string file = folder + "/hosts/" + fields[0] + "/description";
        auto host = parse_host(read_file(file).value_or(""), file, fields[0]);
        if (!host) die(host.error().message);
        Member member{std::move(*host), fields[1], -1, 0};
        fleet.port = static_cast<int>(to_number(fields[2]).value_or(0));
        if (const auto pid = to_number(fields[3])) member.init = static_cast<pid_t>(*pid);
        member.start = static_cast<std::uint64_t>(to_number(fields[4]).value_or(0));
        fleet.members.push_back(std::move(member));
    }
    return fleet;
}

std::optional<Keeper> read_keeper(const std::string& folder) {
    const auto words = split(trim(read_file(folder + "/keeper").value_or("")), ' ');
    if (words.size() != 2) return std::nullopt;
    const auto pid = to_number(words[0]);
    const auto start = to_number(words[1]);
    if (!pid || !start) return std::nullopt;
    return Keeper{static_cast<pid_t>(*pid), static_cast<std::uint64_t>(*start)};
}

Fd choose_network(Fleet& fleet) {
    need(fleet.members.size() < 254, "a fleet has at most 253 hosts");
    for (int port = fleet.port; port < fleet.port + 100; ++port) {
        for (int net = 1; net < 255; ++net) {
            const std::string prefix = "127.0." + std::to_string(net) + ".";
            Fd mark(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            need(static_cast<bool>(mark), "socket");
            if (!binds(mark, prefix + "254", port)) continue;
            fleet.port = port;
            for (std::size_t i = 0; i < fleet.members.size(); ++i)
                fleet.members[i].address = prefix + std::to_string(i + 1);
            return mark;
        }
    }
    die("no free network 127.0.N and port");
}

}  // namespace cleanslate::simulated
