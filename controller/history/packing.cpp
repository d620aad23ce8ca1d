#include "controller/history/packing.hpp"

#include <zstd.h>

namespace cleanslate::controller::history {
namespace {

constexpr int level = 3;  // a higher one takes longer and hardly less room: the base does the work

}  // namespace

struct Packer::Context {
    ZSTD_CCtx* zstd = ::ZSTD_createCCtx();
    ~Context() { ::ZSTD_freeCCtx(zstd); }
};

Packer::Packer() : context_(std::make_unique<Context>()) {
    if (context_->zstd == nullptr) return;
    ::ZSTD_CCtx_setParameter(context_->zstd, ZSTD_c_compressionLevel, level);
    ::ZSTD_CCtx_setParameter(context_->zstd, ZSTD_c_checksumFlag, 1);
}

Packer::~Packer() = default;

Result<std::string> Packer::pack(std::string_view text, std::string_view base) {
    if (context_->zstd == nullptr) return fail("history", "no memory for zstd");
    std::string packed(::ZSTD_compressBound(text.size()), '\0');
    ::ZSTD_CCtx_refPrefix(context_->zstd, base.data(), base.size());  // of the next text alone
    const std::size_t size =
        ::ZSTD_compress2(context_->zstd, packed.data(), packed.size(), text.data(), text.size());
    if (::ZSTD_isError(size) != 0) return fail("history", std::string("zstd: ") + ::ZSTD_getErrorName(size));
    packed.resize(size);
    return packed;
}

struct Unpacker::Context {
    ZSTD_DCtx* zstd = ::ZSTD_createDCtx();
    ~Context() { ::ZSTD_freeDCtx(zstd); }
};

Unpacker::Unpacker() : context_(std::make_unique<Context>()) {}
Unpacker::~Unpacker() = default;

Result<std::string> Unpacker::unpack(std::string_view packed, std::string_view base, std::size_t max_bytes) {
    if (context_->zstd == nullptr) return fail("history", "no memory for zstd");
    const unsigned long long said = ::ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (said == ZSTD_CONTENTSIZE_UNKNOWN || said == ZSTD_CONTENTSIZE_ERROR)
        return fail("history", "no packed text");
    if (said > max_bytes) return fail("history", "a packed text is too large");
    std::string text(static_cast<std::size_t>(said), '\0');
    ::ZSTD_DCtx_refPrefix(context_->zstd, base.data(), base.size());
    const std::size_t size =
        ::ZSTD_decompressDCtx(context_->zstd, text.data(), text.size(), packed.data(), packed.size());
    if (::ZSTD_isError(size) != 0) {
        ::ZSTD_DCtx_reset(context_->zstd, ZSTD_reset_session_and_parameters);
        return fail("history", std::string("a packed text is damaged: ") + ::ZSTD_getErrorName(size));
    }
    if (size != text.size()) return fail("history", "a packed text is cut");
    return text;
}

}  // namespace cleanslate::controller::history
