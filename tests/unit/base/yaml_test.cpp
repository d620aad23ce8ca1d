#include "base/yaml.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cleanslate::yaml {
namespace {

// A tree on one line, to be compared: {a: 1, b: [x, "y"], c: ~}.
std::string show(const Node& node) {
    std::string out;
    if (node.is_null()) return "~";
    if (node.is_scalar()) return node.quoted ? fmt::format("\"{}\"", node.text()) : std::string(node.text());
    for (const auto& item : node.items()) out += (out.empty() ? "" : ", ") + show(item);
    for (const auto& [key, value] : node.entries())
        out += (out.empty() ? "" : ", ") + show(key) + ": " + show(value);
    return node.is_mapping() ? "{" + out + "}" : "[" + out + "]";
}

std::string read(std::string_view text) {
    const auto document = parse(text, "f.yaml");
    return document ? show(document->root()) : document.error().message;
}

std::string repeat(std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
}

TEST(Yaml, ReadsScalarsListsAndMappings) {
    EXPECT_EQ(read("a: 1\nb: [x, 'y']\nc:\nd: ~\n"), "{a: 1, b: [x, \"y\"], c: ~, d: ~}");
    EXPECT_EQ(read("- |\n  two\n  lines\n- >-\n  folded\n  text\n"), "[\"two\nlines\n\", \"folded text\"]");
    EXPECT_EQ(read("{\"json\": [1, {\"too\": null}]}"), "{\"json\": [1, {\"too\": ~}]}");
}

TEST(Yaml, AnEmptyDocumentIsNothing) {
    for (const auto* text : {"", "\n", "# comment\n", "---\n", "---\n...\n", "~", "null\n", "\xEF\xBB\xBF"}) {
        EXPECT_EQ(read(text), "~") << text;
    }
}

TEST(Yaml, KnowsThePlaceOfEverything) {
    const auto document = parse("# c\nall:\n  hosts:\n    gpu01: {port: 22}\n", "f.yaml").value();
    const Node& node = document.root();
    const Node* hosts = node.find("all")->find("hosts");
    EXPECT_EQ(place("f.yaml", hosts->entries()[0].first.mark), "f.yaml:4:5");
    EXPECT_EQ(place("f.yaml", hosts->find("gpu01")->find("port")->mark), "f.yaml:4:19");
    EXPECT_EQ(node.find("none"), nullptr);
    EXPECT_EQ(place("f.yaml", {}), "f.yaml");
}

TEST(Yaml, KeepsExplicitTags) {
    const auto document = parse("a: !vault |\n  3161\nb: !!str 5\nc: ! x\nd: 'q'\n", "f.yaml").value();
    const Node& node = document.root();
    EXPECT_EQ(node.find("a")->tag(), "!vault");
    EXPECT_EQ(node.find("a")->text(), "3161\n");
    EXPECT_TRUE(node.find("b")->quoted);
    EXPECT_EQ(node.find("d")->tag(), "");
    EXPECT_TRUE(node.find("d")->quoted);
}

TEST(Yaml, ReadsWindowsLinesAndAByteOrderMark) {
    EXPECT_EQ(read("\xEF\xBB\xBF"
                   "a: 1\r\nb: x\r\n"),
              "{a: 1, b: x}");
}

TEST(Yaml, RefusesDuplicateKeysAndNamesBothPlaces) {
    EXPECT_EQ(read("a: 1\nb: 2\na: 3\n"), "f.yaml:3:1: duplicate key \"a\", first at 1:1");
    EXPECT_EQ(read("\"a\": 1\na: 3\n"), "f.yaml:2:1: duplicate key \"a\", first at 1:1");
    EXPECT_EQ(read("x: {b: 1, b: 1}\n"), "f.yaml:1:11: duplicate key \"b\", first at 1:5");
    EXPECT_EQ(read("&k a: 1\n*k : 2\n"), "f.yaml:1:1: duplicate key \"a\", first at 1:1");
}

TEST(Yaml, RefusesKeysThatAreNoTexts) {
    EXPECT_EQ(read("[a]: 1\n"), "f.yaml:1:1: found a list as a key");
    EXPECT_EQ(read("? {a: 1}\n: 1\n"), "f.yaml:1:3: found a mapping as a key");
    EXPECT_EQ(read("~: 1\n"), "f.yaml:1:1: found nothing as a key");
    EXPECT_EQ(read("a: &l [x]\n? *l\n: 1\n"), "f.yaml:1:4: found a list as a key");
}

TEST(Yaml, ResolvesAliases) {
    EXPECT_EQ(read("a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n"),
              "{a: {b: [1]}, c: {b: [1]}, d: [{b: [1]}, {b: [1]}]}");
    EXPECT_EQ(read("a: &x 1\nb: &x 2\nc: *x\n"), "{a: 1, b: 2, c: 2}") << "the latest anchor of a name";
}

TEST(Yaml, RefusesUnknownAndSelfContainingAliases) {
    EXPECT_EQ(read("a: *b\n"), "f.yaml:1:4: malformed YAML: the referenced anchor is not defined");
    EXPECT_EQ(read("a: &a [1, *a]\n"), "f.yaml:1:11: an alias inside of what it stands for");
    EXPECT_EQ(read("a: &a {<<: *a}\n"), "f.yaml:1:12: an alias inside of what it stands for");
}

TEST(Yaml, MergesMappingsAndOwnKeysWin) {
    EXPECT_EQ(read("c: &c {x: 1, y: 2}\nd:\n  y: 3\n  <<: *c\n  z: 4\n"),
              "{c: {x: 1, y: 2}, d: {y: 3, x: 1, z: 4}}");
    EXPECT_EQ(read("d:\n  <<: {x: 1}\n  x: 2\n"), "{d: {x: 2}}");
}

TEST(Yaml, MergesAListOfMappingsAndTheFirstWins) {
    EXPECT_EQ(read("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b]}\n"),
              "{a: {x: 1}, b: {x: 2, y: 2}, c: {x: 1, y: 2}}");
    EXPECT_EQ(read("a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}\n"),
              "{a: {x: 1}, b: {x: 1, y: 2}, c: {x: 1, y: 2}}")
        << "a merged mapping is merged in turn";
}

TEST(Yaml, MergesNothingElse) {
    EXPECT_EQ(read("<<: text\n"), "f.yaml:1:5: found a text under `<<`");
    EXPECT_EQ(read("<<: [{a: 1}, x]\n"), "f.yaml:1:14: found a text under `<<`");
    EXPECT_EQ(read("<<:\n"), "f.yaml:2:1: found nothing under `<<`");
    EXPECT_EQ(read("<<: {a: 1}\n<<: {b: 1}\n"), "f.yaml:2:1: duplicate key \"<<\", first at 1:1");
    EXPECT_EQ(read("'<<': {a: 1}\n"), "{\"<<\": {a: 1}}") << "a quoted key is a key";
}

TEST(Yaml, RefusesASecondDocumentAndTextBehindTheFirst) {
    const std::string message = "a second document, or text that does not belong to the first one";
    EXPECT_EQ(read("a: 1\n---\nb: 2\n"), "f.yaml:2:1: " + message);
    EXPECT_EQ(read("a: 1\n...\nb: 2\n"), "f.yaml:3:1: " + message);
    EXPECT_EQ(read("- a\nb: c\n"), "f.yaml:2:1: " + message) << "the library would leave this out in silence";
    EXPECT_EQ(read("---\na: 1\n...\n# end\n"), "{a: 1}");
}

TEST(Yaml, NamesThePlaceOfMalformedText) {
    EXPECT_EQ(read("a: 1\n b: 2\n"), "f.yaml:2:3: malformed YAML: illegal map value");
    EXPECT_EQ(read("a: [1, 2\nb: 3\n"), "f.yaml:2:2: malformed YAML: end of sequence flow not found");
    EXPECT_EQ(read("a: 1\n\tb: 2\n"), "f.yaml:2:1: malformed YAML: illegal tab when looking for indentation");
    EXPECT_EQ(read("a: 'x"), "f.yaml:1:6: malformed YAML: illegal EOF in scalar");
    EXPECT_EQ(parse("@x", "f.yaml").error().kind, "yaml");
}

TEST(Yaml, RefusesBytesThatTheLibraryWouldGuessAt) {
    EXPECT_EQ(read(std::string_view("a: 1\nb: \0x\n", 11)), "f.yaml:2:4: found a control byte (\\x00)");
    EXPECT_EQ(read("a: \x1b[2J\n"), "f.yaml:1:4: found a control byte (\\x1B)");
    EXPECT_EQ(read("a: \xC3\n"), "f.yaml:1:4: found invalid UTF-8 (\\xC3)");
    EXPECT_EQ(read(std::string_view("\xFF\xFE"
                                    "a\0",
                                    4)),
              "f.yaml:1:1: found UTF-16");
    EXPECT_EQ(read("a: \"x\\0y\"\n"), "f.yaml:1:4: found a NUL byte in a text");
    EXPECT_EQ(read("a: " + std::string(65U << 20, 'x')), "f.yaml: larger than 64 MiB");
}

TEST(Yaml, NestsSixtyFourLevelsAndNoMore) {
    EXPECT_EQ(read(repeat("- ", 64) + "x"), repeat("[", 64) + "x" + repeat("]", 64));
    EXPECT_EQ(read(repeat("- ", 65) + "x"), "f.yaml:1:129: nested deeper than 64 levels");
    EXPECT_EQ(read(repeat("[", 65) + repeat("]", 65)), "f.yaml:1:65: nested deeper than 64 levels");
}

TEST(Yaml, SurvivesAHundredThousandOpenBrackets) {
    for (const auto* text :
         {"[", "{", "{a: ", "- ", "? ", "[\n", "&a [", "!t [", "a: [", "\"", "|\n", "* ", "- - ? : "}) {
        EXPECT_FALSE(parse(repeat(text, 100'000), "f.yaml")) << text;
    }
}

TEST(Yaml, AliasesDoNotReachBelowTheDepthLimit) {
    std::string text = "- &a0 " + repeat("[", 30) + repeat("]", 30) + "\n";
    text += "- &a1 " + repeat("[", 30) + "*a0" + repeat("]", 30) + "\n";
    EXPECT_TRUE(parse(text, "f.yaml"));
    text += "- &a2 " + repeat("[", 30) + "*a1" + repeat("]", 30) + "\n";
    EXPECT_EQ(read(text), "f.yaml:3:37: nested deeper than 64 levels");
}

TEST(Yaml, StopsAliasesThatExpandWithoutEnd) {
    std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 12; ++i) {
        text += fmt::format("a{0}: &a{0} [{1}*a{2}]\n", i, repeat(fmt::format("*a{}, ", i - 1), 9), i - 1);
    }
    EXPECT_EQ(read(text), "f.yaml:6:40: anchors and aliases expand to more than 1000000 nodes");
}

TEST(Yaml, StopsMergesThatExpandWithoutEnd) {
    std::string text = "a0: &a0 {x: [" + repeat("x,", 1000) + "]}\n";
    for (int i = 1; i < 1000; ++i) text += fmt::format("a{0}: &a{0} {{<<: *a{1}, k{0}: *a{1}}}\n", i, i - 1);
    EXPECT_NE(read(text).find("expand to more than 1000000 nodes"), std::string::npos);
}

TEST(Yaml, AHundredThousandKeysAreNoTrouble) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += fmt::format("gpu{}:\n", i);
    EXPECT_EQ(parse(text, "f.yaml").value().root().entries().size(), 100'000U);
}

TEST(Yaml, AnErrorShowsHostileKeysSafely) {
    const auto message = read("\"\\e[2J\": 1\n\"\\e[2J\": 2\n");
    EXPECT_EQ(message, "f.yaml:2:1: duplicate key \"\\x1B[2J\", first at 1:1");
}

}  // namespace
}  // namespace cleanslate::yaml
