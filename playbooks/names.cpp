#include "playbooks/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/text.hpp"

namespace cleanslate::playbooks {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view digits = "0123456789";
constexpr std::string_view hex = "0123456789abcdef";
constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::uint64_t max_gpu_index = 1023;
constexpr std::uint64_t max_id = 4'294'967'294;  // of a user; one more is "no user"
constexpr std::size_t min_container_id = 12, max_container_id = 64;
constexpr std::size_t max_name = 255;  // of a unit, an account or a file
constexpr std::size_t meant_at_least = 3;

std::string shown(std::string_view text) { return ellipsize(printable(text), 60); }

bool all_of(std::string_view text, std::string_view alphabet) {
    return !text.empty() && text.find_first_not_of(alphabet) == std::string_view::npos;
}

bool is_word(char c) {
    return letters.find(c) != std::string_view::npos || digits.find(c) != std::string_view::npos;
}

// Digits as a program prints them: 010 is 8 to some and 10 to others.
bool is_number(std::string_view text, std::uint64_t most) {
    const auto number = parse_number(text);
    return number && *number <= most && (text.size() == 1 || text[0] != '0');
}

// 8-4-4-4-12 digits.
bool is_uuid(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : hex.find(text[i]) == std::string_view::npos) return false;
    }
    return true;
}

void to_lower(std::string& text, std::size_t from = 0) {
    for (std::size_t i = from; i < text.size(); ++i)
        if (text[i] >= 'A' && text[i] <= 'Z') text[i] = static_cast<char>(text[i] - 'A' + 'a');
}

Misnamed misnamed(std::string_view name, std::string_view wrong, std::string_view right) {
    return {name.empty() ? std::string("an empty entry") : fmt::format("`{}` {}", shown(name), wrong),
            std::string(right)};
}

bool is_none_or_any(std::string_view name) { return name == "none" || name == "any"; }

bool has_unit_letters(std::string_view name) {
    return name.size() <= max_name && !name.empty() && name[0] != '-' && name[0] != '.' &&
           std::ranges::all_of(
               name, [](char c) { return is_word(c) || ":_.\\@-"sv.find(c) != std::string_view::npos; });
}

bool has_ending(std::string_view name, std::string_view ending) {
    return name.size() > ending.size() && name.ends_with(ending);
}

}  // namespace

std::optional<Misnamed> check_gpu(std::string& name) {
    if (name.starts_with("MIG-"))
        return misnamed(name, "is a MIG instance, and the driver counts memory and holders by the whole GPU",
                        "name the GPU that it is a part of: `nvidia-smi -L` shows both");
    constexpr std::string_view right =
        "write indexes from 0 to 1023 or whole uuids (GPU-...), as `nvidia-smi -L` shows them: [0, 3], or "
        "'0,3'";
    if (name.starts_with("GPU-")) {
        to_lower(name, 4);
        if (is_uuid(std::string_view(name).substr(4))) return std::nullopt;
        return misnamed(name, "is no whole uuid", right);
    }
    if (is_number(name, max_gpu_index)) return std::nullopt;
    return misnamed(name, "is neither the index nor the uuid of a GPU", right);
}

std::optional<Misnamed> check_account(std::string& name) {
    constexpr std::string_view right =
        "write a name as `getent passwd` shows it, or a uid in digits from 0 to 4294967294";
    if (all_of(name, digits)) {
        if (is_number(name, max_id)) return std::nullopt;
        return misnamed(name, "is no uid", right);
    }
    const bool plain = std::ranges::all_of(name,
                                           [](char c) {
                                               return is_word(c) ||
                                                      "_.-@\\$"sv.find(c) != std::string_view::npos ||
                                                      static_cast<unsigned char>(c) >= 0x80;
                                           }) &&
                       name == printable(name);
    if (!name.empty() && name.size() <= max_name && name[0] != '-' && plain) return std::nullopt;
    return misnamed(name, "is no name of an account", right);
}

