#include "controller/audit_reader.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace cleanslate::controller {
namespace {

using Json = nlohmann::json;

constexpr std::size_t longest_text = 4096;

std::string text_of(const Json& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) return {};
    const auto& text = found->get_ref<const std::string&>();
    return text.size() > longest_text ? text.substr(0, longest_text) + "..." : text;
}

std::optional<std::int64_t> number_of(const Json& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_integer()) return std::nullopt;
    if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
    return found->get<std::int64_t>();
}

AuditedAct act_of(const Json& json) {
    AuditedAct act;
    act.time = text_of(json, "time");
    act.seconds_since_1970 = parse_time(act.time);
    act.host = text_of(json, "host");
    act.address = text_of(json, "address");
    act.boot_id = text_of(json, "boot_id");
    act.step = number_of(json, "step");
    act.pid = number_of(json, "pid");
    act.start = text_of(json, "start");
    act.owner = text_of(json, "owner");
    act.exe = text_of(json, "exe");
    act.unit = text_of(json, "unit");
    act.signal = text_of(json, "signal");
    act.command = text_of(json, "command");
    // Records of earlier versions name no kind.
    act.kind = act.signal.empty() && text_of(json, "kind").empty() ? "run" : text_of(json, "kind");
    act.rule = text_of(json, act.signal.empty() ? "about" : "rule");
    return act;
}

void add_result(AuditedAct& act, const Json& json) {
    act.ended = true;
    act.result = text_of(json, "result");
    act.exit_status = number_of(json, "exit_status");
    if (const auto took = json.find("seconds"); took != json.end() && took->is_number())
        act.took = took->get<double>();
}

std::string identity_of(const AuditedAct& act) {
    std::string identity = act.host;
    // A pid means something in its own boot alone. A reboot ends in another boot than it began in.
    for (const std::string& part :
         {act.signal.empty() ? std::string() : act.boot_id, std::to_string(act.step.value_or(-1)), act.signal,
          act.kind, std::to_string(act.pid.value_or(-1)), act.start})
        identity += '\n' + part;
    // A signal is known by its process; its command line need not be the same in both records.
    return act.signal.empty() ? identity + '\n' + act.command : identity;
}

std::size_t size_of(const AuditedAct& act) {
    return sizeof act + act.time.size() + act.host.size() + act.address.size() + act.boot_id.size() +
           act.start.size() + act.owner.size() + act.exe.size() + act.unit.size() + act.command.size() +
           act.rule.size() + 200;  // what identifies it
}

}  // namespace

AuditReader::AuditReader(AuditQuery query, Tell tell, Bounds bounds)
    : query_(std::move(query)), tell_(std::move(tell)), bounds_(bounds) {}

void AuditReader::feed(std::string_view piece) {
    while (!piece.empty()) {
        const auto end = piece.find('\n');
        const auto part = piece.substr(0, end);
        if (line_.size() + part.size() > bounds_.line) too_long_ = true;
        if (!too_long_) line_ += part;
        if (end == std::string_view::npos) return;
        end_line(true);
        piece.remove_prefix(end + 1);
    }
}

void AuditReader::end_line(bool whole) {
    ++lines_;
    // What goes on after half a record begins with an empty line's end.
    const bool read = !too_long_ && (trim(line_).empty() || read_record(line_));
    if (!read && !whole) torn_ = true;
    if (!read && whole) {
        ++unreadable_;
        if (first_unreadable_ == 0) first_unreadable_ = lines_;
    }
    line_.clear();
    too_long_ = false;
}

bool AuditReader::read_record(std::string_view line) {
    // No record has anything nested: what is, is not kept.
    const auto flat = [](int depth, Json::parse_event_t, Json&) { return depth <= 1; };
    const Json json = Json::parse(line, flat, false);
    if (!json.is_object()) return false;
    const std::string event = text_of(json, "event"), id = text_of(json, "sweep");
    const bool begin = event == "begin", end = event == "end";
    if (id.empty() || (!begin && !end && event != "intend" && event != "result")) return false;
    ++records_;
    AuditedAct act;
    if (!begin && !end) {
        act = act_of(json);
        if (!query_.hosts.has(act.host)) return true;
    }
    Open& open = this->open(id);
    AuditedSweep& sweep = open.sweep;
    sweep.by = text_of(json, "by");
    sweep.from = text_of(json, "from");
    sweep.by_pid = number_of(json, "by_pid");
    if (!begin && !end) {
        if (event == "result") add_result(act, json);
        add_act(open, std::move(act), event == "result");
        keep_bounds(open);
        return true;
    }
    const std::string time = text_of(json, "time");
    const auto seconds = parse_time(time);
    open.recent = open.recent || !query_.since || !seconds || *seconds >= *query_.since;
    if (begin) {
        sweep.began = time;
        sweep.login = text_of(json, "login");
        sweep.command_line = text_of(json, "command_line");
        return true;
    }
    sweep.ended = time;
    sweep.why = text_of(json, "why");
    sweep.exit_status = number_of(json, "exit_status");
    close(places_.at(id));
    return true;
}

