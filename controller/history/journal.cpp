#include "controller/history/journal.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>

#include "base/files.hpp"

namespace cleanslate::controller::history {
namespace {

// Machines of a network, and whatever a program of a user stands behind: none of them shares memory.
constexpr std::array<unsigned long, 18> remote_file_systems = {
    0x6969,      // NFS
    0xFF534D42,  // CIFS
    0xFE534D42,  // SMB 2 and 3
    0x517B,      // SMB
    0x0BD00BD0,  // Lustre
    0x47504653,  // GPFS
    0x00C36400,  // Ceph
    0x19830326,  // BeeGFS
    0x65735546,  // FUSE (sshfs, GlusterFS, ...), virtiofs
    0x01021997,  // 9p
    0x5346414F,  // AFS
    0x6B414653,  // kAFS
    0x73757245,  // Coda
    0x01161970,  // GFS2
    0x7461636F,  // OCFS2
    0xAAD7AAEA,  // PanFS
    0x20030528,  // OrangeFS
    0x786F4256,  // shared folders of VirtualBox
};

}  // namespace

Journal journal_for(unsigned long type) {
    return std::ranges::find(remote_file_systems, type) == remote_file_systems.end() ? Journal::wal
                                                                                     : Journal::rollback;
}

Journal journal_at(const std::string& path) {
    struct statfs there {};
    if (::statfs(path.c_str(), &there) != 0) return Journal::rollback;
    return journal_for(static_cast<unsigned long>(there.f_type) & 0xFFFF'FFFFUL);
}

bool is_in_wal(const std::string& path) {
    constexpr std::size_t size_of_head = 20;  // byte 18 is what it must be read with
    std::string head;
    (void)read_pieces(path, [&](std::string_view piece) -> Status {
        head += piece.substr(0, size_of_head);
        return fail("enough", "");
    });
    return head.size() >= size_of_head && head[18] == 2;
}

void set_journal(Database& database, Journal journal) {
    if (database.read_only()) return;
    if (journal == Journal::wal) {
        if (database.text_of("PRAGMA journal_mode") != "wal")
            (void)database.text_of("PRAGMA journal_mode=WAL");
    } else {
        (void)database.text_of("PRAGMA journal_mode=DELETE");
    }
    // FULL: in WAL mode NORMAL would let a power loss take the last sweeps. EXTRA: the journal's name, too.
    const bool wal = database.text_of("PRAGMA journal_mode") == "wal";
    database.execute(wal ? "PRAGMA synchronous=FULL; PRAGMA journal_size_limit=16777216;"
                         : "PRAGMA synchronous=EXTRA;");
}

}  // namespace cleanslate::controller::history
