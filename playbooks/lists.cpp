#include "playbooks/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "playbooks/names.hpp"

namespace cleanslate::playbooks {
namespace {

constexpr std::size_t max_entries = 256;

std::string shown(std::string_view text) { return ellipsize(printable(text), 60); }

enum class Commas { split, stay };
enum class Repeats { dropped, refused };

// Reads entries, brings each into its one spelling, and keeps each once.
class List {
  public:
    List(const Reader& in, std::string_view what, NameCheck check) : in_(in), what_(what), check_(check) {}

    Texts read(const yaml::Node& node, Commas commas, Repeats repeats) {
        const auto entries = entries_of(in_, node, what_);
        if (!entries) return std::unexpected(entries.error());
        for (const yaml::Node* entry : *entries) {
            auto text = in_.text(*entry, what_);
            if (!text) return std::unexpected(text.error());
            if (commas == Commas::split && entry == &node) {
                for (const auto part : split(*text, ','))
                    if (auto added = add(*entry, std::string(trim(part)), repeats); !added)
                        return std::unexpected(added.error());
            } else if (auto added = add(*entry, std::move(*text), repeats); !added) {
                return std::unexpected(added.error());
            }
        }
        return std::move(found_);
    }

  private:
    Status add(const yaml::Node& at, std::string text, Repeats repeats) {
        if (auto wrong = check_(text))
            return in_.refuse(at, fmt::format("`{}`: {}", what_, wrong->what), std::move(wrong->remedy));
        if (std::ranges::find(found_, text) != found_.end()) {
            if (repeats == Repeats::dropped) return {};
            return in_.refuse(at, fmt::format("`{}` names {} twice", what_, shown(text)),
                              "take one of them out");
        }
        if (found_.size() == max_entries)
            return in_.refuse(at, fmt::format("`{}` has more than {} entries", what_, max_entries),
                              "name fewer");
        found_.push_back(std::move(text));
        return {};
    }

    const Reader& in_;
    std::string_view what_;
    NameCheck check_;
    std::vector<std::string> found_;
};

NameCheck check_of(Owner kind) {
    switch (kind) {
        case Owner::slurm_job:
            return check_slurm_job;
        case Owner::pod:
            return check_pod;
        case Owner::container:
            return check_container;
        case Owner::unit:
            break;
    }
    return check_unit;
}

}  // namespace

Result<std::vector<const yaml::Node*>> entries_of(const Reader& in, const yaml::Node& node,
                                                  std::string_view what) {
    if (!node.is_sequence()) return std::vector<const yaml::Node*>{&node};
    if (!node.tag().empty()) return in.refuse(node, "tags are not used here", "leave the ! out");
    if (node.items().empty())
        return in.refuse(node, fmt::format("`{}` is an empty list", what),
                         "name at least one, or leave the key out");
    if (node.items().size() > max_entries)
        return in.refuse(node, fmt::format("`{}` has {} entries", what, node.items().size()),
                         fmt::format("name at most {}", max_entries));
    std::vector<const yaml::Node*> entries;
    for (const auto& item : node.items()) entries.push_back(&item);
    return entries;
}

Texts read_patterns(const Reader& in, const yaml::Node& node, std::string_view what) {
    const auto entries = entries_of(in, node, what);
    if (!entries) return std::unexpected(entries.error());
    std::vector<std::string> patterns;
    for (const yaml::Node* entry : *entries) {
        auto pattern = in.pattern(*entry, what);
        if (!pattern) return std::unexpected(pattern.error());
        patterns.push_back(std::move(*pattern));
    }
    return patterns;
}

Texts read_gpus(const Reader& in, const yaml::Node& node, std::string_view what) {
    return List(in, what, check_gpu).read(node, Commas::split, Repeats::refused);
}

Texts read_accounts(const Reader& in, const yaml::Node& node, std::string_view what) {
    return List(in, what, check_account).read(node, Commas::split, Repeats::dropped);
}

Texts read_owners(const Reader& in, const yaml::Node& node, std::string_view what, Owner kind) {
    auto owners = List(in, what, check_of(kind)).read(node, Commas::stay, Repeats::dropped);
    if (owners && owners->size() > 1 && std::ranges::find(*owners, "any") != owners->end())
        return in.refuse(node, fmt::format("`{}` has `any` beside others, which it covers", what),
                         "write `any` alone, or the others without it; `[none, any]` means everybody: leave "
                         "the key out for that");
    return owners;
}

Texts read_daemons(const Reader& in, const yaml::Node& node, std::string_view what) {
    return List(in, what, check_daemon).read(node, Commas::stay, Repeats::refused);
}

Texts read_shm_names(const Reader& in, const yaml::Node& node, std::string_view what) {
    return List(in, what, check_shm_name).read(node, Commas::stay, Repeats::dropped);
}

}  // namespace cleanslate::playbooks
