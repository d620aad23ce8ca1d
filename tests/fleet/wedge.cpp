#include "tests/fleet/wedge.hpp"

#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/fleet/description.hpp"
#include "tests/fleet/launch.hpp"

namespace cleanslate::simulated {

namespace {

constexpr std::uint32_t wedge_size = 64 * 1024;

template <class Body>
void answer(int device, std::uint64_t request, const Body& body) {
    fuse_out_header header{};
    header.len = sizeof header + sizeof body;
    header.unique = request;
    const iovec parts[] = {{&header, sizeof header}, {const_cast<Body*>(&body), sizeof body}};
    if (::writev(device, parts, 2) < 0) errno = 0;  // the asker was killed while it waited
}

void answer_nothing(int device, std::uint64_t request, int error = 0) {
    fuse_out_header header{};
    header.len = sizeof header;
    header.error = error;
    header.unique = request;
    if (::write(device, &header, sizeof header) < 0) errno = 0;  // the asker was killed while it waited
}

// A read from here on comes back, once the kernel has learnt that there are no interrupts here.
constexpr std::uint64_t answered_from = 60 * 1024;

// The description of a process by its pid.
const ProcessSpec* spec_of(const Host& host, int pid) {
    const ProcessSpec* found = nullptr;
    for (const auto& line : split(read_file(started_file()).value_or(""), '\n')) {
        const auto words = split(line, ' ');
        if (words.size() == 2 && words[0] == std::to_string(pid)) found = host.find(words[1]);
    }
    errno = 0;
    return found;
}

}  // namespace

std::string teardown_file() { return std::string(host_folder) + "/teardown"; }

Wedge::~Wedge() { ::umount2(wedge_file, MNT_DETACH); }

std::int64_t Wedge::next_answer() const { return due_.empty() ? 0 : due_.begin()->first; }

void Wedge::take_read(std::uint64_t request, std::uint64_t offset, int pid) {
    if (offset >= answered_from) {
        if (uninterruptible_) return answer_nothing(device_.get(), request);
        first_reads_.push_back(request);
    }
    // A request that has been taken cannot be given up any more; who reads catches the signal.
    if (pid != 0) ::kill(pid, SIGURG);
}

// Closing is over at once, but for a process whose end takes time.
void Wedge::take_flush(std::uint64_t request, int pid) {
    const Host host = this_host();
    const auto* spec = spec_of(host, pid);
    if (spec == nullptr || spec->teardown_ms == 0) return answer_nothing(device_.get(), request);
    const auto begin = now_ns();
    const auto end = begin + spec->teardown_ms * 1'000'000;
    const std::string line =
        std::to_string(pid) + " " + std::to_string(begin) + " " + std::to_string(end) + "\n";
    const Fd file(::open(teardown_file().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    need(file && ::write(file.get(), line.data(), line.size()) > 0, "cannot write " + teardown_file());
    due_.emplace(end, request);
}

Wedge::Wedge() : device_(::open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK)) {
    need(static_cast<bool>(device_), "this machine has no FUSE, which 'wedged' needs: open /dev/fuse");
    write_file(wedge_file, "", 0444);
    const std::string options =
        "fd=" + std::to_string(device_.get()) + ",rootmode=100444,user_id=0,group_id=0,allow_other";
    need(::mount("wedge", wedge_file, "fuse", MS_NOSUID | MS_NODEV, options.c_str()) == 0,
         "cannot mount FUSE");
}

void Wedge::serve() {
    for (; !due_.empty() && due_.begin()->first <= now_ns(); due_.erase(due_.begin()))
        answer_nothing(device_.get(), due_.begin()->second);
    alignas(fuse_in_header) char buffer[FUSE_MIN_READ_BUFFER + 4096 * 33];
    while (::read(device_.get(), buffer, sizeof buffer) >= static_cast<ssize_t>(sizeof(fuse_in_header))) {
        fuse_in_header request;
        std::memcpy(&request, buffer, sizeof request);
        switch (request.opcode) {
            case FUSE_INIT: {
                fuse_init_out init{};
                init.major = FUSE_KERNEL_VERSION;
                init.minor = 31;
                init.max_write = 4096;
                // Pages are asked for in the background: who waits for one waits for its lock, in state D.
                init.flags = FUSE_ASYNC_READ;
                init.max_readahead = wedge_size;
                answer(device_.get(), request.unique, init);
                break;
            }
            case FUSE_GETATTR: {
                fuse_attr_out attributes{};
                attributes.attr.ino = FUSE_ROOT_ID;
                attributes.attr.mode = S_IFREG | 0444;
                attributes.attr.nlink = 1;
                attributes.attr.size = wedge_size;
                answer(device_.get(), request.unique, attributes);
                break;
            }
            case FUSE_OPEN: {
                fuse_open_in wanted{};
                std::memcpy(&wanted, buffer + sizeof request, sizeof wanted);
                fuse_open_out opened{};
                opened.open_flags =
                    (wanted.flags & O_ACCMODE) == O_RDONLY ? FOPEN_DIRECT_IO : FOPEN_KEEP_CACHE;
                answer(device_.get(), request.unique, opened);
                break;
            }
            case FUSE_READ: {
                fuse_read_in wanted{};
                std::memcpy(&wanted, buffer + sizeof request, sizeof wanted);
                take_read(request.unique, wanted.offset, static_cast<int>(request.pid));
                break;
            }
            case FUSE_FLUSH:
                take_flush(request.unique, static_cast<int>(request.pid));
                break;
            case FUSE_INTERRUPT:
                // From now on nobody waits interruptibly here: state D.
                answer_nothing(device_.get(), request.unique, -ENOSYS);
                uninterruptible_ = true;
                for (const auto first : std::exchange(first_reads_, {})) answer_nothing(device_.get(), first);
                break;
            case FUSE_FORGET:
            case FUSE_BATCH_FORGET:
                break;
            default:
                answer_nothing(device_.get(), request.unique, -ENOSYS);
        }
    }
    errno = 0;
}

void get_wedged() {
    const Fd file(::open(wedge_file, O_RDONLY | O_CLOEXEC));
    // The kernel waits for the answer interruptibly (S) until a signal is caught, and from then on in state
    // D.
    ::signal(SIGURG, [](int) {});
    char byte = 0;
    if (file && ::read(file.get(), &byte, 1) < 0) errno = 0;
}

void prepare_teardown() {
    const int file = ::open(wedge_file, O_RDONLY | O_CLOEXEC);
    need(file >= 0, "open the wedge");
    ::signal(SIGURG, [](int) {});
    char byte = 0;
    if (::pread(file, &byte, 1, answered_from) < 0) errno = 0;
}

void wedge_memory_map(bool maps_too) {
    const Fd cached(::open(wedge_file, O_RDWR | O_CLOEXEC));
    const Fd direct(::open(wedge_file, O_RDONLY | O_CLOEXEC));
    const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* place = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct stat size_known {};  // the kernel asks for it first here
    if (!cached || !direct || place == MAP_FAILED || ::fstat(cached.get(), &size_known) != 0) return;
    // Locks the first page until its contents come, which is never. A mapping past the page cache first waits
    // for that page. What it is about to replace is locked meanwhile, which stops newer kernels' maps too.
    if (::posix_fadvise(cached.get(), 0, wedge_size, POSIX_FADV_WILLNEED) != 0) return;
    if (maps_too)
        (void)::mmap(place, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, direct.get(), 0);
    else
        (void)::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, direct.get(), 0);
}

}  // namespace cleanslate::simulated
