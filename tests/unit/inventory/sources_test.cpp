#include "inventory/sources.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "inventory/inventory.hpp"

namespace cleanslate::inventory {
namespace {

namespace fs = std::filesystem;

// Answers with what it is given, and remembers who was asked.
class FakePrograms : public Programs {
  public:
    Result<std::string> ansible_inventory(const std::string& path) override {
        return answered("ansible " + path);
    }
    Result<std::string> script(const std::string& path) override { return answered("script " + path); }

    std::string answer = R"({"r": {"hosts": ["s1"]}, "_meta": {"hostvars": {"s1": {"gpus": 4}}}})";
    std::vector<std::string> asked;

  private:
    Result<std::string> answered(std::string who) {
        asked.push_back(std::move(who));
        return answer;
    }
};

class Folder : public testing::Test {
  protected:
    Folder() : root_(fs::path(testing::TempDir()) / fmt::format("sources_{}", ::getpid())) {
        fs::remove_all(root_);
        fs::create_directories(root_);
    }
    ~Folder() override { fs::remove_all(root_); }

    std::string put(const std::string& path, std::string_view text, bool program = false) {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
        if (program) fs::permissions(root_ / path, fs::perms(0755));
        return (root_ / path).string();
    }
    // The names of the hosts, or why not.
    std::string hosts(const std::vector<std::string>& paths) {
        const auto inventory = Inventory::load(paths, programs_);
        if (!inventory) return inventory.error().message;
        std::string names;
        for (const Host& host : inventory->hosts()) names += (names.empty() ? "" : " ") + host.name;
        return names;
    }

    fs::path root_;
    FakePrograms programs_;
};

TEST_F(Folder, IsReadInTheOrderOfItsNames) {
    put("inv/20.yml", "all: {hosts: {b: }}\n");
    put("inv/10", "all: {hosts: {a: }}\n");
    put("inv/deep/x.json", R"({"all": {"hosts": {"c": null}}})");
    for (const auto* name :
         {".h.yml", "x.ini", "x.cfg", "x.bak", "x.orig", "x.retry", "x~", "x.md", "x.txt", "x.pyc"})
        put(std::string("inv/") + name, "no inventory");
    put("inv/group_vars/all.yml", "gpus: 2\n");
    put("inv/empty.yml", "---\n");
    EXPECT_EQ(hosts({root_ / "inv"}), "a b c");
    put("inv/30.yml", "all: [\n");
    EXPECT_NE(hosts({root_ / "inv"}).find("inv/30.yml:"), std::string::npos) << "no broken part is left out";
}

// They would be read after what they are copies of, and win.
TEST_F(Folder, WithAFileThatAnsibleDoesNotReadAsYamlIsRefused) {
    put("inv/fleet.yml", "all: {hosts: {a: {ansible_host: 10.0.0.1}}}\n");
    for (const auto* name : {"fleet.yml.old", "#fleet.yml#", "hosts.yaml.j2", "fleet.yml.disabled",
                             "fleet.save", "fleet.rpmnew", "fleet.", "deep/fleet.yml.old"}) {
        const auto path = put(std::string("inv/") + name, "all: {hosts: {a: {ansible_host: 10.0.0.9}}}\n");
        const auto refused = Inventory::load({root_ / "inv"}, programs_);
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().message,
                  path + ": has an ending with which Ansible does not read it as YAML");
        EXPECT_EQ(
            refused.error().remedy,
            "rename it, or move it out of the folder; where it has a form that only Ansible reads (INI), "
            "let Ansible read the folder: -i ansible:" +
                fs::path(path).parent_path().string());
        EXPECT_EQ(hosts({path}), "a") << "named by itself it is read: " << name;
        fs::remove(path);
    }
    EXPECT_EQ(hosts({root_ / "inv"}), "a");
    put("inv/list.py.off", "#!/bin/sh\n", true);
    EXPECT_EQ(hosts({root_ / "inv"}), "a s1") << "a program is one by what it is";
}

TEST_F(Folder, SaysWhatItHasThatAnsiblePassesOver) {
    const auto ini = put("inv/hosts.ini", "[all]\nn1\n"), folder = (root_ / "inv").string();
    const auto none = read_sources({folder}, programs_);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message,
              folder + ": no inventory is in this folder but hosts.ini, which Ansible passes over there");
    EXPECT_EQ(none.error().remedy, "let Ansible read that file: -i ansible:" + ini);
    fs::remove(ini);
    const auto deep = put("inv/deep/hosts.ini", "[all]\nn1\n");
    EXPECT_EQ(read_sources({folder}, programs_).error().remedy,
              "let Ansible read that file: -i ansible:" + deep);
    put("inv/fleet.yml", "all: {hosts: {n2: }}");
    const auto mixed = Inventory::load({folder}, programs_);
    ASSERT_TRUE(mixed);
    EXPECT_EQ(mixed->notes(),
              std::vector<std::string>{folder + ": deep/hosts.ini is passed over, as Ansible does"});
}

