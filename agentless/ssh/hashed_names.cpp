#include "agentless/ssh/hashed_names.hpp"

#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr std::size_t hash_size = 20, block_size = 64;

template <std::size_t count>
using Numbers = HashedNames::Row<std::uint32_t, count>;
using Block = Numbers<16>;
using Words = HashedNames::Words;
using Group = HashedNames::Group;

// SHA-1 of one block (FIPS 180-4, section 6.1.3). A word is one number, or one of each lane. `words` is used
// up. Inlined, so that it is compiled for the processor that its caller is compiled for.
template <class Word>
[[gnu::always_inline]] inline void compress(HashedNames::Row<Word, 5>& state,
                                            HashedNames::Row<Word, 16>& words) {
    const auto rotate = [](Word& word, int by) { word = (word << by) | (word >> (32 - by)); };
    Word a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
#pragma GCC unroll 80
    for (std::size_t t = 0; t < 80; ++t) {
        Word& word = words[t % 16];
        if (t >= 16) {
            word ^= words[(t + 13) % 16] ^ words[(t + 8) % 16] ^ words[(t + 2) % 16];
            rotate(word, 1);
        }
        const Word mixed = t < 20              ? d ^ (b & (c ^ d))
                           : t >= 40 && t < 60 ? (b & c) | (d & (b | c))
                                               : b ^ c ^ d;
        constexpr std::uint32_t constants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
        Word next = a;
        rotate(next, 5);
        next += mixed + e + constants[t / 20] + word;
        e = d;
        d = c;
        c = b;
        rotate(c, 30);
        b = a;
        a = next;
    }
    state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

// Big-endian words of `bytes`, from its front; zeros after its end.
template <std::size_t count>
Numbers<count> words_of(std::string_view bytes) {
    Numbers<count> words{};
    for (std::size_t i = 0; i < bytes.size() && i < 4 * count; ++i)
        words[i / 4] |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (24 - 8 * (i % 4));
    return words;
}

// What SHA-1 still has to read after `before` bytes: the text, and the padding.
std::vector<Block> blocks_of(std::string_view text, std::size_t before) {
    std::string padded(text);
    padded += '\x80';
    const std::size_t blocks = (padded.size() + 8 + block_size - 1) / block_size;
    padded.resize(blocks * block_size);
    std::vector<Block> result;
    for (std::size_t at = 0; at < padded.size(); at += block_size)
        result.push_back(words_of<16>(std::string_view(padded).substr(at)));
    const std::uint64_t bits = 8 * (before + text.size());
    result.back()[14] = static_cast<std::uint32_t>(bits >> 32);
    result.back()[15] = static_cast<std::uint32_t>(bits);
    return result;
}

// SHA-1 after HMAC's first block: the key, every byte of it mixed with `pad`.
Numbers<5> keyed(std::string_view salt, std::uint32_t pad) {
    Numbers<5> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    Block block = words_of<16>(salt);
    for (std::uint32_t& word : block.words) word ^= pad * 0x01010101u;
    compress(state, block);
    return state;
}

// Which lanes of a group stand for the name whose blocks these are, as bits.
[[gnu::always_inline]] inline unsigned lanes_of(const Group& group, const std::vector<Block>& name) {
    HashedNames::State state = group.inner;
    HashedNames::Row<Words, 16> words{};
    for (const Block& block : name) {
        for (std::size_t i = 0; i < 16; ++i) words[i] = Words{} + block[i];
        compress(state, words);
    }
    words = {state[0], state[1], state[2], state[3], state[4], Words{} + 0x80000000u};
    words[15] = Words{} + static_cast<std::uint32_t>(8 * (block_size + hash_size));
    state = group.outer;
    compress(state, words);
    Words differ{};
    for (std::size_t i = 0; i < 5; ++i) differ |= state[i] ^ group.hash[i];
    unsigned found = 0;
    for (std::size_t lane = 0; lane < HashedNames::lanes; ++lane)
        if (differ[lane] == 0) found |= 1u << lane;
    return found;
}

using Found = std::vector<std::size_t>;

[[gnu::always_inline]] inline void search(const std::vector<Group>& groups, const std::vector<Block>& name,
                                          Found& found) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const unsigned bits = lanes_of(groups[i], name);
        for (std::size_t lane = 0; bits != 0 && lane < HashedNames::lanes; ++lane)
            if ((bits >> lane & 1) != 0) found.push_back(i * HashedNames::lanes + lane);
    }
}

void search_anywhere(const std::vector<Group>& groups, const std::vector<Block>& name, Found& found) {
    search(groups, name, found);
}

#ifdef __x86_64__
// The same for processors that take eight lanes at once: three times as fast.
[[gnu::target("avx2")]] void search_avx2(const std::vector<Group>& groups, const std::vector<Block>& name,
                                         Found& found) {
    search(groups, name, found);
}
const auto search_here = __builtin_cpu_supports("avx2") != 0 ? &search_avx2 : &search_anywhere;
#else
const auto search_here = &search_anywhere;
#endif

// SHA-1 of the text behind HMAC's first block.
std::string hash_behind(Numbers<5> state, std::string_view text) {
    for (Block& block : blocks_of(text, block_size)) compress(state, block);
    std::string bytes;
    for (const std::uint32_t word : state.words) put_number(bytes, word);
    return bytes;
}

}  // namespace

std::string hashed_name(std::string_view name, std::string_view salt) {
    const std::string inner = hash_behind(keyed(salt, 0x36), name);
    return "|1|" + encode_base64(salt) + "|" + encode_base64(hash_behind(keyed(salt, 0x5c), inner));
}

bool HashedNames::add(std::string_view text, std::size_t key) {
    const auto parts = split(text, '|');
    if (parts.size() != 4 || !parts[0].empty() || parts[1] != "1") return false;
    const auto salt = decode_base64(parts[2]);
    const auto hash = decode_base64(parts[3]);
    if (!salt || !hash || salt->size() != hash_size || hash->size() != hash_size) return false;
    const std::size_t lane = keys_.size() % lanes;
    if (lane == 0) groups_.emplace_back();
    Group& group = groups_.back();
    const auto inner = keyed(*salt, 0x36), outer = keyed(*salt, 0x5c), wanted = words_of<5>(*hash);
    for (std::size_t i = 0; i < 5; ++i) {
        group.inner[i][lane] = inner[i];
        group.outer[i][lane] = outer[i];
        group.hash[i][lane] = wanted[i];
    }
    keys_.push_back(key);
    return true;
}

std::vector<std::size_t> HashedNames::find(std::string_view name) const {
    if (keys_.empty()) return {};
    Found found;
    search_here(groups_, blocks_of(name, block_size), found);
    // The last group may have lanes that nobody has filled.
    std::erase_if(found, [&](std::size_t place) { return place >= keys_.size(); });
    for (std::size_t& place : found) place = keys_[place];
    return found;
}

}  // namespace cleanslate::agentless::ssh
