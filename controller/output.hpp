#pragma once
// Standard output, written so that a report that did not arrive is noticed.

#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::controller {

class Output {
  public:
    explicit Output(std::FILE* file) : file_(file) {}
    void write(std::string_view text);
    // Hands everything to the system. An error of kind "write" if any of it was lost: a full disk, a closed
    // pipe.
    Status finish();

  private:
    std::FILE* file_;
    int error_number_ = 0;
    bool failed_ = false;
};

}  // namespace cleanslate::controller
