#include "tests/fleet/worker_devices.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tests/fleet/gpu_memory.hpp"
#include "tests/fleet/kernel_view.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {
namespace {

// Opens a device `times` (the descriptors stay, also over exec) and maps it; CUDA's mappings are not for
// children.
int open_device(const std::string& path, int times, int mappings) {
    int first = -1;
    for (int i = 0; i < times; ++i) {
        const int fd = ::open(path.c_str(), O_RDWR);
        need(fd >= 0, "open " + path);
        if (first < 0) first = fd;
    }
    for (int i = 0; i < mappings; ++i) {
        void* at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, first, i * 4096);
        need(at != MAP_FAILED && ::madvise(at, 4096, MADV_DONTFORK) == 0, "map " + path);
    }
    return first;
}

long memory_on(const ProcessSpec& spec, int index) {
    for (const auto& [gpu, mib] : spec.memory)
        if (gpu == index) return mib;
    return 0;
}

// Descriptors of device files that this process has.
std::vector<int> open_devices() {
    std::vector<int> all;
    for (int fd = 3; fd < 1024; ++fd) {
        char target[64];
        const ssize_t length =
            ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target);
        if (length > 0 &&
            std::string_view(target, static_cast<std::size_t>(length)).starts_with("/dev/nvidia"))
            all.push_back(fd);
    }
    errno = 0;
    return all;
}

sockaddr_un address_of_receiver(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ("simhost-pass-" + name).copy(address.sun_path + 1, sizeof address.sun_path - 2);
    return address;
}

// Hands all device files over; comes back once the other one has them.
void pass_devices(const std::string& name) {
    const auto devices = open_devices();
    const auto count = std::min<std::size_t>(devices.size(), 250);  // the kernel takes 253
    std::vector<char> control(CMSG_SPACE(count * sizeof(int)));
    char byte = 'd';
    iovec part{&byte, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(header), devices.data(), count * sizeof(int));
    const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = address_of_receiver(name);
    int tries = 0;
    while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        need(++tries < 2000 && ::poll(nullptr, 0, 5) == 0, "cannot reach " + name);
    need(::sendmsg(socket.get(), &message, 0) == 1 && ::read(socket.get(), &byte, 1) == 1,
         "cannot pass devices to " + name);
    errno = 0;
}

// How often which file is open and mapped: the corpus's holders_two_gpus.txt.
}  // namespace

void receive_devices(const std::string& name) {
    const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = address_of_receiver(name);
    need(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
             ::listen(listener.get(), 1) == 0,
         "listen for devices");
    const Fd sender(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::vector<char> control(CMSG_SPACE(253 * sizeof(int)));
    char byte = 0;
    iovec part{&byte, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    need(::recvmsg(sender.get(), &message, 0) == 1 && ::write(sender.get(), "k", 1) == 1, "receive devices");
}

void use_shm(const Host& host, const std::string& name) {
    for (const auto& file : host.shm) {
        if (file.process != name) continue;
        const std::string path = "/dev/shm/" + file.name;
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        need(fd >= 0, "open " + path);
        if (!file.mapped) continue;
        need(::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED, "map " + path);
        ::close(fd);
    }
}

void take_devices(const Host& host, const ProcessSpec& spec) {
    if (spec.devices == Devices::none) return;
    const bool cuda = spec.devices == Devices::cuda;
    const bool context = !spec.memory.empty();
    open_device("/dev/nvidiactl", context ? 2 : 1, context ? 28 : cuda ? 2 : 0);
    open_device("/dev/nvidia-uvm", context ? 4 : 2, context ? 1 : 0);
    if (spec.devices == Devices::control) return;
    if (context || !cuda) {
        open_device("/dev/nvidia-caps/nvidia-cap1", 1, 0);
        open_device("/dev/nvidia-caps/nvidia-cap2", 1, 0);
    }
    for (const auto& [gpu, device] : spec.instances)
        for (const int cap : capabilities_of(host, gpu, device))
            open_device("/dev/nvidia-caps/nvidia-cap" + std::to_string(cap), 1, 0);
    for (const auto& gpu : host.gpus) {
        const std::string path = "/dev/nvidia" + std::to_string(gpu.minor);
        const long mib = memory_on(spec, gpu.index);
        const int opens = !cuda ? 1 : mib > 0 ? 23 : context ? 7 : 4;
        const int device = open_device(path, opens, !cuda ? 0 : mib > 0 ? 3 : 2);
        if (!cuda) continue;
        const Allocation allocation{gpu.minor, ::getpid(), mib > 0 ? mib : 4, mib > 0, 0};
        need(allocate(device, allocation), "allocate on " + path);
        // Init's ledger looks when a device file is closed: let it see the new allocation.
        const Fd seen(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    }
    if (!spec.passes_to.empty()) pass_devices(spec.passes_to);
    if (spec.only_mapped)
        for (const int device : open_devices()) ::close(device);
}

}  // namespace cleanslate::simulated
