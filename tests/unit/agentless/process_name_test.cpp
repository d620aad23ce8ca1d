#include "agentless/process_name.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless {
namespace {

Process running(std::string exe, std::vector<std::string> argv) {
    Process process;
    process.exe = std::move(exe);
    process.argv = std::move(argv);
    return process;
}

std::string script(std::vector<std::string> argv) {
    argv.insert(argv.begin(), "python3");
    return std::string(python_script(running("/usr/bin/python3.11", std::move(argv))).value_or("none"));
}

TEST(ProcessName, IsTheExecutablesBasename) {
    auto process = running("/usr/bin/python3.11", {});
    process.comm = "VLLM::Worker_TP";
    EXPECT_EQ(name_of(process), "python3.11");
}

TEST(ProcessName, IsCommWhereTheExecutableCouldNotBeRead) {
    Process process;
    process.comm = "nv-hostengine";
    EXPECT_EQ(name_of(process), "nv-hostengine");
}

TEST(ProcessName, BasenamesHaveNoSlash) {
    EXPECT_EQ(base_name("/usr/bin/sleep"), "sleep");
    EXPECT_EQ(base_name("sleep"), "sleep");
    EXPECT_EQ(base_name("/usr/bin/"), "");
    EXPECT_EQ(base_name(""), "");
}

TEST(ProcessName, AnEntryIsAWholeNameOrAPrefixWithAStar) {
    EXPECT_TRUE(fits("containerd-shim*", "containerd-shim-runc-v2"));
    EXPECT_TRUE(fits("containerd-shim*", "containerd-shim"));
    EXPECT_FALSE(fits("containerd", "containerd-shim"));
    EXPECT_FALSE(fits("containerd-shim*", "containerd"));
    EXPECT_FALSE(fits("*d", "containerd"));
}

TEST(ProcessName, AnEmptyEntryFitsNobody) {
    EXPECT_FALSE(fits("", ""));
    EXPECT_FALSE(fits_comm("", ""));
}

TEST(ProcessName, ACommIsComparedAsTheKernelCutsIt) {
    EXPECT_TRUE(fits_comm("nvidia-persistenced", "nvidia-persiste"));
    EXPECT_FALSE(fits_comm("nvidia-persistenced", "nvidia-persist"));
    EXPECT_TRUE(fits_comm("containerd-shim-runc*", "containerd-shim"));
    EXPECT_TRUE(fits_comm("sshd", "sshd"));
    EXPECT_FALSE(fits_comm("sshd", "sshd-session"));
}

TEST(ProcessName, PythonsAreKnownByTheirVersions) {
    for (const auto* name : {"python", "python3", "python3.11", "python3.13t", "pypy3.10"})
        EXPECT_TRUE(is_python(name));
    for (const auto* name : {"pythonista", "python3-config", "ipython", ""}) EXPECT_FALSE(is_python(name));
}

TEST(ProcessName, TheScriptIsTheFirstArgumentThatIsNoOption) {
    EXPECT_EQ(script({"/usr/local/bin/nvitop", "-m", "full"}), "nvitop");
    EXPECT_EQ(script({"-u", "-W", "ignore", "-X", "dev", "train.py", "nvitop"}), "train.py");
    EXPECT_EQ(script({"-Wignore", "train.py"}), "train.py");
    EXPECT_EQ(script({"-uX", "dev", "train.py"}), "train.py");
    EXPECT_EQ(script({"--check-hash-based-pycs", "never", "train.py"}), "train.py");
}

TEST(ProcessName, AModuleIsNamedInFull) {
    EXPECT_EQ(script({"-m", "sglang.launch_server", "--tp", "8"}), "sglang.launch_server");
    EXPECT_EQ(script({"-um", "nvitop"}), "nvitop");
    EXPECT_EQ(script({"-mnvitop"}), "nvitop");
}

TEST(ProcessName, CodeGivenOnTheCommandLineIsNoScript) {
    EXPECT_EQ(script({"-c", "import time", "nvitop"}), "none");
    EXPECT_EQ(script({"-uc", "nvitop"}), "none");
    EXPECT_EQ(script({}), "none");
    EXPECT_EQ(script({"-m"}), "none");
    EXPECT_EQ(script({"-W"}), "none");
}

TEST(ProcessName, OnlyAPythonHasAPythonScript) {
    EXPECT_FALSE(python_script(running("/usr/bin/sleep", {"sleep", "nvitop"})));
    Process unreadable;
    unreadable.comm = "python3";
    EXPECT_FALSE(python_script(unreadable));
}

TEST(ProcessName, ShellsAndInterpretersAreToldApart) {
    EXPECT_TRUE(is_shell(running("/usr/bin/dash", {})));
    EXPECT_TRUE(is_shell(running("/bin/busybox", {})));
    EXPECT_FALSE(is_shell(running("/usr/bin/python3", {})));
    EXPECT_TRUE(is_interpreter(running("/usr/bin/perl5.36", {})));
    EXPECT_TRUE(is_interpreter(running("/usr/bin/bash", {})));
    EXPECT_FALSE(is_interpreter(running("/usr/bin/sleep", {})));
}

}  // namespace
}  // namespace cleanslate::agentless
