#pragma once
// Reads single values of a playbook, params filled in, and refuses what is wrong with its place.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "base/yaml.hpp"
#include "playbooks/params.hpp"

namespace cleanslate::playbooks {

inline constexpr std::size_t max_playbook_bytes = 1024 * 1024;

// An error of kind "playbook" whose message begins with file:line:column.
std::unexpected<Error> refuse_at(std::string_view file, yaml::Mark mark, std::string_view what,
                                 std::string remedy);

// The same for an error that knows no place, or that the YAML reader made (which has one).
std::unexpected<Error> place_at(std::string_view file, yaml::Mark mark, Error error);
std::unexpected<Error> from_yaml(Error error);

// Refuses what is no mapping, tags, and keys that are not among `known`. `what` is the mapping in words: "a
// step".
Status check_keys(const yaml::Node& node, std::string_view file, std::string_view what,
                  const std::vector<std::string>& known);

// "version, name or steps", for remedies.
std::string any_of(const std::vector<std::string>& words);

class Reader {
  public:
    Reader(std::string_view file, const Values& values) : file_(file), values_(values) {}

    std::string_view file() const { return file_; }
    std::unexpected<Error> refuse(const yaml::Node& at, std::string_view what, std::string remedy) const {
        return refuse_at(file_, at.mark, what, std::move(remedy));
    }
    std::unexpected<Error> place(const yaml::Node& at, Error error) const {
        return place_at(file_, at.mark, std::move(error));
    }

    // `what` is the value in words, for messages: usually its key.
    Result<std::string> text(const yaml::Node& node, std::string_view what) const;
    Result<std::int64_t> integer(const yaml::Node& node, std::string_view what, std::int64_t low,
                                 std::int64_t high) const;
    Result<bool> boolean(const yaml::Node& node, std::string_view what) const;
    Result<Milliseconds> duration(const yaml::Node& node, std::string_view what, Milliseconds low,
                                  Milliseconds high) const;
    Result<Mebibytes> size(const yaml::Node& node, std::string_view what) const;
    // A pattern that compiles: see pattern.hpp.
    Result<std::string> pattern(const yaml::Node& node, std::string_view what) const;
    // Text for a shell. A value that is inserted there may hold no character that a shell could take for
    // more.
    Result<std::string> command(const yaml::Node& node, std::string_view what) const;

  private:
    Result<yaml::Document> filled(const yaml::Node& node, const Values::Judge& judge = {}) const;

    std::string_view file_;
    const Values& values_;
};

// Keeps the value of a Result or hands its error on.
template <class T, class U>
Status keep(T& into, Result<U> value) {
    if (!value) return std::unexpected(std::move(value.error()));
    into = std::move(*value);
    return {};
}

}  // namespace cleanslate::playbooks