TEST_F(Folder, WithoutAnInventoryIsNamed) {
    put("inv/group_vars/all.yml", "gpus: 2\n");
    EXPECT_EQ(hosts({root_ / "inv"}), (root_ / "inv").string() + ": no inventory is in this folder");
}

TEST_F(Folder, OfProgramsAsksThem) {
    put("inv/a.yml", "r: {hosts: {y1: }}\n");
    put("inv/b.sh", "#!/bin/sh\n", true);
    EXPECT_EQ(hosts({root_ / "inv"}), "y1 s1");
    EXPECT_EQ(programs_.asked, (std::vector<std::string>{"script " + (root_ / "inv/b.sh").string()}));
}

TEST_F(Folder, AFileThatMayBeRunAndIsATextIsRead) {
    EXPECT_EQ(hosts({put("hosts.yml", "all: {hosts: {a: }}\n", true)}), "a");
    EXPECT_TRUE(programs_.asked.empty());
}

TEST_F(Folder, AProgramThatAnybodyMayChangeIsNotRun) {
    const auto path = put("list.sh", "#!/bin/sh\n", true);
    fs::permissions(path, fs::perms(0777));
    EXPECT_EQ(hosts({path}), path + ": is a program that everybody may write to: it is not run");
    EXPECT_TRUE(programs_.asked.empty());
    if (::geteuid() == 0) fs::permissions(path, fs::perms(0644));
    EXPECT_EQ(hosts({put("other.sh", "#!/bin/sh\n")}),
              (root_ / "other.sh").string() + ": is a program, and may not be run here");
}

TEST_F(Folder, AProgramOfAnotherUserIsNotRun) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, who alone can give a file away";
    const auto path = put("list.sh", "#!/bin/sh\n", true);
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(hosts({path}),
              path + ": is a program of another user's, neither yours nor root's: it is not run");
    EXPECT_TRUE(programs_.asked.empty());
}

// Whoever reads a pipe waits for a writer who may never come.
TEST_F(Folder, APipeInAFolderIsNotWaitedFor) {
    const auto path = put("inv/a.yml", "all: {hosts: {a: }}\n");
    const auto folder = fs::path(path).parent_path();
    ASSERT_EQ(::mkfifo((folder / "b").c_str(), 0600), 0);
    EXPECT_EQ(hosts({folder.string()}), (folder / "b").string() + ": is no file");
}

TEST_F(Folder, AnsibleIsAskedOnDemand) {
    EXPECT_EQ(hosts({"ansible:some/path"}), "s1");
    EXPECT_EQ(programs_.asked, (std::vector<std::string>{"ansible some/path"}));
    EXPECT_EQ(hosts({"ansible:"}), "ansible:: names no inventory");
}

TEST_F(Folder, AnAnswerThatIsNoneSelectsNobody) {
    const auto path = put("list.sh", "#!/bin/sh\n", true);
    for (const auto* answer :
         {"", "null", "[]", "{", "all:\n  hosts:\n", R"({"r": {"hosts": ["a"]}})",
          R"({"_meta": {"hostvars": {}}})", R"({"r": {"hosts": "a"}, "_meta": {"hostvars": {}}})",
          R"({"r": {"hosts": [1]}, "_meta": {"hostvars": {}}})", R"({"r": ["a"], "_meta": {"hostvars": []}})",
          R"({"r": ["a"], "_meta": {"hostvars": {}}} x)"}) {
        programs_.answer = answer;
        EXPECT_FALSE(Inventory::load({path}, programs_)) << answer;
    }
}

TEST_F(Folder, AListingIsGroupsHostsAndTheirVariables) {
    const auto path = put("list.sh", "#!/bin/sh\n", true);
    put("group_vars/s.yml", "ansible_user: s\n");
    programs_.answer =
        R"({"r": {"hosts": ["a"], "vars": {"gpus": 4}, "children": ["s"]}, "s": ["b"], "c": {"gpus": 1},
            "_meta": {"hostvars": {"a": {"ansible_port": "22"}, "gone": {"gpus": 9}}}})";
    const auto inventory = Inventory::load({path}, programs_);
    ASSERT_TRUE(inventory) << inventory.error().message;
    ASSERT_EQ(inventory->hosts().size(), 3U);
    EXPECT_EQ(inventory->hosts()[0].port, 22);
    EXPECT_EQ(inventory->hosts()[1].gpus, 4);
    EXPECT_EQ(inventory->hosts()[1].user, "s");
    EXPECT_EQ(inventory->hosts()[2].name, "c");
    EXPECT_EQ(inventory->hosts()[2].gpus, 1);
    EXPECT_EQ(inventory->groups().at("r").size(), 2U);
}

