#pragma once
// The part of a survey's answer that nvidia-smi gives: the core query, compute-apps, and what is optional.

#include <string>
#include <vector>

#include "tests/fleet/scale/survey_answer.hpp"

namespace cleanslate::simulated {

std::string driver_answer(const Host& host, const std::vector<Life>& lives, const Script& survey);

}  // namespace cleanslate::simulated
