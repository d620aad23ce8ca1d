#include "inventory/variables.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace cleanslate::inventory {
namespace {

Host host_of(std::string_view text) {
    VariableReader reader("f.yaml");
    Host host;
    apply(reader.read(yaml::parse(text, "f.yaml").value().root()).value(), host);
    return host;
}

Error error_of(std::string_view text) {
    VariableReader reader("f.yaml");
    const auto read = reader.read(yaml::parse(text, "f.yaml").value().root());
    return read ? Error{} : read.error();
}

std::string refusal(std::string_view text) {
    const Error error = error_of(text);
    return error.remedy.empty() ? error.message : error.message + " | " + error.remedy;
}

TEST(Variables, AreAnsiblesOrPlain) {
    ASSERT_EQ(setenv("HOME", "/home/op", 1), 0);
    for (const auto* text : {"{ansible_host: 10.0.0.1, ansible_port: 2222, ansible_user: root, "
                             "ansible_ssh_private_key_file: ~/k}",
                             "{host: 10.0.0.1, port: 2222, user: root, identity_file: ~/k}",
                             "{ansible_ssh_host: 10.0.0.1, ansible_ssh_port: 2222, ansible_ssh_user: root, "
                             "ansible_private_key_file: ~/k}"}) {
        const Host host = host_of(text);
        EXPECT_EQ(host.address, "10.0.0.1");
        EXPECT_EQ(host.port, 2222);
        EXPECT_EQ(host.user, "root");
        EXPECT_EQ(host.identity_file, "/home/op/k");
    }
    EXPECT_EQ(host_of("{host: '[::1]'}").address, "::1");
}

TEST(Variables, AreOursToo) {
    const Host host =
        host_of("{gpus: 0, max_used_mib: 200, protect: [mydaemon, x, mydaemon], unprotect: [collectd]}");
    EXPECT_EQ(host.gpus, 0) << "a statement, not an absence";
    EXPECT_EQ(host.max_used, Mebibytes{200});
    EXPECT_EQ(host.protect, (std::vector<std::string>{"mydaemon", "x"}));
    EXPECT_EQ(host.unprotect, (std::vector<std::string>{"collectd"}));
    EXPECT_EQ(host_of("{}").gpus, std::nullopt);
    EXPECT_EQ(host_of("").gpus, std::nullopt);
}

TEST(Variables, JumpHostsAreOursOrAmongAnsiblesSshOptions) {
    EXPECT_EQ(host_of("proxy_jump: 'root@a:2222,b'").proxy_jump, "root@a:2222,b");
    EXPECT_EQ(host_of("proxy_jump: none").proxy_jump, "none") << "a statement, not an absence";
    EXPECT_EQ(host_of("ansible_ssh_common_args: '-o ProxyJump=a -o ControlMaster=auto'").proxy_jump, "a");
    EXPECT_EQ(host_of("ansible_ssh_extra_args: -J a").proxy_jump, "a");
    EXPECT_EQ(
        host_of("{ansible_ssh_common_args: -C, ansible_ssh_extra_args: '-o ProxyCommand=\"nc {{ x }}\"', "
                "ansible_scp_extra_args: -J a}")
            .proxy_jump,
        std::nullopt);
    EXPECT_EQ(
        refusal("proxy_jump: a b"),
        "f.yaml:1:13: proxy_jump: found no jump host in \"a b\" | write [user@]host[:port], several with "
        "commas between, or none");
    EXPECT_EQ(
        refusal("{proxy_jump: a, ansible_ssh_common_args: -J b}"),
        "f.yaml:1:17: ansible_ssh_common_args says again what stands at 1:2 | keep one of the two names");
    EXPECT_EQ(refusal("proxyjump: a"), "f.yaml:1:1: unknown variable proxyjump | did you mean proxy_jump?");
}

TEST(Variables, UnifiedMemoryIsTrueOrFalseAndNothingThatLooksLikeIt) {
    EXPECT_EQ(host_of("unified_memory: true").unified_memory, true);
    EXPECT_EQ(host_of("unified_memory: false").unified_memory, false) << "a statement, not an absence";
    EXPECT_EQ(host_of("{}").unified_memory, std::nullopt);
    for (const auto* text : {"yes", "1", "'true'", "on", "", "[true]", "!vault x"}) {
        EXPECT_EQ(error_of(fmt::format("unified_memory: {}", text)).message.substr(0, 9), "f.yaml:1:")
            << text;
    }
    EXPECT_EQ(refusal("unified-memory: true"),
              "f.yaml:1:1: unknown variable unified-memory | did you mean unified_memory?");
}

TEST(Variables, AreWithinTheirRanges) {
    EXPECT_EQ(refusal("port: 0"), "f.yaml:1:7: port: 0 is out of range | 1 to 65535");
    EXPECT_EQ(refusal("port: 65536"), "f.yaml:1:7: port: 65536 is out of range | 1 to 65535");
    EXPECT_EQ(refusal("gpus: -1"), "f.yaml:1:7: gpus: -1 is out of range | 0 to 1024");
    EXPECT_EQ(refusal("max_used_mib: 16777217"),
              "f.yaml:1:15: max_used_mib: 16777217 is out of range | 0 to 16777216");
    EXPECT_EQ(error_of("max_used_mib: 100MiB").message,
              "f.yaml:1:15: max_used_mib: found \"100MiB\" where an integer belongs");
    EXPECT_EQ(error_of("gpus: '8'").message,
              "f.yaml:1:7: gpus: found the quoted text \"8\" where an integer belongs");
    EXPECT_EQ(error_of("gpus:").message.substr(0, 6), "f.yaml");
}

TEST(Variables, RefuseWhatASshClientCouldTakeForAnOption) {
    for (const auto* text :
         {"host: -oProxyCommand=x", "host: 'a b'", "host: \"a\\nb\"", "user: -l", "user: 'a b'", "host: ''",
          "user: ''", "user: \"a\\tb\"", "host: gpu01:22", "host: root@gpu01", "identity_file: \"a\\nb\""}) {
        EXPECT_EQ(error_of(text).kind, "inventory") << text;
    }
    EXPECT_EQ(refusal("ansible_host: '{{ x }}'"),
              "f.yaml:1:15: ansible_host: \"{{ x }}\" is no host name or address | templates are not "
              "evaluated here: write "
              "the value out");
}

TEST(Variables, ListsAreLists) {
    EXPECT_EQ(refusal("protect: x"),
              "f.yaml:1:10: protect: found text where a list belongs | write protect: [name, name]");
    EXPECT_EQ(error_of("protect: [x, '']").message,
              "f.yaml:1:14: protect: found nothing, or everything, in an entry");
    EXPECT_EQ(error_of("protect: [[x]]").message, "f.yaml:1:11: protect: found a list where a text belongs");
    for (const auto* entry : {"'*'", "' '", "\"a\\tb\"", "'{{ x }}'", "a*b", "'*a'", "nv-hostengine -n"}) {
        EXPECT_NE(error_of(fmt::format("unprotect: [{}]", entry)).remedy.find("may end in *"),
                  std::string::npos)
            << entry;
    }
    EXPECT_EQ(host_of("protect: [containerd-shim*, /opt/my app/x, foo.service]").protect.size(), 3U);
    std::string many = "protect: [a";
    for (int i = 0; i < 1000; ++i) many += ",a";
    EXPECT_EQ(error_of(many + "]").message, "f.yaml:1:10: protect: more than 1000 entries");
}

TEST(Variables, OneThingHasOneName) {
    EXPECT_EQ(refusal("ansible_user: root\nuser: bob\n"),
              "f.yaml:2:1: user says again what stands at 1:1 | keep one of the two names");
}

TEST(Variables, ASlipOfOursIsAnError) {
    EXPECT_EQ(refusal("protcet: [x]"), "f.yaml:1:1: unknown variable protcet | did you mean protect?");
    EXPECT_EQ(refusal("gpu: 8"), "f.yaml:1:1: unknown variable gpu | did you mean gpus?");
    EXPECT_EQ(refusal("GPUs: 8"), "f.yaml:1:1: unknown variable GPUs | did you mean gpus?");
    EXPECT_EQ(refusal("identity-file: x"),
              "f.yaml:1:1: unknown variable identity-file | did you mean identity_file?");
    EXPECT_EQ(refusal("ansible_prot: 22"),
              "f.yaml:1:1: unknown variable ansible_prot | did you mean ansible_port?");
    EXPECT_EQ(refusal("max_used: 100MiB"),
              "f.yaml:1:1: unknown variable max_used | did you mean max_used_mib?");
    EXPECT_EQ(refusal("unprotekt: [x]"), "f.yaml:1:1: unknown variable unprotekt | did you mean unprotect?");
}

TEST(Variables, OthersAreRememberedOnceAndAnsiblesAreNot) {
    VariableReader reader("f.yaml");
    const auto document =
        yaml::parse(
            "- {rack: 1, cpus: 64, project: x, ansible_connection: ssh, ansible_python_interpreter: p}\n"
            "- {rack: 2, vault: !vault x, http_port: 80}\n",
            "f.yaml")
            .value();
    EXPECT_TRUE(reader.read(document.root().items()[0]));
    EXPECT_TRUE(reader.read(document.root().items()[1]));
    std::string names;
    for (const auto& [name, mark] : reader.unknown()) names += name + "@" + std::to_string(mark.line) + " ";
    EXPECT_EQ(names, "cpus@1 http_port@2 project@1 rack@1 vault@2 ");
}

TEST(Variables, BecomeIsRootThroughSudo) {
    EXPECT_EQ(host_of("become: true").become, true);
    EXPECT_EQ(host_of("{ansible_become: yes, ansible_become_user: root, ansible_become_method: sudo}").become,
              true);
    EXPECT_EQ(host_of("become: false").become, false) << "a statement, not an absence";
    EXPECT_EQ(host_of("ansible_become_user: root").become, std::nullopt);
    EXPECT_EQ(host_of("{}").become, std::nullopt);
    EXPECT_EQ(refusal("become: true\nansible_become: true\n"),
              "f.yaml:2:1: ansible_become says again what stands at 1:1 | keep one of the two names");
    EXPECT_EQ(error_of("ansible_become_user: postgres").kind, "inventory");
    EXPECT_EQ(error_of("ansible_sudo_pass: secret").kind, "inventory");
    EXPECT_EQ(refusal("becom: true"), "f.yaml:1:1: unknown variable becom | did you mean become?");
}

TEST(Variables, UnscheduledIsTrueOrFalse) {
    EXPECT_EQ(host_of("unscheduled: true").unscheduled, true);
    EXPECT_EQ(host_of("unscheduled: false").unscheduled, false) << "a statement, not an absence";
    EXPECT_EQ(host_of("{}").unscheduled, std::nullopt);
    for (const auto* text : {"yes", "1", "'true'", "", "[true]"})
        EXPECT_EQ(error_of(fmt::format("unscheduled: {}", text)).message.substr(0, 9), "f.yaml:1:") << text;
    EXPECT_EQ(refusal("unsheduled: true"),
              "f.yaml:1:1: unknown variable unsheduled | did you mean unscheduled?");
}

TEST(Variables, NearerSettingsWinOverInheritedOnes) {
    VariableReader reader("f.yaml");
    const auto document =
        yaml::parse("- {become: true, unscheduled: true}\n- {become: no}\n", "f.yaml").value();
    Host host;
    for (const yaml::Node& item : document.root().items()) apply(reader.read(item).value(), host);
    EXPECT_EQ(host.become, false);
    EXPECT_EQ(host.unscheduled, true);
}

TEST(Variables, AreAMapping) {
    EXPECT_EQ(refusal("[a]"),
              "f.yaml:1:1: found a list where variables belong | write a mapping, such as {ansible_host: "
              "10.0.0.1}");
    EXPECT_EQ(error_of("8").message, "f.yaml:1:1: found a text where variables belong");
}

TEST(Conflict, IsADifferenceNotARepetition) {
    VariableReader reader("f.yaml");
    const auto document =
        yaml::parse("- {port: 1, user: a}\n- {port: 1}\n- {port: 2}\n- {gpus: 8}\n", "f.yaml").value();
    std::vector<Variables> all;
    for (const yaml::Node& item : document.root().items()) all.push_back(reader.read(item).value());
    EXPECT_FALSE(conflict(all[0], all[1]));
    EXPECT_FALSE(conflict(all[0], all[3]));
    ASSERT_TRUE(conflict(all[0], all[2]));
    EXPECT_EQ(conflict(all[0], all[2])->name, "the port");
    EXPECT_EQ(conflict(all[0], all[2])->second.line, 3);
}

TEST(Conflict, IsAlsoAboutWhatIsTrueOrFalse) {
    for (const std::string name : {"unified_memory", "become", "unscheduled"}) {
        VariableReader reader("f.yaml");
        const auto document =
            yaml::parse("- {" + name + ": true}\n- {" + name + ": false}\n", "f.yaml").value();
        const auto a = reader.read(document.root().items()[0]).value(),
                   b = reader.read(document.root().items()[1]).value();
        EXPECT_FALSE(conflict(a, a));
        ASSERT_TRUE(conflict(a, b));
        EXPECT_EQ(conflict(a, b)->name, name);
    }
}

}  // namespace
}  // namespace cleanslate::inventory