std::optional<Misnamed> check_slurm_job(std::string& name) {
    if (is_none_or_any(name) || (is_number(name, max_id) && name != "0")) return std::nullopt;
    return misnamed(name, "is no id of a Slurm job",
                    "write none, any, or ids in digits; `squeue -O JobID` shows those of array tasks, too");
}

std::optional<Misnamed> check_pod(std::string& name) {
    if (is_none_or_any(name)) return std::nullopt;
    to_lower(name);
    // One that the kubelet read from a file has 32 digits.
    if (is_uuid(name) || (name.size() == 32 && all_of(name, hex))) return std::nullopt;
    return misnamed(name, "is no uid of a pod",
                    "write none, any, or uids: `kubectl get pod NAME -o jsonpath={.metadata.uid}` shows one");
}

std::optional<Misnamed> check_container(std::string& name) {
    if (is_none_or_any(name)) return std::nullopt;
    if (name.size() >= min_container_id && name.size() <= max_container_id && all_of(name, hex))
        return std::nullopt;
    return misnamed(name, "is no id of a container",
                    "write none, any, or the first 12 or more hex digits of ids, as `docker ps` and `podman "
                    "ps` show them");
}

std::optional<Misnamed> check_unit(std::string& name) {
    if (is_none_or_any(name)) return std::nullopt;
    if (name == "*") return misnamed(name, "would be any unit", "write `any`");
    if (name.starts_with("session-") && !name.ends_with(".service"))
        return misnamed(name, "is a login session and no unit of its own",
                        "pick it by `cgroup: /session-3[.]scope`, or whoever was left behind by `orphaned: "
                        "true`");
    const bool open_end = name.ends_with('*');
    const std::string_view fixed = std::string_view(name).substr(0, name.size() - (open_end ? 1 : 0));
    if (has_unit_letters(fixed) && (open_end || has_ending(name, ".service") || has_ending(name, ".scope")))
        return std::nullopt;
    const bool bare = has_unit_letters(name) && name.find('.') == std::string::npos;
    return misnamed(
        name, "is no name of a unit",
        bare ? fmt::format("did you mean `{}.service`? none, any and `{}*` are right, too", name, name)
             : "write none, any, or names that end in .service or .scope; a * may stand at the end");
}

std::optional<Misnamed> check_daemon(std::string& name) {
    for (const std::string_view way_in : {"ssh.service", "sshd.service", "dropbear.service"})
        if (name == way_in)
            return misnamed(name, "is the way in: once it is stopped, nobody could start it again",
                            "leave it out: it has no GPU open");
    if (has_unit_letters(name) && has_ending(name, ".service") && name.find('\\') == std::string::npos)
        return std::nullopt;
    const bool bare = has_unit_letters(name) && name.find_first_of("\\.") == std::string::npos;
    return misnamed(name, "is no name of a service",
                    bare ? fmt::format("did you mean `{}.service`?", name)
                         : "write whole names such as nvidia-persistenced.service");
}

std::optional<Misnamed> check_shm_name(std::string& name) {
    constexpr std::string_view right =
        "write names right in /dev/shm, of letters, digits and . _ - with * and ? as in a shell, such as "
        "'nccl-*', 'torch_*' or 'sem.loky-*'";
    for (const char c : name)
        if (!is_word(c) && "._-*?"sv.find(c) == std::string_view::npos)
            return misnamed(name, fmt::format("has the character '{}'", printable({&c, 1})), right);
    if (name.size() > max_name) return misnamed(name, "is longer than a file's name", right);
    if (name.size() >= meant_at_least && std::all_of(name.begin(), name.begin() + meant_at_least, is_word))
        return std::nullopt;
    return misnamed(
        name, "would match too much",
        fmt::format("begin with at least {} letters or digits, such as 'nccl-*'", meant_at_least));
}

}  // namespace cleanslate::playbooks
