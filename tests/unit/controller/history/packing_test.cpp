#include "controller/history/packing.hpp"

#include <gmock/gmock.h>

#include <random>

namespace cleanslate::controller::history::testing {
namespace {

using ::testing::HasSubstr;

std::string noise(std::size_t bytes, unsigned seed) {
    std::mt19937 random(seed);
    std::string text(bytes, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    return text;
}

TEST(Packing, GivesBackWhatWasPacked) {
    Packer packer;
    Unpacker unpacker;
    for (const std::string& text :
         {std::string(), std::string("x"), std::string(300'000, 'y'), noise(5000, 1)}) {
        const auto packed = packer.pack(text, {});
        ASSERT_TRUE(packed);
        EXPECT_EQ(unpacker.unpack(*packed, {}, text.size()).value_or("?"), text);
    }
}

TEST(Packing, TakesHardlyAnyRoomForWhatTheBaseHasToo) {
    Packer packer;
    Unpacker unpacker;
    const std::string base = noise(200'000, 1);
    std::string text = base;
    text.replace(100'000, 4, "else");
    const auto packed = packer.pack(text, base);
    ASSERT_TRUE(packed);
    EXPECT_LT(packed->size(), 500u);
    EXPECT_EQ(unpacker.unpack(*packed, base, text.size()).value_or("?"), text);
    EXPECT_GT(packer.pack(text, {}).value_or("").size(), 190'000u) << "a base is for one text alone";
}

TEST(Packing, RefusesAnotherBaseAndDamage) {
    Packer packer;
    Unpacker unpacker;
    const std::string base = noise(10'000, 1), text = base + "x";
    const std::string packed = packer.pack(text, base).value_or("");
    EXPECT_FALSE(unpacker.unpack(packed, noise(10'000, 2), 1 << 20));
    EXPECT_FALSE(unpacker.unpack(packed, {}, 1 << 20));
    EXPECT_FALSE(unpacker.unpack(packed.substr(0, packed.size() / 2), base, 1 << 20));
    EXPECT_FALSE(unpacker.unpack("no zstd at all", base, 1 << 20));
    EXPECT_FALSE(unpacker.unpack("", base, 1 << 20));
    EXPECT_EQ(unpacker.unpack(packed, base, 1 << 20).value_or("?"), text)
        << "what failed before leaves no trace";
}

TEST(Packing, AllocatesNoMoreThanItMay) {
    Packer packer;
    Unpacker unpacker;
    const std::string packed = packer.pack(std::string(10'000'000, 'z'), {}).value_or("");
    const auto refused = unpacker.unpack(packed, {}, 1 << 20);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("too large"));
}

}  // namespace
}  // namespace cleanslate::controller::history::testing
