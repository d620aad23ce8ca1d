#pragma once
// A diff for people and for programs.

#include <string>

#include "controller/history/diff.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller::history {

// Schema "cleanslate.diff/1", docs/history.md; one document, with a line end behind it.
std::string diff_json(const Diff& diff);

// What is worse comes first; a last line that counts. `now`: seconds since 1970, for how long something
// lasts.
void diff_text(Page& page, const Diff& diff);

// "3 newly dirty or sick, 1 newly clean, 12 still dirty or sick, 984 still clean".
std::string diff_summary(const Diff& diff);

}  // namespace cleanslate::controller::history
