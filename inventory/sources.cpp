#include "inventory/sources.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/files.hpp"
#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_file = 64U << 20;
constexpr std::size_t max_files = 10'000;
constexpr int max_depth = 16;
constexpr std::string_view ansible_prefix = "ansible:";

std::unexpected<Error> wrong(const std::string& path, std::string_view problem, std::string remedy = {}) {
    return std::unexpected(
        Error{"inventory", "inventory", fmt::format("{}: {}", printable(path), problem), std::move(remedy)});
}

bool is_folder(const std::string& path) {
    std::error_code failed;
    return fs::is_directory(path, failed);
}

enum class Nature { text, program, locked_program };

// A file that may be run and says how. The bit alone proves nothing: some file systems set it everywhere.
Nature nature_of(const std::string& path, const struct stat& status) {
    if (!S_ISREG(status.st_mode)) return Nature::text;
    char head[4] = {};
    std::ifstream(path, std::ios::binary).read(head, sizeof head);
    const std::string_view begin(head, sizeof head);
    if (!begin.starts_with("#!") && begin !=
                                        "\x7f"
                                        "ELF")
        return Nature::text;
    return ::access(path.c_str(), X_OK) == 0 ? Nature::program : Nature::locked_program;
}

class Reader {
  public:
    explicit Reader(Programs& programs) : programs_(programs) {}

    Status add(const std::string& path) {
        if (path.starts_with(ansible_prefix)) return add_ansibles(path.substr(ansible_prefix.size()));
        if (path == "-") return add_text(path, false);
        const bool folder = is_folder(path);
        const auto parent = fs::path(path).parent_path().string();
        add_folder_of_variables(folder ? path : parent.empty() ? "." : parent);
        if (!folder) return add_file(path, false);
        const std::size_t before = sources_.all.size(), passed_before = passed_.size();
        auto added = add_folder(path, 0);
        if (!added) return added;
        const std::vector<std::string> passed(passed_.begin() + static_cast<std::ptrdiff_t>(passed_before),
                                              passed_.end());
        const auto below = [&](const std::string& file) {
            return printable(fs::path(file).lexically_relative(path).string());
        };
        if (sources_.all.size() == before)
            return passed.empty()
                       ? wrong(path, "no inventory is in this folder", "name a file, or another folder")
                       : wrong(path,
                               fmt::format(
                                   "no inventory is in this folder but {}, which Ansible passes over there",
                                   below(passed.front())),
                               fmt::format("let Ansible read that file: -i ansible:{}",
                                           printable(passed.front())));
        for (const std::string& file : passed)
            sources_.notes.push_back(
                fmt::format("{}: {} is passed over, as Ansible does", printable(path), below(file)));
        return {};
    }

    Sources take() { return std::move(sources_); }

  private:
    void add_folder_of_variables(const std::string& folder) {
        std::error_code failed;
        const auto same = [&](const std::string& other) { return fs::equivalent(folder, other, failed); };
        std::erase_if(sources_.folders, same);  // what is read again counts where it is read last
        sources_.folders.push_back(folder);
    }

    Status add_answer(const std::string& name, Result<std::string> answer) {
        if (!answer) return std::unexpected(in_phase(answer.error(), "inventory"));
        sources_.all.push_back({Source::Form::listing, name, std::move(*answer), false});
        return {};
    }

    Status add_ansibles(const std::string& path) {
        if (path.empty())
            return wrong("ansible:", "names no inventory",
                         "write ansible:PATH, a file or folder of Ansible's");
        return add_answer(fmt::format("ansible-inventory -i {}", path), programs_.ansible_inventory(path));
    }

    Status add_text(const std::string& path, bool in_folder) {
        auto text = read_file(path, max_file);
        if (!text)
            return std::unexpected(Error{"inventory", "inventory", text.error().message,
                                         text.error().remedy.empty() && path.find(',') != path.npos
                                             ? "hosts outright are named with -H"
                                             : text.error().remedy});
        sources_.all.push_back(
            {Source::Form::groups, path == "-" ? "standard input" : path, std::move(*text), in_folder});
        return {};
    }

    // Another ending is a leftover (hosts.yml.old) or no inventory yet (hosts.yml.j2). Ansible passes over it
    // with a warning at most; to read it would let it win over what it is a copy of.
    Status add_text_of_folder(const std::string& path) {
        constexpr std::array<std::string_view, 4> endings{"", ".yml", ".yaml", ".json"};
        if (std::ranges::find(endings, fs::path(path).extension().string()) != endings.end())
            return add_text(path, true);
        return wrong(
            path, "has an ending with which Ansible does not read it as YAML",
            fmt::format("rename it, or move it out of the folder; where it has a form that only Ansible "
                        "reads (INI), let Ansible read the folder: -i ansible:{}",
                        printable(fs::path(path).parent_path().string())));
    }

    Status add_file(const std::string& path, bool in_folder) {
        struct stat status {};
        if (::stat(path.c_str(), &status) != 0) return add_text(path, in_folder);  // which says why
        if (in_folder && !S_ISREG(status.st_mode))
            return wrong(path, "is no file", "take it out of the folder");
        const Nature nature = nature_of(path, status);
        if (nature == Nature::text) return in_folder ? add_text_of_folder(path) : add_text(path, false);
        if (nature == Nature::locked_program)
            return wrong(path, "is a program, and may not be run here", "chmod +x it");
        if ((status.st_mode & S_IWOTH) != 0)
            return wrong(path, "is a program that everybody may write to: it is not run", "chmod o-w it");
        if (status.st_uid != 0 && status.st_uid != ::geteuid())
            return wrong(path, "is a program of another user's, neither yours nor root's: it is not run",
                         "chown it, or run this as its owner");
        return add_answer(path, programs_.script(path));
    }

    Status add_folder(const std::string& folder, int depth) {
        if (depth > max_depth) return wrong(folder, "folders in folders in folders");
        std::error_code failed;
        std::vector<std::string> names;
        for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
             entry.increment(failed))
            names.push_back(entry->path().filename().string());
        if (failed) return wrong(folder, failed.message());
        std::ranges::sort(names);
        for (const std::string& name : names) {
            if (!name.starts_with('.') && (name.ends_with(".ini") || name.ends_with(".cfg")) &&
                passed_.size() < max_files)
                passed_.push_back((fs::path(folder) / name).string());
            if (is_ignored(name)) continue;
            if (++files_ > max_files) return wrong(folder, fmt::format("more than {} files", max_files));
            const std::string path = (fs::path(folder) / name).string();
            auto added = is_folder(path) ? add_folder(path, depth + 1) : add_file(path, true);
            if (!added) return added;
        }
        return {};
    }

    Programs& programs_;
    Sources sources_;
    std::vector<std::string> passed_;  // files that were likely meant to be read
    std::size_t files_ = 0;
};

}  // namespace

bool is_ignored(std::string_view name) {
    constexpr std::array<std::string_view, 13> endings{"~",    ".pyc", ".pyo",  ".swp", ".bak",
                                                       ".rpm", ".md",  ".txt",  ".rst", ".orig",
                                                       ".ini", ".cfg", ".retry"};
    return name.starts_with('.') || name == "host_vars" || name == "group_vars" || name == "vars_plugins" ||
           std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

Result<Sources> read_sources(const std::vector<std::string>& paths, Programs& programs) {
    Reader reader(programs);
    for (const std::string& path : paths)
        if (auto added = reader.add(path); !added) return std::unexpected(added.error());
    return reader.take();
}

}  // namespace cleanslate::inventory
