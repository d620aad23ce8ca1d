#pragma once
// Programs of others, which read what the forms write.

#include <unistd.h>

#include <string>
#include <vector>

#include "../temporary_folder.hpp"
#include "controller/formats/render.hpp"
#include "tests/support/subprocess.hpp"

namespace cleanslate::controller::testing {

using cleanslate::testing::Ended;

// Installed, or taken out of its package by ./dev; empty where it could not be had.
inline std::string outside_program(const std::string& path) {
    const std::string unpacked = std::string(CLEANSLATE_SOURCE_DIR) + "/build/unpacked/" + path;
    if (::access(("/" + path).c_str(), X_OK) == 0) return "/" + path;
    return ::access(unpacked.c_str(), X_OK) == 0 ? unpacked : "";
}

inline Ended run_outside(std::vector<std::string> argv, std::string input = {},
                         std::map<std::string, std::string> env = {}) {
    return cleanslate::testing::run(
        {std::move(argv), std::move(input), std::move(env), std::chrono::seconds(120)});
}

inline std::string rendered(const Report& report, Format format, Rendering rendering = {}) {
    std::string text;
    render(report, format, rendering, [&](std::string_view piece) { text += piece; });
    return text;
}

}  // namespace cleanslate::controller::testing
