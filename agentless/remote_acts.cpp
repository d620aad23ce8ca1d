// The scripts that act on a host beyond signals: its lock, resets, files in /dev/shm, a reboot.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "agentless/record_values.hpp"
#include "agentless/records.hpp"
#include "agentless/remote.hpp"
#include "agentless/remote_text.hpp"
#include "remote_scripts.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::int64_t day_ms = 86'400'000;

std::int64_t milliseconds(Milliseconds duration, std::int64_t least) {
    return std::clamp<std::int64_t>(duration.count(), least, day_ms);
}

// Escaped as the records' values are, and everything else that a shell could take for more than a letter,
// too.
std::string escaped_plainly(std::string_view text) {
    constexpr std::size_t most = 300;
    std::string out;
    for (const char c : text.substr(0, most)) {
        if (is_made_of({&c, 1}, "@.,:_-"))
            out += c;
        else
            out += fmt::format("%{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
    return out;
}

// A number up to 1000; absent for -. False for anything else.
bool read_status(std::string_view text, std::optional<int>& status) {
    status = as_number(text, 1000);
    return status || text == "-";
}

// --- lock ------------------------------------------------------------------------------------------------

std::optional<LockReport> read_lock_record(const Record& record) {
    const auto& values = record.values;
    if (record.word != "lock" || values.size() < 3 || values.size() > 4) return std::nullopt;
    LockReport report;
    const auto waited = as_number(values.back(), std::numeric_limits<int>::max());
    if (!waited) return std::nullopt;
    report.waited = Milliseconds(*waited);
    if (values[0] == "taken" && values.size() == 4) {
        const auto key = read_key(values[1], values[2]);
        if (!key) return std::nullopt;
        report.result = LockReport::Result::taken;
        report.keeper = *key;
    } else if (values[0] == "busy" && values.size() == 3) {
        report.result = LockReport::Result::busy;
        report.holder = text_of(values[1]);
    } else if (values[0] == "unavailable" && values.size() == 3) {
        report.reason = text_of(values[1]);
    } else {
        return std::nullopt;
    }
    return report;
}

// --- reset -----------------------------------------------------------------------------------------------

bool is_unit_name(std::string_view name) {
    return !name.empty() && name.size() <= 256 && name[0] != '-' && is_made_of(name, ":_.@-\\");
}

bool is_bus_id(std::string_view text) {
    return !text.empty() && text.size() <= 32 &&
           text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

std::string list_of(const std::vector<std::string>& items, bool (*fits)(std::string_view)) {
    std::vector<std::string_view> kept;
    for (const auto& item : items)
        if (fits(item)) kept.push_back(item);
    return fmt::format("'{}'", fmt::join(kept, " "));
}

bool read_unit(const Record& record, ResetReport& report) {
    const auto& values = record.values;
    if (values.size() != 3 || (values[1] != "0" && values[1] != "1")) return false;
    ResetReport::Unit unit{text_of(values[0]), values[1] == "1", {}, {}};
    if (std::ranges::find(report.units, unit.name, &ResetReport::Unit::name) != report.units.end())
        return false;
    if (!read_status(values[2], unit.stop_status)) return false;
    report.units.push_back(std::move(unit));
    return true;
}

bool read_started(const Record& record, ResetReport& report) {
    if (record.values.size() != 2) return false;
    const auto unit = std::ranges::find(report.units, text_of(record.values[0]), &ResetReport::Unit::name);
    return unit != report.units.end() && unit->was_active && !unit->start_status &&
           read_status(record.values[1], unit->start_status);
}

bool read_reset_gpu(const Record& record, ResetReport& report) {
    constexpr std::size_t most_text = 2000;
    const auto& values = record.values;
    if (values.size() != 3) return false;
    ResetReport::Gpu gpu{text_of(values[0]), {}, text_of(values[2])};
    if (gpu.text.size() > most_text || !read_status(values[1], gpu.status)) return false;
    if (std::ranges::find(report.gpus, gpu.bus_id, &ResetReport::Gpu::bus_id) != report.gpus.end())
        return false;
    report.gpus.push_back(std::move(gpu));
    return true;
}

bool read_reset_record(const Record& record, ResetReport& report) {
    if (record.word == "unit") return read_unit(record, report);
    if (record.word == "started") return read_started(record, report);
    if (record.word == "gpu") return read_reset_gpu(record, report);
    if (record.word == "missing" && record.values.size() == 1) return report.no_systemctl = true;
    if (record.word == "refused" && record.values.size() == 1) return report.other_boot = true;
    return false;
}

// --- shm -------------------------------------------------------------------------------------------------

bool is_name_in_folder(std::string_view name) {
    return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
           name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

// For printf's %b, and as a pattern: neither has a byte that means anything to a shell within quotes, or to
// the lists that the script makes of it.
std::string shm_entry(const ShmFile& file) {
    std::string octal, pattern;
    for (const char c : file.name) {
        const bool safe = is_made_of({&c, 1}, "._-");
        octal += safe ? std::string(1, c)
                      : fmt::format("\\0{:03o}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        pattern += safe ? c : '?';
    }
    return fmt::format("{}:{}:{}:{}:{}:{}", file.device, file.inode, file.bytes, file.changed, octal,
                       pattern);
}

std::optional<ShmReport::Result> read_shm_result(std::string_view word) {
    using enum ShmReport::Result;
    static const std::map<std::string_view, ShmReport::Result> words{
        {"removed", removed},       {"gone", gone},
        {"changed", changed},       {"in-use", in_use},
        {"unreadable", unreadable}, {"not-permitted", not_permitted}};
    const auto found = words.find(word);
    if (found == words.end()) return std::nullopt;
    return found->second;
}

std::optional<ShmReport::File> read_shm_file(const Record& record) {
    const auto& values = record.values;
    if (record.word != "file" || values.size() != 3) return std::nullopt;
    const auto device = parse_number(values[0]);
    const auto inode = parse_number(values[1]);
    const auto result = read_shm_result(values[2]);
    if (!device || !inode || !result) return std::nullopt;
    return ShmReport::File{*device, *inode, *result};
}

}  // namespace

std::string lock_script(const LockRequest& request, std::string_view nonce) {
    return fmt::format("nonce={}\nact=take\nwho={}\nwait_ms={}\nkeep_ms={}\nkeeper=\n", plain(nonce),
                       escaped_plainly(request.who), milliseconds(request.wait, 0),
                       milliseconds(request.keep, 1000))
        .append(scripts::process_sh)
        .append(scripts::acts_sh)
        .append(scripts::lock_sh);
}

// One that was taken counts also where the end did not come: it must be given back.
Result<LockReport> read_lock(std::string_view out, std::string_view nonce) {
    const auto frame = read_frame(out, nonce);
    if (!frame) return std::unexpected(frame.error());
    const auto report =
        frame->records.size() == 1 ? read_lock_record(frame->records.front()) : std::optional<LockReport>{};
    if (report && (frame->complete || report->result == LockReport::Result::taken)) return *report;
    return fail("protocol", "what the lock's script printed is not as the protocol has it" +
                                (frame->problem.empty() ? "" : ": " + frame->problem));
}

std::string release_script(ProcessKey keeper, std::string_view nonce) {
    return fmt::format("nonce={}\nact=release\nwho=\nwait_ms=0\nkeep_ms=0\nkeeper={}:{}\n", plain(nonce),
                       keeper.pid > 1 ? keeper.pid : 0, keeper.start)
        .append(scripts::process_sh)
        .append(scripts::acts_sh)
        .append(scripts::lock_sh);
}

Result<bool> read_release(std::string_view out, std::string_view nonce) {
    const auto frame = read_frame(out, nonce);
    if (!frame) return std::unexpected(frame.error());
    if (frame->complete && frame->records.size() == 1) {
        const auto& [word, values] = frame->records.front();
        if (word == "release" && values.size() == 1 && (values[0] == "released" || values[0] == "gone"))
            return values[0] == "released";
    }
    return fail("protocol", "what the lock's script printed is not as the protocol has it");
}

std::string reset_script(const ResetRequest& request, std::string_view nonce) {
    return fmt::format("nonce={}\nboot={}\ntimeout_ms={}\ngpus={}\ndaemons={}\n", plain(nonce),
                       plain(request.boot_id), milliseconds(request.timeout, 1000),
                       list_of(request.bus_ids, is_bus_id), list_of(request.daemons, is_unit_name))
        .append(scripts::process_sh)
        .append(scripts::acts_sh)
        .append(scripts::reset_sh);
}

Result<ResetReport> read_reset(std::string_view out, std::string_view nonce) {
    const auto frame = read_frame(out, nonce);
    if (!frame) return std::unexpected(frame.error());
    ResetReport report;
    report.complete = frame->complete;
    for (const auto& record : frame->records) {
        if (read_reset_record(record, report)) continue;
        report.complete = false;
        break;
    }
    return report;
}

std::string shm_script(const ShmRequest& request, std::string_view nonce) {
    std::vector<std::string> entries;
    for (const auto& file : request.files)
        if (is_name_in_folder(file.name)) entries.push_back(shm_entry(file));
    return fmt::format("nonce={}\nboot={}\nfiles='{}'\n", plain(nonce), plain(request.boot_id),
                       fmt::join(entries, " "))
        .append(scripts::process_sh)
        .append(scripts::leftovers_sh)
        .append(scripts::acts_sh)
        .append(scripts::shm_sh);
}

Result<ShmReport> read_shm(std::string_view out, std::string_view nonce) {
    const auto frame = read_frame(out, nonce);
    if (!frame) return std::unexpected(frame.error());
    ShmReport report;
    report.complete = frame->complete;
    for (const auto& record : frame->records) {
        const auto file = read_shm_file(record);
        if (!file) {  // a cut, too
            report.complete = false;
            break;
        }
        report.files.push_back(*file);
    }
    return report;
}

std::string reboot_script(std::string_view boot_id, std::string_view nonce) {
    return fmt::format("nonce={}\nboot={}\n", plain(nonce), plain(boot_id))
        .append(scripts::process_sh)
        .append(scripts::acts_sh)
        .append(scripts::reboot_sh);
}

Result<RebootReport> read_reboot(std::string_view out, std::string_view nonce) {
    const auto frame = read_frame(out, nonce);
    if (!frame) return std::unexpected(frame.error());
    RebootReport report;
    if (frame->records.size() != 1) return report;
    const auto& record = frame->records.front();
    if (record.word != "reboot" || record.values.size() != 2) return report;
    const bool started = record.values[0] == "started";
    if (!started && record.values[0] != "refused") return report;
    report.complete = frame->complete;
    report.started = started;
    report.text = text_of(record.values[1]);
    return report;
}

}  // namespace cleanslate::agentless
