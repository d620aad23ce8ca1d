#pragma once
// What part a process plays, by its name: a way in, what keeps a terminal, a supervisor.

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// By root's word: its executable is root's and nobody else may write it, and it runs where the host's own
// paths hold. Of what was not told: false.
bool runs_system_file(const Process& process);

// sshd, dropbear, login, su, sudo and the like, whoever runs them.
bool is_named_as_way_in(const Process& process);

// The same, but an ordinary user's own program of that name is just a program.
bool lets_people_in(const Process& process);

// tmux, screen and what else keeps a terminal over a lost connection.
bool keeps_terminals(const Process& process);

// Init, also in a container, and what starts services, jobs, containers and desktops. By name alone, what it
// calls itself included: for whom sparing one too many is the safe side.
bool is_named_as_supervisor(const Process& process);

// The same, but an ordinary user's own program of that name is just a program.
bool supervises(const Process& process);

// A program that reaps what lost its parent: whoever is its child without having been started by it is left
// over. A container's main program may be anything, and is none.
bool is_init(const Process& process);

// One that was made for containers: tini, dumb-init and the like. It starts one program, the container's main
// one, and ends with it.
bool is_container_init(const Process& process);

}  // namespace cleanslate::agentless
