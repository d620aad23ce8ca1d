#include "playbooks/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cleanslate::playbooks {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string uuid = "12345678-1234-abcd-1234-123456789abc";

// The name as it is kept, or "what -> remedy".
std::string judged(NameCheck check, std::string name) {
    const auto wrong = check(name);
    if (!wrong) return name;
    EXPECT_FALSE(wrong->remedy.empty()) << wrong->what;
    return wrong->what + " -> " + wrong->remedy;
}

void are_refused(NameCheck check, const std::vector<std::string>& names) {
    for (std::string name : names) EXPECT_TRUE(check(name)) << name;
}

void are_kept(NameCheck check, const std::vector<std::string>& names) {
    for (const std::string& name : names) EXPECT_EQ(judged(check, name), name);
}

TEST(GpuName, IsAnIndexOrAWholeUuid) {
    are_kept(check_gpu, {"0", "7", "1023", "GPU-" + uuid});
    EXPECT_EQ(judged(check_gpu, "GPU-12345678-1234-ABCD-1234-123456789ABC"), "GPU-" + uuid);
    are_refused(check_gpu,
                {"", " ", "1024", "03", "-1", "+1", "0-3", "0x1", "1.5", "all", "gpu0", "GPU-12345678",
                 "GPU-", uuid, "gpu-" + uuid, "GPU-" + uuid + "0", "00000000:18:00.0", "4294967296"});
    EXPECT_EQ(judged(check_gpu, "0-3").substr(0, 46), "`0-3` is neither the index nor the uuid of a G");
}

TEST(GpuName, IsNoMigInstance) {
    EXPECT_THAT(judged(check_gpu, "MIG-" + uuid),
                AllOf(HasSubstr("by the whole GPU"), HasSubstr("name the GPU that it is a part of")));
}

TEST(AccountName, IsANameOrAUid) {
    are_kept(check_account, {"alice", "a.b-c_d", "svc$", "DOM\\alice", "alice@example.org", "_apt", "0",
                             "1000", "4294967294", "andr\xc3\xa9"});
    are_refused(check_account,
                {"", "-alice", "a b", "a:b", "a/b", "a*", "a?", "[ab]", "a'b", "a\tb", "a\nb", "a\x1b[2J",
                 "4294967295", "01000", "\xff\xfe", "a\xe2\x80\xae", std::string(256, 'a'), "${user}"});
    EXPECT_EQ(judged(check_account, "4294967295").substr(0, 24), "`4294967295` is no uid -");
    EXPECT_THAT(judged(check_account, "a*"), HasSubstr("getent passwd"));
    EXPECT_THAT(judged(check_account, ""), HasSubstr("an empty entry"));
}

TEST(SlurmJobName, IsAnIdInDigits) {
    are_kept(check_slurm_job, {"none", "any", "1", "4242"});
    are_refused(check_slurm_job, {"", "0", "None", "42_7", "42.batch", "042", "-1", "job_42", "*"});
    EXPECT_THAT(judged(check_slurm_job, "42_7"), HasSubstr("squeue"));
}

TEST(PodName, IsItsUid) {
    are_kept(check_pod, {"none", "any", uuid, "0123456789abcdef0123456789abcdef"});
    EXPECT_EQ(judged(check_pod, "12345678-1234-ABCD-1234-123456789ABC"), uuid);
    are_refused(check_pod, {"", "web-0", "12345678", "pod" + uuid, uuid + "0", "*"});
    EXPECT_THAT(judged(check_pod, "web-0"), HasSubstr("kubectl get pod NAME"));
}

TEST(ContainerName, IsTheBeginningOfItsId) {
    are_kept(check_container, {"none", "any", "0123456789ab", std::string(64, 'a')});
    are_refused(check_container,
                {"", "0123456789a", std::string(65, 'a'), "vllm-server", "0123456789AB", "0123456789ab*"});
    EXPECT_THAT(judged(check_container, "vllm-server"), HasSubstr("docker ps"));
}

TEST(UnitName, HasItsEndingOrAStar) {
    are_kept(check_unit, {"none", "any", "ollama.service", "run-u12.scope", "vllm@0.service", "vllm@*", "a*",
                          "foo\\x2dbar.service", "docker-*"});
    are_refused(check_unit, {"", "*", ".service", "a b.service", "a*.service", "a/b.service", "a.timer",
                             "-a.service", "a;b.service", "a**", "system.slice"});
    EXPECT_EQ(judged(check_unit, "ollama"),
              "`ollama` is no name of a unit -> did you mean `ollama.service`? none, any and `ollama*` are "
              "right, too");
    EXPECT_EQ(judged(check_unit, "*"), "`*` would be any unit -> write `any`");
}

TEST(UnitName, IsNoLoginSession) {
    for (const char* name : {"session-3.scope", "session-*", "session-c1.scope"})
        EXPECT_THAT(judged(check_unit, name), HasSubstr("is a login session")) << name;
    are_kept(check_unit, {"session-cleaner.service"});
}

TEST(DaemonName, IsAWholeService) {
    are_kept(check_daemon, {"nvidia-persistenced.service", "dcgm@1.service"});
    are_refused(check_daemon, {"", "nvidia-*", "nvidia-persistenced", "a.scope", "any", "a b.service",
                               "a\\x2db.service", "$(reboot).service", "--now.service"});
    EXPECT_THAT(judged(check_daemon, "nvidia-dcgm"), HasSubstr("did you mean `nvidia-dcgm.service`?"));
}

TEST(DaemonName, IsNotTheWayIn) {
    for (const char* name : {"ssh.service", "sshd.service", "dropbear.service"})
        EXPECT_THAT(judged(check_daemon, name), HasSubstr("is the way in")) << name;
}

TEST(ShmName, BeginsWithWhatIsMeant) {
    are_kept(check_shm_name, {"nccl-*", "torch_*", "psm_*", "sem.loky-*", "abc", "abc*", "abc?", "vllm_1.2"});
    for (const char* name : {"*", "?*", "a*", "ab*", "ab-cd*", ".abc*", "_abc", "ab", "*nccl"})
        EXPECT_THAT(judged(check_shm_name, name), HasSubstr("would match too much")) << name;
}

TEST(ShmName, HasOnlyHarmlessCharacters) {
    EXPECT_THAT(judged(check_shm_name, "../etc/passwd"), HasSubstr("has the character '/'"));
    EXPECT_THAT(judged(check_shm_name, "nccl-[0-9]"), HasSubstr("has the character '['"));
    are_refused(check_shm_name, {"", "nccl-'", "nccl-\"", "nccl $(x)", "nccl;x", "nccl\\*", "nccl{a,b}",
                                 "nccl\n*", std::string("nccl\0", 5), "nccl\xc3\xa9", std::string(256, 'a')});
}

}  // namespace
}  // namespace cleanslate::playbooks
