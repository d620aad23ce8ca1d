#pragma once
// What `trust` says: which host keys are known, which are new, and which must not be believed.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agentless/key_scan.hpp"
#include "base/units.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller {

struct TrustReport {
    agentless::ScanResult result;
    std::vector<std::string> unwritten;  // keys that somebody agreed to, and why they are not written down
    bool keys_shown = false;             // the reader has just seen the new ones: text does not repeat them
    std::string started;                 // RFC 3339
    Milliseconds took{0};
    int exit_status = 0;
};

// How a host stands, by the worst of its keys.
enum class Trust { known, added, unknown, changed, revoked, not_seen };
Trust trust_of(const agentless::ScannedHost& host);
std::string_view to_string(Trust trust);

// 0 all known now; 1 some unknown, changed or revoked; 3 some not seen; 4 by the deadline; 5 something could
// not be written; 130, 143 by `stop_signal` (0: none).
int exit_status(const TrustReport& report, int stop_signal);

struct NewKeys {
    std::size_t hosts = 0, keys = 0;
};
NewKeys new_keys(const agentless::ScanResult& result);

// The new keys and what is odd about them: what stands above the question.
void write_new_keys(Page& page, const agentless::ScanResult& result);

void write_trust_text(Page& page, const TrustReport& report);
nlohmann::ordered_json trust_json(const TrustReport& report);

}  // namespace cleanslate::controller
