// Goes away: what is declared and not written yet. Who writes one takes it out of here.
#include "agentless/remote.hpp"

namespace cleanslate::agentless {

// remote.hpp
std::string lock_script(const LockRequest&, std::string_view) { return {}; }
Result<LockReport> read_lock(std::string_view, std::string_view) { return LockReport{}; }
std::string release_script(ProcessKey, std::string_view) { return {}; }
std::string reset_script(const ResetRequest&, std::string_view) { return {}; }
Result<ResetReport> read_reset(std::string_view, std::string_view) { return ResetReport{}; }
std::string shm_script(const ShmRequest&, std::string_view) { return {}; }
Result<ShmReport> read_shm(std::string_view, std::string_view) { return ShmReport{}; }
std::string reboot_script(std::string_view, std::string_view) { return {}; }
Result<RebootReport> read_reboot(std::string_view, std::string_view) { return RebootReport{}; }

}  // namespace cleanslate::agentless
