#include "agentless/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "agentless/nvidia_smi_cells.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::size_t max_gpus = 100'000;
constexpr std::int64_t max_index = 1'023;
constexpr std::int64_t max_used_mib = 16 << 20;  // 16 TiB
constexpr std::size_t max_text = 255;            // of a host's name or a driver's version

// The text of one file, and what is wrong with it.
struct Source {
    std::string_view name;

    std::unexpected<Error> wrong(yaml::Mark mark, std::string_view problem, std::string remedy = {}) const {
        return fail("baseline", fmt::format("{}: {}", yaml::place(name, mark), problem), std::move(remedy));
    }
    // An error of the YAML reader begins with its place already.
    std::unexpected<Error> wrong(Error error) const {
        error.kind = "baseline";
        return std::unexpected(std::move(error));
    }
    std::unexpected<Error> unknown_key(const yaml::Node& key, const std::vector<std::string>& known) const {
        const auto near = yaml::nearest(key.text(), known);
        return wrong(key.mark, fmt::format("unknown key {}", ellipsize(printable(key.text()), 60)),
                     near.empty() ? fmt::format("known are {}", fmt::join(known, ", "))
                                  : fmt::format("did you mean {}?", near));
    }
};

Status read_number(const Source& source, const yaml::Node& node, std::string_view what, std::int64_t most,
                   auto& slot) {
    const auto number = yaml::as_integer(node, source.name, what);
    if (!number) return source.wrong(number.error());
    if (*number < 0 || *number > most)
        return source.wrong(node.mark, fmt::format("{}: {} is out of range", what, *number),
                            fmt::format("0 to {}", most));
    slot = *number;
    return {};
}

Status read_text(const Source& source, const yaml::Node& node, std::string_view what, std::string& slot) {
    auto text = yaml::as_text(node, source.name, what);
    if (!text) return source.wrong(text.error());
    if (text->size() > max_text)
        return source.wrong(node.mark, fmt::format("{}: more than {} bytes", what, max_text));
    slot = std::move(*text);
    return {};
}

Result<BaselineGpu> read_gpu(const Source& source, const yaml::Node& node) {
    static const std::vector<std::string> known{"host", "index", "used_mib", "driver"};
    if (!node.is_mapping())
        return source.wrong(node.mark, fmt::format("found {} where a GPU belongs", yaml::describe(node)),
                            "write {host: gpu01, index: 0, used_mib: 4, driver: \"580.95.05\"}");
    BaselineGpu gpu;
    std::int64_t index = 0;
    std::array<bool, 4> seen{};
    for (const auto& [key, value] : node.entries()) {
        const auto place = std::ranges::find(known, key.text()) - known.begin();
        if (place == static_cast<std::ptrdiff_t>(known.size())) return source.unknown_key(key, known);
        seen[static_cast<std::size_t>(place)] = true;
        const Status read = place == 0   ? read_text(source, value, key.text(), gpu.host)
                            : place == 1 ? read_number(source, value, key.text(), max_index, index)
                            : place == 2
                                ? read_number(source, value, key.text(), max_used_mib, gpu.used.count)
                                : read_text(source, value, key.text(), gpu.driver);
        if (!read) return std::unexpected(read.error());
    }
    for (std::size_t i = 0; i < 3; ++i)  // all but the driver
        if (!seen[i]) return source.wrong(node.mark, fmt::format("no {} for this GPU", known[i]));
    gpu.index = static_cast<int>(index);
    return gpu;
}

Status read_version(const Source& source, const yaml::Node& root) {
    const auto* version = root.find("version");
    if (version == nullptr)
        return source.wrong(root.mark, "no version: this is no baseline",
                            "record one: cleanslate baseline -o FILE");
    const auto number = yaml::as_integer(*version, source.name, "version");
    if (!number) return source.wrong(number.error());
    if (*number != 1)
        return source.wrong(version->mark, fmt::format("version {} is not known to this program", *number),
                            "version 1 is");
    return {};
}

// The driver writes uuids in lower case; whoever copied one by hand may not have.
std::string normal_uuid(std::string_view uuid) {
    std::string normal(uuid);
    for (char& c : normal)
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');  // the prefixes have none of these
    return normal;
}

Status read_gpus(const Source& source, const yaml::Node& node, Baseline& baseline) {
    // One that records nothing would leave every GPU to the usual limit without a word.
    if (!node.is_mapping() || node.entries().empty())
        return source.wrong(node.mark, "no GPU is recorded here", "record some: cleanslate baseline -o FILE");
    if (node.entries().size() > max_gpus)
        return source.wrong(node.mark, fmt::format("more than {} GPUs", max_gpus));
    for (const auto& [key, value] : node.entries()) {
        if (!is_uuid(key.text()))
            return source.wrong(key.mark, fmt::format("{} is no uuid", ellipsize(printable(key.text()), 60)),
                                "write it as nvidia-smi -L shows it: GPU-...");
        auto gpu = read_gpu(source, value);
        if (!gpu) return std::unexpected(gpu.error());
        if (!baseline.gpus.emplace(normal_uuid(key.text()), std::move(*gpu)).second)
            return source.wrong(key.mark, fmt::format("{} is there twice", key.text()));
    }
    return {};
}

// In double quotes. What is not printable is written as text.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : printable(text)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

}  // namespace

Result<Baseline> parse_baseline(std::string_view yaml, std::string_view name) {
    const Source source{name};
    const auto document = yaml::parse(yaml, name);
    if (!document) return source.wrong(document.error());
    const yaml::Node& root = document->root();
    if (!root.is_mapping())
        return source.wrong(root.mark, fmt::format("found {} where a baseline belongs", describe(root)),
                            "record one: cleanslate baseline -o FILE");
    if (auto version = read_version(source, root); !version) return std::unexpected(version.error());
    Baseline baseline;
    for (const auto& [key, value] : root.entries()) {
        if (key.text() == "version") continue;
        if (key.text() != "gpus") return source.unknown_key(key, {"version", "gpus"});
        if (auto read = read_gpus(source, value, baseline); !read) return std::unexpected(read.error());
    }
    if (baseline.gpus.empty())
        return source.wrong(root.mark, "no gpus: this is no baseline",
                            "record one: cleanslate baseline -o FILE");
    return baseline;
}

std::string write_baseline(const Baseline& baseline, std::string_view comment) {
    std::vector<const std::pair<const std::string, BaselineGpu>*> order;
    for (const auto& entry : baseline.gpus) order.push_back(&entry);
    std::ranges::stable_sort(order, {}, [](const auto* entry) {
        return std::tuple<const std::string&, int>(entry->second.host, entry->second.index);
    });
    std::string out = fmt::format("# {}\nversion: 1\ngpus:\n", printable(comment));
    for (const auto* entry : order) {
        const auto& [uuid, gpu] = *entry;
        out += fmt::format("  {}: {{host: {}, index: {}, used_mib: {}", printable(uuid), quoted(gpu.host),
                           gpu.index, gpu.used.count);
        if (!gpu.driver.empty()) out += fmt::format(", driver: {}", quoted(gpu.driver));
        out += "}\n";
    }
    return out;
}

}  // namespace cleanslate::agentless
