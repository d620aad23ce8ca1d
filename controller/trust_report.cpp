#include "controller/trust_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>

#include "base/text.hpp"
#include "controller/exit_status.hpp"
#include "controller/json_text.hpp"
#include "inventory/node_set.hpp"

namespace cleanslate::controller {
namespace {

using namespace agentless;
using Json = nlohmann::ordered_json;
using Standing = ShownHostKey::Standing;

constexpr Trust all_trust[] = {Trust::known,   Trust::added,   Trust::unknown,
                               Trust::changed, Trust::revoked, Trust::not_seen};

std::string text_of(const Error& error) {
    return error.phase.empty() ? error.message : error.phase + ": " + error.message;
}

Trust trust_of(const ShownHostKey& key) {
    switch (key.standing) {
        case Standing::known:
            return key.added ? Trust::added : Trust::known;
        case Standing::unknown:
            return Trust::unknown;
        case Standing::changed:
            return Trust::changed;
        case Standing::revoked:
            return Trust::revoked;
    }
    return Trust::unknown;
}

std::string folded(const std::vector<std::string>& names) {
    const std::string text = inventory::fold(names);
    return names.size() == 1 ? text : fmt::format("{} ({})", text, names.size());
}

std::string words_of(Trust trust) {
    return trust == Trust::not_seen ? "no key seen" : std::string(to_string(trust));
}

// Hosts of which the same is to be said.
struct Group {
    const ScannedHost* first = nullptr;
    std::vector<std::string> names;
};

// What makes two hosts the same to a reader: of known ones, nothing but that.
std::string sameness(const ScannedHost& host) {
    const Trust trust = controller::trust_of(host);
    std::string text(to_string(trust));
    if (host.error) return text + text_of(*host.error) + host.error->remedy;
    if (trust == Trust::known) return text;
    for (const ShownHostKey& key : host.keys)
        text += key.blob + (trust_of(key) > Trust::unknown && key.problem ? key.problem->message : "");
    return text;
}

std::vector<Group> groups_of(const ScanResult& result, Trust trust) {
    std::vector<Group> groups;
    std::map<std::string, std::size_t> places;
    for (const ScannedHost& host : result.hosts) {
        if (controller::trust_of(host) != trust) continue;
        const auto [place, fresh] = places.emplace(sameness(host), groups.size());
        if (fresh) groups.push_back({&host, {}});
        groups[place->second].names.push_back(host.name);
    }
    return groups;
}

void write_keys(Page& page, const ScannedHost& host) {
    std::size_t width = 0;
    for (const ShownHostKey& key : host.keys) width = std::max(width, key.type.size());
    for (const ShownHostKey& key : host.keys)
        page.line(4, {{fmt::format("{:<{}}  {}{}", key.type, width, key.fingerprint,
                                   trust_of(key) == Trust::known ? "  (known)" : "")}});
    // An authority that is known says more than that the keys are new.
    const auto& first = host.keys.front();
    if (first.standing == Standing::unknown && !first.place.empty())
        page.boxed(4, "only an authority for its certificates is known: " + first.place, Style::yellow);
}

void write_problem(Page& page, const Error& error) {
    page.boxed(4, text_of(error));
    if (!error.remedy.empty()) page.boxed(4, "-> " + error.remedy);
}

Style style_of(Trust trust) {
    switch (trust) {
        case Trust::known:
        case Trust::added:
            return Style::green;
        case Trust::unknown:
            return Style::yellow;
        case Trust::changed:
        case Trust::revoked:
            return Style::red;
        case Trust::not_seen:
            break;
    }
    return Style::magenta;
}

void write_group(Page& page, const Group& group, Trust trust, bool with_keys) {
    page.line(0, {{folded(group.names) + ": "}, {words_of(trust), style_of(trust)}});
    if (group.first->error) return write_problem(page, *group.first->error);
    if (trust == Trust::changed || trust == Trust::revoked) {
        for (const ShownHostKey& key : group.first->keys)
            if (trust_of(key) >= Trust::changed && key.problem) write_problem(page, *key.problem);
    } else if (trust != Trust::known && with_keys) {
        write_keys(page, *group.first);
    }
}

// One key on several hosts: whoever holds one of them can pass for all of them.
void write_shared_keys(Page& page, const ScanResult& result) {
    std::map<std::string, std::vector<std::string>> holders;
    std::map<std::string, std::string> shown;  // the hosts -> one key of theirs
    for (const ScannedHost& host : result.hosts)
        for (const ShownHostKey& key : host.keys)
            holders[key.type + " " + key.fingerprint].push_back(host.name);
    for (const auto& [key, names] : holders)
        if (names.size() > 1) shown.emplace(folded(names), key);
    for (const auto& [names, key] : shown)
        page.boxed(
            0,
            fmt::format("warning: {} have the same key {}: hosts cloned from one image, or one machine "
                        "under several names",
                        names, key),
            Style::yellow);
}

std::string_view meaning(int exit_status) {
    switch (exit_status) {
        case 0:
            return "every host's key is known";
        case 1:
            return "some keys are not known, or must not be believed";
        case 3:
            return "some hosts showed no key";
        case exit_internal:
            return "some keys could not be written down";
        default:
            return meaning_of(exit_status, false);
    }
}

Json key_json(const ShownHostKey& key) {
    return {{"type", printable(key.type)},
            {"fingerprint", key.fingerprint},
            {"trust", to_string(trust_of(key))},
            {"place", text_or_null(key.place)},
            {"known_fingerprint", text_or_null(key.known_fingerprint)}};
}

Json error_json(const Error& error) {
    return {{"kind", error.kind},
            {"phase", text_or_null(error.phase)},
            {"message", printable(error.message)},
            {"remedy", text_or_null(error.remedy)}};
}

// What a report of a host says as its error: that no key was seen, or why one must not be believed.
const Error* problem_of(const ScannedHost& host) {
    if (host.error) return &*host.error;
    for (const ShownHostKey& key : host.keys)
        if (key.problem) return &*key.problem;
    return nullptr;
}

}  // namespace

std::string_view to_string(Trust trust) {
    switch (trust) {
        case Trust::known:
            return "known";
        case Trust::added:
            return "added";
        case Trust::unknown:
            return "unknown";
        case Trust::changed:
            return "changed";
        case Trust::revoked:
            return "revoked";
        case Trust::not_seen:
            return "not_seen";
    }
    return "";
}

Trust trust_of(const ScannedHost& host) {
    if (host.error || host.keys.empty()) return Trust::not_seen;
    Trust worst = Trust::known;
    for (const ShownHostKey& key : host.keys) worst = std::max(worst, trust_of(key));
    return worst;
}

int exit_status(const TrustReport& report, int stop_signal) {
    if (!report.unwritten.empty()) return exit_internal;
    if (stop_signal != 0) return stop_signal == SIGINT ? 130 : 143;
    if (report.result.deadline_passed) return 4;
    Trust worst = Trust::known;
    for (const ScannedHost& host : report.result.hosts) worst = std::max(worst, trust_of(host));
    if (worst == Trust::not_seen) return 3;
    return worst > Trust::added ? 1 : 0;
}

NewKeys new_keys(const ScanResult& result) {
    NewKeys count;
    for (const ScannedHost& host : result.hosts) {
        if (!may_be_added(host)) continue;
        const auto keys = std::ranges::count(host.keys, Standing::unknown, &ShownHostKey::standing);
        count.keys += static_cast<std::size_t>(keys);
        count.hosts += keys > 0 ? 1 : 0;
    }
    return count;
}

void write_new_keys(Page& page, const ScanResult& result) {
    for (const Group& group : groups_of(result, Trust::unknown))
        write_group(page, group, Trust::unknown, true);
    write_shared_keys(page, result);
}

void write_trust_text(Page& page, const TrustReport& report) {
    std::string counts;
    for (const Trust trust : all_trust) {
        std::size_t hosts = 0;
        for (const Group& group : groups_of(report.result, trust)) {
            write_group(page, group, trust, !report.keys_shown);
            hosts += group.names.size();
        }
        if (hosts > 0) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", hosts, words_of(trust));
    }
    if (!report.keys_shown) write_shared_keys(page, report.result);
    for (const std::string& why : report.unwritten) page.boxed(0, why, Style::red);
    page.line(0,
              {{fmt::format("{}: {}; {}; exit {}: {}", count_of(report.result.hosts.size(), "host"), counts,
                            format_duration(report.took), report.exit_status, meaning(report.exit_status)),
                Style::bold}});
}

Json trust_json(const TrustReport& report) {
    Json hosts = Json::array();
    for (const ScannedHost& host : report.result.hosts) {
        Json keys = Json::array();
        for (const ShownHostKey& key : host.keys) keys.push_back(key_json(key));
        const Error* problem = problem_of(host);
        hosts.push_back({{"name", printable(host.name)},
                         {"address", printable(host.address)},
                         {"port", host.port},
                         {"trust", to_string(trust_of(host))},
                         {"keys", std::move(keys)},
                         {"error", problem == nullptr ? Json(nullptr) : error_json(*problem)}});
    }
    Json unwritten = Json::array(), notes = Json::array();
    for (const std::string& why : report.unwritten) unwritten.push_back(printable(why));
    for (const std::string& note : report.result.notes) notes.push_back(printable(note));
    return {{"schema", "cleanslate.trust/1"},
            {"started", report.started},
            {"seconds", seconds_or_null(report.took)},
            {"exit_status", report.exit_status},
            {"hosts", std::move(hosts)},
            {"unwritten", std::move(unwritten)},
            {"notes", std::move(notes)}};
}

}  // namespace cleanslate::controller
