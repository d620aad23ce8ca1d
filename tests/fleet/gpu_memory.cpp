#include "tests/fleet/gpu_memory.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/fleet/system.hpp"
#include "tests/fleet/wedge.hpp"

namespace cleanslate::simulated {

namespace {

constexpr int listed_bit = 30;

std::string ledger_file() { return std::string(host_folder) + "/ledger"; }

std::string device_file(int minor) { return "/dev/nvidia" + std::to_string(minor); }

// "major:minor:inode" as /proc/locks writes it -> the N of the device file.
std::map<std::string, int> device_keys(const Host& host) {
    std::map<std::string, int> keys;
    for (const auto& gpu : host.gpus) {
        struct stat info {};
        if (::stat(device_file(gpu.minor).c_str(), &info) != 0) continue;
        char key[64];
        std::snprintf(key, sizeof key, "%02x:%02x:%lu", major(info.st_dev), minor(info.st_dev),
                      static_cast<unsigned long>(info.st_ino));
        keys[key] = gpu.minor;
    }
    return keys;
}

// Its lines are "MINOR PID MIB LISTED UNTIL".
std::vector<Allocation> read_ledger() {
    std::vector<Allocation> all;
    const auto text = read_file(ledger_file());
    for (const auto& line : split(text.value_or(""), '\n')) {
        Allocation a;
        int listed = 0;
        long long until = 0;
        if (std::sscanf(line.c_str(), "%d %d %ld %d %lld", &a.minor, &a.pid, &a.mib, &listed, &until) != 5)
            continue;
        a.listed = listed != 0;
        a.until = until;
        all.push_back(a);
    }
    return all;
}

bool among(const std::vector<Allocation>& all, const Allocation& one) {
    return std::any_of(all.begin(), all.end(), [&](const Allocation& other) { return other.same(one); });
}

}  // namespace

bool allocate(int device, const Allocation& a) {
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = (static_cast<off_t>(a.pid) << 32) | (static_cast<off_t>(a.listed) << listed_bit);
    lock.l_len = a.mib;
    return ::fcntl(device, F_OFD_SETLK, &lock) == 0;
}

std::vector<Allocation> held_allocations(const Host& host, const std::string& locks) {
    const auto keys = device_keys(host);
    std::vector<Allocation> held;
    for (const auto& line : split(locks, '\n')) {
        // 1: OFDLCK ADVISORY  READ -1 00:1b:2 331786223616 331786299722
        const auto words = split(line, ' ');
        if (words.size() != 8 || words[1] != "OFDLCK") continue;
        const auto key = keys.find(words[5]);
        const auto first = to_number(words[6]);
        const auto last = to_number(words[7]);
        if (key == keys.end() || !first || !last) continue;
        Allocation a;
        a.minor = key->second;
        a.pid = static_cast<pid_t>(*first >> 32);
        a.listed = (*first >> listed_bit & 1) != 0;
        a.mib = *last - *first + 1;
        held.push_back(a);
    }
    return held;
}

namespace {

// The memory of who is being torn down goes in ten steps.
void shrink(std::vector<Allocation>& charged) {
    for (const auto& line : split(read_file(teardown_file()).value_or(""), '\n')) {
        long long begin = 0;
        long long end = 0;
        int pid = 0;
        if (std::sscanf(line.c_str(), "%d %lld %lld", &pid, &begin, &end) != 3) continue;
        const long long left = std::clamp((end - now_ns()) * 10 / (end - begin) + 1, 1LL, 10LL);
        for (auto& a : charged)
            if (a.pid == pid && a.listed) a.mib = std::max(1L, static_cast<long>(a.mib * left / 10));
    }
}

}  // namespace

std::vector<Allocation> charged_allocations(const Host& host) {
    // In this order: what has left the locks since is in the ledger, which is only ever behind.
    auto charged = held_allocations(host, read_file("/proc/locks").value_or(""));
    const auto now = now_ns();
    for (const auto& noted : read_ledger())
        if ((noted.until == 0 || noted.until > now) && !among(charged, noted)) charged.push_back(noted);
    shrink(charged);
    std::sort(charged.begin(), charged.end(), [](const Allocation& a, const Allocation& b) {
        return a.minor != b.minor ? a.minor < b.minor : a.pid < b.pid;
    });
    return charged;
}

long used_mib(const Gpu& gpu, const std::vector<Allocation>& charged) {
    long sum = 0;
    long contexts = 0;
    bool any = false;
    for (const auto& a : charged) {
        if (a.minor != gpu.minor) continue;
        any = true;
        if (!a.listed) continue;
        sum += a.mib;
        ++contexts;
    }
    return gpu.idle_mib + sum + (any ? 4 + contexts * 11 / 2 : 0);
}

Ledger::Ledger(const Host& host) : host_(host), events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    need(events_ >= 0, "inotify_init1");
    for (const auto& gpu : host.gpus)
        need(::inotify_add_watch(events_, device_file(gpu.minor).c_str(), IN_CLOSE) >= 0,
             "inotify_add_watch");
    save();
}

void Ledger::on_event() {
    char buffer[65536];
    while (::read(events_, buffer, sizeof buffer) > 0) {
    }
    looks_left_ = 3;
    look();
}

void Ledger::on_time() { look(); }

void Ledger::look() {
    const auto now = now_ns();
    const auto held = held_allocations(host_, read_file("/proc/locks").value_or(""));
    bool changed = false;
    for (auto& noted : known_) {
        if (noted.until != 0 || among(held, noted)) continue;
        noted.until = now + host_.release_ms * 1'000'000;
        changed = true;
    }
    changed |= std::erase_if(known_, [&](const Allocation& a) { return a.until != 0 && a.until <= now; }) > 0;
    for (const auto& a : held) {
        if (among(known_, a)) continue;
        known_.push_back(a);
        changed = true;
    }
    if (changed) save();

    next_look_ = 0;
    if (looks_left_ > 0) {
        constexpr std::int64_t waits_ms[] = {1000, 100, 10};
        next_look_ = now + waits_ms[--looks_left_] * 1'000'000;
    }
    for (const auto& noted : known_)
        if (noted.until != 0 && (next_look_ == 0 || noted.until < next_look_)) next_look_ = noted.until;
}

void Ledger::save() const {
    std::string text;
    for (const auto& a : known_) {
        char line[128];
        std::snprintf(line, sizeof line, "%d %d %ld %d %lld\n", a.minor, a.pid, a.mib, a.listed ? 1 : 0,
                      static_cast<long long>(a.until));
        text += line;
    }
    write_file(ledger_file() + ".new", text);
    need(::rename((ledger_file() + ".new").c_str(), ledger_file().c_str()) == 0, "rename the ledger");
}

}  // namespace cleanslate::simulated