AuditReader::Open& AuditReader::open(const std::string& id) {
    if (const auto found = places_.find(id); found != places_.end()) return *found->second;
    if (open_.size() >= bounds_.sweeps) close(open_.begin());
    open_.emplace_back().sweep.id = id;
    places_[id] = std::prev(open_.end());
    return open_.back();
}

void AuditReader::add_act(Open& open, AuditedAct act, bool is_result) {
    const std::string identity = identity_of(act);
    if (is_result) {
        // Of several alike the first that has none.
        const auto [first, last] = open.pending.equal_range(identity);
        const auto found =
            std::min_element(first, last, [](const auto& a, const auto& b) { return a.second < b.second; });
        if (found != last) {
            AuditedAct& intent = open.sweep.acts[found->second];
            intent.ended = true;
            intent.result = act.result;
            intent.exit_status = act.exit_status;
            intent.took = act.took;
            // What ended since then is shown, whenever it began.
            if (act.seconds_since_1970) intent.seconds_since_1970 = act.seconds_since_1970;
            open.pending.erase(found);
            return;
        }
    } else {
        act.intended = true;
        open.pending.emplace(identity, open.sweep.acts.size());
    }
    const std::size_t bytes = size_of(act);
    open.bytes += bytes;
    bytes_ += bytes;
    open.sweep.acts.push_back(std::move(act));
}

// What has both records is told first; where that leaves too much, the longest sweep is told as it is.
void AuditReader::keep_bounds(Open& latest) {
    if (bytes_ <= bounds_.bytes) return;
    tell_part(latest);
    while (bytes_ > bounds_.bytes / 2) {
        const auto longest = std::ranges::max_element(open_, {}, &Open::bytes);
        if (longest->bytes == 0) return;
        longest->pending.clear();
        tell_part(*longest);
    }
}

// Tells the acts that wait for nothing more and keeps the others.
void AuditReader::tell_part(Open& open) {
    std::vector<bool> waits(open.sweep.acts.size());
    for (const auto& [identity, place] : open.pending) waits[place] = true;
    std::vector<AuditedAct> all = std::move(open.sweep.acts), kept;
    open.sweep.acts.clear();
    open.pending.clear();
    bytes_ -= open.bytes;
    open.bytes = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!waits[i]) {
            if (fits(all[i])) open.sweep.acts.push_back(std::move(all[i]));
            continue;
        }
        open.bytes += size_of(all[i]);
        open.pending.emplace(identity_of(all[i]), kept.size());
        kept.push_back(std::move(all[i]));
    }
    bytes_ += open.bytes;
    if (!open.sweep.acts.empty()) {
        open.sweep.continued = open.told;
        open.told = true;
        tell_(open.sweep);
    }
    open.sweep.acts = std::move(kept);
}

void AuditReader::close(Place place) {
    Open& open = *place;
    bytes_ -= open.bytes;
    std::erase_if(open.sweep.acts, [&](const AuditedAct& act) { return !fits(act); });
    open.sweep.continued = open.told;
    // A sweep that did nothing is told where no host is asked for.
    const bool itself = query_.hosts.everything() && open.recent;
    if (!open.sweep.acts.empty() || itself || open.told) tell_(open.sweep);
    places_.erase(open.sweep.id);
    open_.erase(place);
}

bool AuditReader::fits(const AuditedAct& act) const {
    return !query_.since || !act.seconds_since_1970 || *act.seconds_since_1970 >= *query_.since;
}

void AuditReader::finish() {
    if (!line_.empty() || too_long_) end_line(false);
    while (!open_.empty()) close(open_.begin());
}

}  // namespace cleanslate::controller
