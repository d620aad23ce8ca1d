#pragma once
// What the survey's script prints on a host, as text: the scripts of agentless/scripts over a simulated
// host's /proc, /dev and nvidia-smi. The drift test compares it with the real ones.

#include <string>
#include <string_view>
#include <vector>

#include "tests/fleet/description.hpp"
#include "tests/fleet/scale/script.hpp"

namespace cleanslate::simulated {

// How far a described process is on its way out. Its memory stays for `release` after its end.
enum class Life { alive, memory_left, gone };

// Numbers that the model gives out; those of a simulated host with real processes are the same as a rule.
inline constexpr long init_pid = 1, first_pid = 3, ticks_a_second = 100, uptime_at_start_s = 864'000;
inline constexpr std::uint64_t first_start = 86'040'000;  // in ticks since boot: an hour before

long pid_of(std::size_t process);             // of host.processes[process]
std::uint64_t start_of(std::size_t process);  // its start time in ticks
long sshd_pid(const Host& host);              // the server, then a login's own process and its shell
inline long login_pid(const Host& host) { return sshd_pid(host) + 40; }
inline long shell_pid(const Host& host) { return sshd_pid(host) + 42; }

// What changes from one answer to the next stands as these words in it.
inline constexpr std::string_view nonce_mark = "@nonce@", uptime_mark = "@uptime@", clock_mark = "@clock@",
                                  boot_mark = "@boot@";

// The whole answer, begin and end records included. `lives` has one element for each of host.processes.
std::string survey_answer(const Host& host, const std::vector<Life>& lives, const Script& survey);

// A value of a record.
std::string escaped(std::string_view text);

}  // namespace cleanslate::simulated
