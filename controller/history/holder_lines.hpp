#pragma once
// Lines about holders and GPUs, of several of the history's answers. Private to the history.

#include <functional>
#include <string>
#include <vector>

#include "controller/history/diff.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller::history {

// "9d", "9d04h", "12h": seconds for people.
std::string span_text(std::int64_t seconds);

// "GPU 0-1,4" of those that fit; empty: none of them has an index.
std::string gpu_list(const std::vector<StoredGpu>& gpus, const std::function<bool(const StoredGpu&)>& fits);

// A line for each user and command: processes, GPUs, memory; the first few, and how many there are besides.
void write_holders(Page& page, std::size_t indent, const std::vector<StoredHolder>& holders);

}  // namespace cleanslate::controller::history
