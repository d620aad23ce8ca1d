#pragma once
// What can happen to the output of a GPU query on its way, and what can be printed in place of a value.

#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::agentless::testing {

struct Capture {
    std::string file;
    std::string text;
    int gpus = 0;
    std::vector<std::string> columns;  // where it has no header
};

struct Mutant {
    std::string kind;
    std::string text;
    // What the mutation alone says of the verdict. `by_reader`: a naive reader of the text decides.
    enum class Fate { not_clean, clean, by_reader } fate = Fate::not_clean;
};

// Calls `use` with each mutant of `capture`, always the same ones for one state of `random`.
void each_mutant(const Capture& capture, std::mt19937& random, const std::function<void(const Mutant&)>& use);

}  // namespace cleanslate::agentless::testing
