#include "agentless/nvidia_smi_cells.hpp"

#include <algorithm>
#include <array>

#include "agentless/nvidia_smi.hpp"
#include "agentless/nvidia_smi_optional.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::int64_t most_mebibytes = std::int64_t{1} << 40;
constexpr std::uint64_t last_index = 1023;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::size_t hex_run(std::string_view text, std::size_t from) {
    std::size_t end = from;
    while (end < text.size() && is_hex(text[end])) ++end;
    return end - from;
}

// ":bus:device.function" at `at`, two hex digits, two, one: its length, or 0.
std::size_t bus_tail(std::string_view text, std::size_t at) {
    constexpr std::size_t length = 8;
    if (text.size() - at < length) return 0;
    const auto t = text.substr(at, length);
    const bool shape = t[0] == ':' && is_hex(t[1]) && is_hex(t[2]) && t[3] == ':' && is_hex(t[4]) &&
                       is_hex(t[5]) && t[6] == '.' && is_hex(t[7]);
    return shape ? length : 0;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> column_aliases{{
    {"gpu_uuid", "uuid"},
    {"gpu_bus_id", "pci.bus_id"},
    {"gpu_name", "name"},
    {"used_memory", "used_gpu_memory"},
    {"memory_used", "memory.used"},
}};

constexpr std::array<std::string_view, 11> known_columns{
    "index",  "uuid", "pci.bus_id", "memory.used",     "memory.total", "temperature.gpu",
    "pstate", "name", "pid",        "used_gpu_memory", "process_name"};

// "memory.used [GiB]": numbers below it are not what they are taken for.
bool is_other_memory_unit(std::string_view low, std::size_t unit) {
    const auto name = low.substr(0, unit);
    const bool memory = name.starts_with("memory") || name.starts_with("used_");
    return memory && trim(low.substr(unit)) != "[mib]";
}

// "00000000-1111-2222-3333-444444444444".
bool is_uuid_text(std::string_view text) {
    constexpr std::string_view shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    return std::ranges::equal(text, shape, [](char c, char s) { return s == 'x' ? is_hex(c) : c == s; });
}

// "/7/0" behind the GPU's uuid: GPU instance and compute instance.
bool is_instance_path(std::string_view text) {
    const auto numbers = split(text, '/');
    return numbers.size() == 3 && numbers[0].empty() && read_index(numbers[1]) && read_index(numbers[2]);
}

}  // namespace

CellReading read_cell(std::string_view cell) {
    // No failure text is longer; a long cell (a process name, noise) is not copied.
    if (cell.size() > 128) return {};
    const std::string low = lowered(trim(cell));
    const auto has = [&](std::string_view part) { return low.find(part) != std::string::npos; };
    if (has("requires reset")) return {CellKind::sick, "gpu-requires-reset"};
    if (has("is lost")) return {CellKind::sick, "gpu-lost"};
    if (has("off the bus")) return {CellKind::sick, "gpu-lost"};
    if (has("unknown error")) return {CellKind::sick, "gpu-unknown-error"};
    if (low == "err!" || low == "[err!]") return {CellKind::sick, "gpu-unknown-error"};
    if (has("insufficient permissions")) return {CellKind::refused, "permission-refused"};
    if (low == "n/a" || low == "[n/a]" || low == "not supported" || low == "[not supported]" ||
        low == "[requested functionality has been deprecated]" || low == "[function not found]")
        return {CellKind::not_supported, {}};
    if (low.empty() || low.front() == '[') return {CellKind::other_failure, {}};
    return {};
}

std::optional<Mebibytes> read_mebibytes(std::string_view cell) {
    constexpr std::string_view unit = " MiB";
    if (cell.ends_with(unit)) cell.remove_suffix(unit.size());
    if (cell.size() > 1 && cell.front() == '0') return std::nullopt;
    const auto number = parse_number(cell);
    if (!number || *number > static_cast<std::uint64_t>(most_mebibytes)) return std::nullopt;
    return Mebibytes{static_cast<std::int64_t>(*number)};
}

std::optional<int> read_index(std::string_view cell) {
    if (cell.size() > 1 && cell.front() == '0') return std::nullopt;
    const auto number = parse_number(cell);
    if (!number || *number > last_index) return std::nullopt;
    return static_cast<int>(*number);
}

bool is_uuid(std::string_view cell) {
    constexpr std::string_view gpu = "GPU-", mig = "MIG-";
    constexpr std::size_t length = 36;
    if (cell.starts_with(gpu) || (cell.starts_with(mig) && !cell.substr(mig.size()).starts_with(gpu)))
        return is_uuid_text(cell.substr(gpu.size()));
    if (!cell.starts_with(mig)) return false;
    cell.remove_prefix(mig.size() + gpu.size());
    return is_uuid_text(cell.substr(0, length)) &&
           is_instance_path(cell.substr(std::min(length, cell.size())));
}

bool is_bus_id_cell(std::string_view cell) {
    const auto domain = cell.find(':');
    return (domain == 4 || domain == 8) && !normal_bus_id(cell).empty();
}

bool is_performance_state(std::string_view cell) {
    if (cell.size() < 2 || cell.size() > 3 || cell.front() != 'P') return false;
    if (cell.size() > 2 && cell[1] == '0') return false;
    const auto number = parse_number(cell.substr(1));
    return number && *number <= 15;
}

bool is_pid_list(std::string_view text) {
    return text.find_first_not_of("0123456789 \t") == std::string_view::npos &&
           text.find_first_of("0123456789") != std::string_view::npos;
}

std::string normal_column(std::string_view column) {
    std::string low = lowered(trim(column).substr(0, 64));
    if (const auto unit = low.find(" ["); unit != std::string::npos && !is_other_memory_unit(low, unit))
        low.resize(unit);
    for (const auto& [alias, normal] : column_aliases)
        if (low == alias) return std::string(normal);
    for (const auto& field : optional_fields())
        if (low == field.older) return std::string(field.name);
    return low;
}

bool is_known_column(std::string_view normal) {
    return std::ranges::find(known_columns, normal) != known_columns.end() || is_optional_column(normal);
}

std::string lowered(std::string_view text) {
    std::string low(text);
    for (char& c : low)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return low;
}

std::string single_blanks(std::string_view text) {
    std::string single;
    for (const char c : trim(text)) {
        const bool blank = c == ' ' || c == '\t';
        if (!blank)
            single += c;
        else if (!single.ends_with(' '))
            single += ' ';
    }
    return single;
}

std::string normal_bus_id(std::string_view text) {
    const auto domain = hex_run(text, 0);
    if (domain < 4 || domain > 8) return {};
    if (bus_tail(text, domain) == 0 || text.size() != domain + 8) return {};
    return std::string(8 - domain, '0') + lowered(text);
}

std::string find_bus_id(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto domain = hex_run(text, at);
        if (domain == 0) continue;
        if (domain >= 4 && domain <= 8) {
            if (const auto tail = bus_tail(text, at + domain); tail != 0)
                return normal_bus_id(text.substr(at, domain + tail));
        }
        at += domain;
    }
    return {};
}

std::vector<std::string_view> split_cells(std::string_view line, std::size_t limit) {
    std::vector<std::string_view> cells;
    while (cells.size() + 1 < limit) {
        const auto comma = line.find(',');
        if (comma == std::string_view::npos) break;
        cells.push_back(trim(line.substr(0, comma)));
        line.remove_prefix(comma + 1);
    }
    cells.push_back(trim(line));
    return cells;
}

}  // namespace cleanslate::agentless
