#include "inventory/vars_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/files.hpp"
#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_file = 64U << 20;
constexpr int max_depth = 16;
constexpr std::array<std::string_view, 4> endings{"", ".yml", ".yaml", ".json"};  // the first counts

std::unexpected<Error> wrong(const std::string& path, std::string_view problem, std::string remedy = {}) {
    return fail("inventory", fmt::format("{}: {}", printable(path), problem), std::move(remedy));
}

bool is_folder(const fs::path& path) {
    std::error_code failed;
    return fs::is_directory(path, failed);
}

// In the order of their names.
Result<std::vector<std::string>> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
        names.push_back(entry->path().filename().string());
    if (failed) return wrong(folder.string(), failed.message());
    std::ranges::sort(names);
    return names;
}

// The files of a folder of one group or host, and of the folders in it.
Status add_files(const fs::path& folder, int depth, std::vector<std::string>& files) {
    if (depth > max_depth) return wrong(folder.string(), "folders in folders in folders");
    const auto names = names_in(folder);
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
        if (name.starts_with('.') || name.ends_with('~')) continue;
        const fs::path path = folder / name;
        const std::string ending = path.extension().string();
        if (is_folder(path)) {
            if (!ending.empty()) continue;
            if (auto added = add_files(path, depth + 1, files); !added) return added;
        } else if (std::ranges::find(endings, ending) != endings.end()) {
            files.push_back(path.string());
        }
    }
    return {};
}

class Reader {
  public:
    explicit Reader(DraftBuilder& builder) : builder_(builder) {}

    // `add(name, block)` for each file of what `is_known(name)`.
    Status read(const fs::path& folder, auto is_known, auto add) {
        if (!is_folder(folder)) return {};
        const auto names = names_in(folder);
        if (!names) return std::unexpected(names.error());
        std::map<std::string, std::size_t> found;  // name of a group or host -> the first of its endings
        for (const std::string& file : *names)
            for (std::size_t i = 0; i < endings.size(); ++i) {
                if (!file.ends_with(endings[i]) || file.size() == endings[i].size()) continue;
                const std::string name = file.substr(0, file.size() - endings[i].size());
                if (!is_known(name)) continue;
                const auto [place, added] = found.emplace(name, i);
                if (!added) place->second = std::min(place->second, i);
            }
        for (const auto& [name, ending] : found) {
            std::vector<std::string> files;
            const fs::path path = folder / (name + std::string(endings[ending]));
            if (!is_folder(path))
                files.push_back(path.string());
            else if (auto listed = add_files(path, 0, files); !listed)
                return listed;
            for (const std::string& file : files)
                if (auto read = read_file_of(file, name, add); !read) return read;
        }
        return {};
    }

  private:
    Status read_file_of(const std::string& file, const std::string& name, auto add) {
        std::error_code failed;
        if (!fs::is_regular_file(file, failed))
            return fail("inventory", fmt::format("{}: is no file", printable(file)),
                        "take it out of the folder");
        const auto text = read_file(file, max_file);
        if (!text) return std::unexpected(text.error());
        if (text->starts_with("$ANSIBLE_VAULT;")) {
            add(name, builder_.locked(file));
            return {};
        }
        auto document = yaml::parse(*text, file);
        if (!document) return std::unexpected(document.error());
        const auto block = builder_.beside(file, std::move(*document));
        if (!block) return std::unexpected(block.error());
        if (block->count > 0) add(name, *block);
        return {};
    }

    DraftBuilder& builder_;
};

}  // namespace

Status read_vars_files(const std::vector<std::string>& folders, DraftBuilder& builder) {
    Draft& draft = builder.draft();
    Reader reader(builder);
    for (std::uint32_t number = 0; number < folders.size(); ++number) {
        const fs::path folder = folders[number];
        auto read = reader.read(
            folder / "group_vars", [&](const std::string& name) { return draft.group_index.contains(name); },
            [&](const std::string& name, Draft::Block block) {
                draft.groups[draft.group_index.at(name)].beside.push_back({number, block});
            });
        if (!read) return read;
        read = reader.read(
            folder / "host_vars", [&](const std::string& name) { return draft.host_index.contains(name); },
            [&](const std::string& name, Draft::Block block) {
                draft.beside_hosts[draft.host_index.at(name)].push_back({number, block});
            });
        if (!read) return read;
    }
    return {};
}

}  // namespace cleanslate::inventory
