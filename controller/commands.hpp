#pragma once
// One function a command. Each returns the exit status; none throws on its own account.

#include <string>
#include <vector>

#include "controller/options.hpp"
#include "controller/output.hpp"
#include "controller/report.hpp"
#include "controller/terminal.hpp"

namespace cleanslate::controller {

struct Context {
    Options options;
    Environment environment;
    std::vector<std::string> arguments;  // as typed, for the audit log
    Terminal terminal;
    Output& out;
};

int sweep_command(const Context& context);  // check, clear, run
int hosts_command(const Context& context);
int playbooks_command(const Context& context);
int parse_command(const Context& context);
int baseline_command(const Context& context);
int explain_command(const Context& context);
int audit_command(const Context& context);
int trust_command(const Context& context);
int report_command(const Context& context);
int history_command(const Context& context);
int drain_list_command(const Context& context);
int config_command(const Context& context);
int completion_command(const Context& context);
int complete_command(const Context& context);  // answers a shell; says nothing of what goes wrong

int run_command_line(const Context& context);  // whichever it is

// "cleanslate: message" and the remedy, on stderr.
void print_error(const Error& error);

// Ends stdout: 0, or exit_internal (and a word on stderr) if something of it was lost.
int finish_output(const Context& context);

// In every form that was asked for, jsonl of a sweep aside; false (and a word on stderr) if one of them could
// not be written whole. The others are written whatever becomes of it. `elsewhere`: where the rest is besides
// the files, for the last line of the text.
bool write_reports(const Context& context, const Report& report, std::vector<std::string> elsewhere = {});

// The lists of hosts: emptied before a host is contacted, and written when all have ended. False (and a word
// on stderr) as above.
Status empty_host_lists(const Options& options);
bool write_host_lists(const Context& context, const Report& report);

// An error where one of the files could not be written, for what can be told before anything is done.
Status may_write_reports(const Options& options);

}  // namespace cleanslate::controller
