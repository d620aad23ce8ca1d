#include "inventory/variables.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "inventory/inventory.hpp"
#include "inventory/settings.hpp"

namespace cleanslate::inventory {
namespace {

Result<Host> read(std::string_view text) {
    const auto document = yaml::parse(text, "f.yaml").value();
    VariableReader reader;
    std::vector<Bound> bound;
    if (auto fine = reader.read(document.root(), "f.yaml", 0, bound); !fine)
        return std::unexpected(fine.error());
    Settings settings;
    for (const Bound& one : bound) settings.put(one, 1);
    Host host;
    host.name = "n1.example.org";
    if (auto fine = settings.apply({"f.yaml"}, host); !fine) return std::unexpected(fine.error());
    return host;
}

Host host_of(std::string_view text) {
    const auto host = read(text);
    EXPECT_TRUE(host) << text << ": " << host.error().message;
    return host.value_or(Host{});
}

Error error_of(std::string_view text) {
    const auto host = read(text);
    return host ? Error{} : host.error();
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
                             "{ansible_ssh_host: 10.0.0.1, ansible_ssh_port: '2222', ansible_ssh_user: root, "
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
        refusal("proxy_jump: a b"),
        "f.yaml:1:13: proxy_jump: found no jump host in \"a b\" | write [user@]host[:port], several with "
        "commas between, or none");
    EXPECT_EQ(host_of("{proxy_jump: a, ansible_ssh_common_args: -J b}").proxy_jump, "a");
    EXPECT_EQ(refusal("proxyjump: a"), "f.yaml:1:1: unknown variable proxyjump | did you mean proxy_jump?");
}

TEST(Variables, UnifiedMemoryIsTrueOrFalseAndNothingThatLooksLikeIt) {
    EXPECT_EQ(host_of("unified_memory: true").unified_memory, true);
    EXPECT_EQ(host_of("unified_memory: false").unified_memory, false) << "a statement, not an absence";
    EXPECT_EQ(host_of("{}").unified_memory, std::nullopt);
    EXPECT_EQ(host_of("unified_memory: yes").unified_memory, true) << "as Ansible writes it";
    EXPECT_EQ(host_of("unified_memory: 'off'").unified_memory, false);
    for (const auto* text : {"maybe", "2", "", "[true]", "!vault x"}) {
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
    EXPECT_EQ(host_of("gpus: '8'").gpus, 8);
    EXPECT_EQ(error_of("gpus: 010").message, "f.yaml:1:7: gpus: found \"010\" where an integer belongs")
        << "8 to Ansible, 10 to its writer";
    EXPECT_EQ(host_of("ansible_port: 022").port, 18) << "as Ansible reads it";
    EXPECT_EQ(error_of("gpus:").message.substr(0, 6), "f.yaml");
}

TEST(Variables, RefuseWhatASshClientCouldTakeForAnOption) {
    for (const auto* text :
         {"host: -oProxyCommand=x", "host: 'a b'", "host: \"a\\nb\"", "user: -l", "user: 'a b'", "host: ''",
          "user: ''", "user: \"a\\tb\"", "host: gpu01:22", "host: root@gpu01", "identity_file: \"a\\nb\""}) {
        EXPECT_EQ(error_of(text).kind, "inventory") << text;
    }
    EXPECT_EQ(
        refusal("ansible_host: '{{ x }}'"),
        "f.yaml:1:15: ansible_host: \"{{ x }}\" is a template, which is not known here | write the value "
        "out (ansible-inventory fills in nothing either); only {{ inventory_hostname }} and "
        "{{ inventory_hostname_short }} are filled in");
}

TEST(Variables, ListsAreLists) {
    EXPECT_EQ(refusal("protect: x"),
              "f.yaml:1:10: protect: found \"x\" where a list belongs | write protect: [name, name]");
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

// ansible-inventory prints them so.
TEST(Variables, ThatAreUnsafeToAnsibleAreTextsWithoutTemplates) {
    const Host host = host_of(R"({"ansible_user": {"__ansible_unsafe": "bob"},
        "ansible_port": {"__ansible_unsafe": "2222"}, "gpus": {"__ansible_unsafe": "4"},
        "become": {"__ansible_unsafe": "yes"}, "proxy_jump": {"__ansible_unsafe": "j"},
        "ansible_ssh_common_args": {"__ansible_unsafe": "-i /k"},
        "protect": [{"__ansible_unsafe": "x"}, "y"]})");
    EXPECT_EQ(host.user, "bob");
    EXPECT_EQ(host.port, 2222);
    EXPECT_EQ(host.gpus, 4);
    EXPECT_EQ(host.become, true);
    EXPECT_EQ(host.proxy_jump, "j");
    EXPECT_EQ(host.identity_file, "/k");
    EXPECT_EQ(host.protect, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(error_of(R"({"ansible_user": {"__ansible_unsafe": "{{ inventory_hostname }}"}})").message,
              "f.yaml:1:39: ansible_user: \"{{ inventory_hostname }}\" is no user name")
        << "to Ansible it is no template";
    EXPECT_EQ(error_of(R"({"ansible_user": {"__ansible_unsafe": "a", "b": "c"}})").message,
              "f.yaml:1:18: ansible_user: found a mapping where a text belongs");
}

TEST(Variables, OfAVaultAreRefusedWhereTheyAreNeeded) {
    const std::string remedy =
        " | its content is not known here, nor does ansible-inventory open single values: write it out, or "
        "encrypt its file as a whole, for -i ansible:PATH with ANSIBLE_VAULT_PASSWORD_FILE";
    EXPECT_EQ(refusal("ansible_user: !vault x"),
              "f.yaml:1:15: ansible_user: found the tag !vault where a text belongs" + remedy);
    EXPECT_EQ(refusal(R"({"ansible_user": {"__ansible_vault": "$ANSIBLE_VAULT;1.1;AES256\n6162\n"}})"),
              "f.yaml:1:18: ansible_user: found the tag !vault where a text belongs" + remedy);
    EXPECT_EQ(error_of(R"({"gpus": {"__ansible_vault": "x"}})").message,
              "f.yaml:1:10: gpus: found the tag !vault where an integer belongs");
    EXPECT_EQ(error_of(R"({"protect": [{"__ansible_vault": "x"}]})").message,
              "f.yaml:1:14: protect: found the tag !vault where a text belongs");
    const auto document = yaml::parse(R"({"gpus": {"__ansible_vault": "x"}})", "f.yaml").value();
    VariableReader reader;
    std::vector<Bound> bound;
    EXPECT_TRUE(reader.read(document.root(), "f.yaml", 0, bound)) << "nobody needs it yet";
}

TEST(Variables, OfParamikoAreRefusedWhereParamikoIsMeant) {
    for (const std::string name : {"host", "port", "user", "private_key_file", "proxy_command"}) {
        const std::string said = "ansible_paramiko_" + name + ": 1";
        const Error error = error_of("{ansible_connection: paramiko, " + said + "}");
        EXPECT_EQ(error.message, "f.yaml:1:" + std::to_string(51 + name.size()) + ": ansible_paramiko_" +
                                     name + ": a variable that paramiko alone follows is not known here");
        EXPECT_NE(error.remedy.find("ansible_host"), std::string::npos);
        EXPECT_FALSE(read("{ansible_connection: ansible.builtin.paramiko_ssh, " + said + "}"));
        EXPECT_TRUE(read("{ansible_connection: ssh, " + said + "}")) << "nobody follows it";
        EXPECT_TRUE(read("{" + said + "}"));
    }
    EXPECT_TRUE(read("{ansible_connection: paramiko, ansible_paramiko_host: }"));
    EXPECT_EQ(refusal("ansible_paramiko_pass: x"), "") << "no slip of one of them";
}

TEST(Variables, NameNoProgramInSshsPlace) {
    EXPECT_EQ(
        refusal("ansible_ssh_executable: /opt/wrapper"),
        "f.yaml:1:25: ansible_ssh_executable: found \"/opt/wrapper\": no program is run in ssh's place | "
        "leave it out, and say with variables or in ssh's configuration what it does");
    for (const auto* text : {"ssh", "/usr/bin/ssh", "", "'{{ inventory_hostname }}'"})
        EXPECT_EQ(read(fmt::format("ansible_ssh_executable: {}", text)).has_value(), text[0] != '\'') << text;
    EXPECT_TRUE(read("{ansible_scp_executable: x, ansible_sftp_executable: x}"));
}

TEST(Variables, OfTwoNamesAnsiblesCounts) {
    EXPECT_EQ(host_of("ansible_user: root\nuser: bob\n").user, "root");
    EXPECT_EQ(host_of("user: bob\nansible_user: root\n").user, "root");
    EXPECT_EQ(host_of("become: true\nansible_become: false\n").become, false);
}

TEST(Variables, NearToCommonWordsIsNoSlip) {
    EXPECT_EQ(host_of("{users: [a], hosts: x, ports: [1], cost: 3}").user, std::nullopt);
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
    VariableReader reader;
    std::vector<Bound> bound;
    const auto document =
        yaml::parse(
            "- {rack: 1, cpus: 64, project: x, ansible_shell_type: sh, ansible_python_interpreter: p}\n"
            "- {rack: 2, vault: !vault x, http_port: 80}\n",
            "f.yaml")
            .value();
    EXPECT_TRUE(reader.read(document.root().items()[0], "f.yaml", 0, bound));
    EXPECT_TRUE(reader.read(document.root().items()[1], "f.yaml", 0, bound));
    std::string names;
    for (const auto& [name, where] : reader.unknown())
        names += name + "@" + std::to_string(where.mark.line) + " ";
    EXPECT_EQ(names, "cpus@1 http_port@2 project@1 rack@1 vault@2 ");
    EXPECT_TRUE(bound.empty());
}

TEST(Variables, BecomeIsRootThroughSudo) {
    EXPECT_EQ(host_of("become: true").become, true);
    EXPECT_EQ(host_of("{ansible_become: yes, ansible_become_user: root, ansible_become_method: sudo}").become,
              true);
    EXPECT_EQ(host_of("become: false").become, false) << "a statement, not an absence";
    EXPECT_EQ(host_of("ansible_become_user: root").become, std::nullopt);
    EXPECT_EQ(host_of("{}").become, std::nullopt);
    EXPECT_EQ(error_of("ansible_become_user: postgres").kind, "inventory");
}

TEST(Variables, PasswordsForSudoArePassedOverWithANoteThatShowsNone) {
    for (const std::string value :
         {"hunter2", "!vault hunter2", "'{{ hunter2 }}'", "", "[hunter2]", "{__ansible_vault: hunter2}"}) {
        const auto inventory =
            Inventory::parse("all: {hosts: {n1: {ansible_become_password: " + value + "}}}", "f.yaml");
        ASSERT_TRUE(inventory) << value << ": " << inventory.error().message;
        EXPECT_TRUE(inventory->select("all")) << value;
        ASSERT_EQ(inventory->notes().size(), 1U) << value;
        EXPECT_EQ(inventory->notes().front(),
                  "f.yaml:1:20: ansible_become_password: a password in an inventory is not used: where sudo "
                  "asks for one, give --ask-become-pass");
    }
}

TEST(Variables, ThatCannotBeUsedKeepNoNameFromBeingShown) {
    const auto inventory = Inventory::parse(
        "all: {hosts: {n1: {ansible_user: '{{ x }}'}, n2: , n3: {ansible_port: no}}}", "f.yaml");
    ASSERT_TRUE(inventory) << inventory.error().message;
    std::vector<std::string> notes;
    EXPECT_EQ(inventory->select_for_names("all", notes)->size(), 3U);
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes.front().find("(host n1); n3 cannot be used either, for other reasons"), std::string::npos)
        << notes.front();
    EXPECT_FALSE(inventory->select("all"));
    notes.clear();
    EXPECT_EQ(inventory->select_for_names("n2", notes)->size(), 1U);
    EXPECT_TRUE(notes.empty());
}

TEST(Variables, UnscheduledIsTrueOrFalse) {
    EXPECT_EQ(host_of("unscheduled: true").unscheduled, true);
    EXPECT_EQ(host_of("unscheduled: false").unscheduled, false) << "a statement, not an absence";
    EXPECT_EQ(host_of("{}").unscheduled, std::nullopt);
    for (const auto* text : {"maybe", "2", "", "[true]"})
        EXPECT_EQ(error_of(fmt::format("unscheduled: {}", text)).message.substr(0, 9), "f.yaml:1:") << text;
    EXPECT_EQ(refusal("unsheduled: true"),
              "f.yaml:1:1: unknown variable unsheduled | did you mean unscheduled?");
}

TEST(Variables, AreAMapping) {
    EXPECT_EQ(refusal("[a]"),
              "f.yaml:1:1: found a list where variables belong | write a mapping, such as {ansible_host: "
              "10.0.0.1}");
    EXPECT_EQ(error_of("8").message, "f.yaml:1:1: found a text where variables belong");
}

}  // namespace
}  // namespace cleanslate::inventory