TEST_F(Folder, VariablesBesideTheInventoryAreRead) {
    const auto path = put("hosts.yml", "r: {vars: {gpus: 1}, hosts: {a: , b: }}\n");
    put("group_vars/all/10.yml", "gpus: 2\nprotect: [x]\n");
    put("group_vars/all/20.yml", "gpus: 3\n");
    put("group_vars/r", "ansible_user: r\n");
    put("group_vars/r.yml", "ansible_user: not_read\n");
    put("host_vars/b.json", R"({"gpus": 5, "protect": ["y"]})");
    put("host_vars/stranger.yml", "gpus: [\n");
    const auto inventory = Inventory::load(path);
    ASSERT_TRUE(inventory) << inventory.error().message;
    EXPECT_EQ(inventory->hosts()[0].gpus, 3);
    EXPECT_EQ(inventory->hosts()[0].user, "r");
    EXPECT_EQ(inventory->hosts()[1].gpus, 5);
    EXPECT_EQ(inventory->hosts()[1].protect, (std::vector<std::string>{"x", "y"}));
}

TEST_F(Folder, AClosedFileIsRefusedWithTheHostsThatNeedIt) {
    const auto path = put("hosts.yml", "r: {hosts: {a: }}\ns: {hosts: {b: }}\n");
    put("group_vars/r/vault.yml", "$ANSIBLE_VAULT;1.1;AES256\n6162\n");
    const auto inventory = Inventory::load(path).value();
    EXPECT_TRUE(inventory.select("b"));
    const auto refused = inventory.select("all");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, "inventory");
    EXPECT_EQ(refused.error().message,
              (root_ / "group_vars/r/vault.yml").string() + ": is closed by Ansible's vault (host a)");
}

TEST_F(Folder, AnInventoryThatAVaultClosesIsSaidToBeOne) {
    const auto path = put("inv/hosts.yml", "$ANSIBLE_VAULT;1.1;AES256\n6162\n");
    for (const auto& named : {path, (root_ / "inv").string()}) {
        const auto refused = Inventory::load({named}, programs_);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().message, path + ": is encrypted by Ansible's vault");
        EXPECT_EQ(refused.error().remedy,
                  "let Ansible open it: -i ansible:PATH, with ANSIBLE_VAULT_PASSWORD_FILE");
    }
}

TEST_F(Folder, ABrokenFileOfVariablesIsAnError) {
    const auto path = put("hosts.yml", "all: {hosts: {a: }}\n");
    put("group_vars/all.yml", "- a list\n");
    EXPECT_NE(hosts({path}).find("group_vars/all.yml:1:1: found a list"), std::string::npos);
    put("group_vars/all.yml", "protcet: [x]\n");
    EXPECT_NE(hosts({path}).find("group_vars/all.yml:1:1: unknown variable protcet"), std::string::npos);
}

TEST_F(Folder, OfSeveralInventoriesTheLaterWins) {
    const auto one = put("a/one.yml", "all: {vars: {gpus: 1}, hosts: {n: {ansible_port: 1}, m: }}\n");
    const auto two = put("b/two.yml", "all: {vars: {gpus: 2}, hosts: {n: {ansible_port: 2}}}\n");
    put("a/group_vars/all.yml", "ansible_user: a\n");
    put("b/group_vars/all.yml", "ansible_user: b\n");
    const auto forth = Inventory::load({one, two}, programs_).value();
    EXPECT_EQ(forth.hosts().size(), 2U);
    EXPECT_EQ(forth.hosts()[0].port, 2);
    EXPECT_EQ(forth.hosts()[0].gpus, 2);
    EXPECT_EQ(forth.hosts()[0].user, "b");
    const auto back = Inventory::load({two, one}, programs_).value();
    EXPECT_EQ(back.hosts()[0].port, 1);
    EXPECT_EQ(back.hosts()[0].gpus, 1);
    EXPECT_EQ(back.hosts()[0].user, "a");
}

}  // namespace
}  // namespace cleanslate::inventory
