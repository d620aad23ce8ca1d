#pragma once
// Hashed names of known_hosts ("|1|SALT|HMAC|"). Each has a salt of its own, so a host's name must be hashed
// anew for each of them. What the salt alone decides is done once, when an entry is added; the rest, a block
// or two of SHA-1, is done for several entries at a time. Pure.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleanslate::agentless::ssh {

// "|1|SALT|HMAC|" of a name, as ssh writes it. The salt has 20 random bytes.
std::string hashed_name(std::string_view name, std::string_view salt);

class HashedNames {
  public:
    // `key`: what find() gives for it. False where the text is no hashed name: salt and hash have 20 bytes.
    bool add(std::string_view text, std::size_t key);

    // The keys of all entries that stand for this name, in the order in which they were added.
    std::vector<std::size_t> find(std::string_view name) const;

    static constexpr std::size_t lanes = 8;
    using Words [[gnu::vector_size(4 * lanes)]] = std::uint32_t;  // one word of each lane
    // An array that is aligned for processors that take all lanes at once, whatever it is compiled for.
    template <class Word, std::size_t count>
    struct alignas(sizeof(Word)) Row {
        Word words[count];
        Word& operator[](std::size_t i) { return words[i]; }
        const Word& operator[](std::size_t i) const { return words[i]; }
    };
    using State = Row<Words, 5>;
    // So many entries: SHA-1 after the salt's block, of the inner and the outer hash; and what must come out.
    struct Group {
        State inner{}, outer{}, hash{};
    };

  private:
    std::vector<Group> groups_;
    std::vector<std::size_t> keys_;  // by group and lane
};

}  // namespace cleanslate::agentless::ssh
