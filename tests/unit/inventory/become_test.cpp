#include "inventory/become.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cleanslate::inventory {
namespace {

// "true", "false", "nothing", or "message | remedy" of a refusal, for a line "NAME: VALUE".
std::string said(const std::string& line) {
    const auto document = yaml::parse(line, "f.yaml").value();
    const auto& [key, value] = document.root().entries()[0];
    EXPECT_TRUE(is_about_become(key.text())) << line;
    const auto read = read_become("f.yaml", key, value);
    if (read) return !*read ? "nothing" : **read ? "true" : "false";
    EXPECT_EQ(read.error().kind, "inventory");
    EXPECT_FALSE(read.error().remedy.empty()) << line;
    return read.error().message + " | " + read.error().remedy;
}

bool is_refused(const std::string& line) { return said(line).starts_with("f.yaml:1:"); }

TEST(Become, IsYesOrNoInAnsiblesWords) {
    for (const char* line : {"become: true", "ansible_become: yes", "ansible_become: True", "become: 'on'",
                             "become: 1", "ansible_sudo: y"})
        EXPECT_EQ(said(line), "true") << line;
    for (const char* line : {"become: false", "ansible_become: no", "ansible_become: False", "become: 'off'",
                             "become: ''", "become: 0"})
        EXPECT_EQ(said(line), "false") << line;
    EXPECT_EQ(said("become:"), "nothing");
    EXPECT_EQ(said("become: maybe"),
              "f.yaml:1:9: become: found neither true nor false | write true (run as root through sudo) or "
              "false");
    for (const char* line : {"become: [true]", "become: {a: b}", "become: !vault x", "become: 2"})
        EXPECT_TRUE(is_refused(line)) << line;
    EXPECT_EQ(said("ansible_become: '{{ root }}'"),
              "f.yaml:1:17: ansible_become: templates are not evaluated here | write the value out");
}

TEST(Become, IsRootAndNobodyElse) {
    EXPECT_EQ(said("ansible_become_user: root"), "nothing");
    EXPECT_EQ(said("ansible_sudo_user: root"), "nothing");
    EXPECT_EQ(
        said("ansible_become_user: postgres"),
        "f.yaml:1:22: ansible_become_user: becoming another user than root does not exist | write root, "
        "which sees and signals everybody's processes; or log in as that user");
    for (const char* line : {"ansible_become_user: ROOT", "become_user: 0", "ansible_become_user: '{{ x }}'"})
        EXPECT_TRUE(is_refused(line)) << line;
}

TEST(Become, IsBySudoAsItIs) {
    EXPECT_EQ(said("ansible_become_method: sudo"), "nothing");
    EXPECT_EQ(said("ansible_become_method: ansible.builtin.sudo"), "nothing");
    EXPECT_EQ(
        said("ansible_become_method: su"),
        "f.yaml:1:24: ansible_become_method: only sudo is used here | write sudo, or log in as root where "
        "a host has none");
    for (const char* line : {"ansible_become_flags: '-H -S'", "ansible_become_exe: /opt/sudo",
                             "ansible_sudo_flags: -n", "become_x: y"})
        EXPECT_NE(said(line).find("sudo is called in one way here | leave it out"), std::string::npos)
            << line;
    EXPECT_EQ(said("ansible_become_flags:"), "nothing");
}

TEST(Become, KnowsPasswordsByTheirNames) {
    for (const char* name : {"ansible_become_password", "ansible_become_pass", "ansible_sudo_pass",
                             "become_pass", "become_password"})
        EXPECT_TRUE(is_become_password(name)) << name;
    for (const char* name : {"ansible_become", "become_user", "ansible_password", "pass", ""})
        EXPECT_FALSE(is_become_password(name)) << name;
}

TEST(Become, IsAboutNothingElse) {
    for (const char* name : {"becomes", "ansible_becoming", "ansible_host", "sudo", "unbecome", ""})
        EXPECT_FALSE(is_about_become(name)) << name;
}

}  // namespace
}  // namespace cleanslate::inventory
