#pragma once
// The one door to zstd: texts packed against a base, a text that is much like them. Private to the history.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cleanslate::controller::history {

// Packs one text after the other; its memory serves them all.
class Packer {
  public:
    Packer();
    ~Packer();
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;
    // `base`: empty for none. Its result has a checksum of the text. Errors: no memory.
    Result<std::string> pack(std::string_view text, std::string_view base);

  private:
    struct Context;
    std::unique_ptr<Context> context_;
};

// The reverse. Errors of kind "history": not what pack() made with this base, and more than `max_bytes`,
// which also bound what is allocated.
class Unpacker {
  public:
    Unpacker();
    ~Unpacker();
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;
    Result<std::string> unpack(std::string_view packed, std::string_view base, std::size_t max_bytes);

  private:
    struct Context;
    std::unique_ptr<Context> context_;
};

}  // namespace cleanslate::controller::history
