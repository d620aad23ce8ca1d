#pragma once
// What stands around the GPUs of a simulated host: login sessions, /dev/shm, the stand-ins for systemctl and
// others, a clock that is ahead.

#include <sys/types.h>

#include <string>

#include "tests/fleet/description.hpp"

namespace cleanslate::simulated {

// /run/systemd/sessions/ID as logind writes it; leader 0: gone.
void write_session(const SessionSpec& session, pid_t leader);

// Below `dev`/shm, with its times in the host's future: by its clock they are as old as described.
void make_shm(const Host& host, const std::string& dev);

// systemctl, docker, ... in `local`, the host's /usr/local/bin; they also cover the machine's own ones, so
// that no way of looking them up leads there. Covers are made by cover_machine_programs(), once `local` is
// mounted.
void make_stand_ins(const Host& host, const std::string& local, const std::string& programs);
void cover_machine_programs();

// Lets the host's /proc/stat say that it was booted later than the machine. `file` is where that text lies.
void set_clock_ahead(const Host& host, const std::string& file);

}  // namespace cleanslate::simulated
