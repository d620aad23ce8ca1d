// measure FILE COMMAND...: runs COMMAND and appends one line to FILE: its real, user and system seconds and
// its peak memory in KiB, those of the children that it waited for in it (getrusage(2)). Ends as COMMAND
// ends. A shell's `time` has no memory.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: measure FILE COMMAND...\n");
        return 2;
    }
    const auto began = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child == 0) {
        ::execvp(argv[2], argv + 2);
        std::perror(argv[2]);
        ::_exit(127);
    }
    int status = 0;
    rusage used{};
    if (child < 0 || ::wait4(child, &status, 0, &used) != child) {
        std::perror("measure");
        return 1;
    }
    const std::chrono::duration<double> real = std::chrono::steady_clock::now() - began;
    std::FILE* file = std::fopen(argv[1], "a");
    if (file == nullptr) {
        std::perror(argv[1]);
        return 1;
    }
    std::fprintf(file, "%.4f %.4f %.4f %ld\n", real.count(), seconds(used.ru_utime), seconds(used.ru_stime),
                 used.ru_maxrss);
    if (std::fclose(file) != 0) return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
