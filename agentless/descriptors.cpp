#include "agentless/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace cleanslate::agentless {
namespace {

constexpr std::size_t for_shard = 4;  // epoll, timers, wake-ups, and one to spare
constexpr std::size_t for_files = 40;
// Beside those at work: of 10,000 hosts a tenth may be dead. Each has about 100 KB.
constexpr int may_wait = 1000;

std::size_t count_open() {
    std::error_code error;
    std::size_t count = 0;
    for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; !error && entry != end;
         entry.increment(error))
        ++count;
    return count;
}

}  // namespace

Descriptors raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
    if (limit.rlim_cur < limit.rlim_max) {
        rlimit raised = limit;
        raised.rlim_cur = raised.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    }
    return {static_cast<std::size_t>(limit.rlim_cur), count_open()};
}

int fitting_fanout(int wanted, const Descriptors& descriptors, std::size_t shards) {
    if (descriptors.limit == 0) return wanted;  // nobody could say
    const std::size_t taken = descriptors.open + for_files + for_shard * shards;
    const std::size_t left = descriptors.limit > taken ? descriptors.limit - taken : 0;
    const auto most =
        std::clamp<std::size_t>(left / descriptors.a_host, 1, static_cast<std::size_t>(std::max(1, wanted)));
    return static_cast<int>(most);
}

int fitting_under_way(int asked, int fanout, const Descriptors& descriptors, std::size_t shards) {
    if (asked <= 1) return fanout;
    return std::max(fanout, fitting_fanout(fanout + may_wait, descriptors, shards));
}

}  // namespace cleanslate::agentless
