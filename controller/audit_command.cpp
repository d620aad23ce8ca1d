#include "controller/commands.hpp"
#include "controller/exit_status.hpp"

namespace cleanslate::controller {

int audit_command(const Context&) { return exit_internal; }

}  // namespace cleanslate::controller
