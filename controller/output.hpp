#pragma once
// Standard output, written so that a report that did not arrive is noticed.

#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::controller {

// Puts something into the places of standard streams that are closed, so that no file that is opened later
// becomes standard output. What is written to them is still lost, and noticed. Call it first.
void occupy_closed_streams();

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
