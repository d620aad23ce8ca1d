#include "agentless/nvidia_smi.hpp"

#include <gtest/gtest.h>

namespace cleanslate::agentless {
namespace {

constexpr std::string_view uuid = "GPU-00000000-1111-2222-3333-444444444444";

GpuTable table(std::string_view text, std::vector<std::string> columns = {}) {
    TableOptions options;
    options.columns = std::move(columns);
    return read_gpu_table(text, options);
}

std::string core_row(std::string_view index, std::string_view used, std::string_view name = "NVIDIA H200") {
    return std::string(index) + ", " + std::string(uuid) + ", 00000000:00:06.0, " + std::string(used) +
           ", 143771 MiB, 35, P0, " + std::string(name) + "\n";
}

bool has_trouble(const GpuRow& row, std::string_view code) {
    for (const auto& trouble : row.troubles)
        if (trouble.code == code) return true;
    return false;
}

TEST(Table, OfTheCoreQueryIsReadWithoutAHeader) {
    const auto read = table(core_row("3", "76107 MiB"));
    ASSERT_EQ(read.rows.size(), 1u);
    const auto& row = read.rows[0];
    EXPECT_EQ(row.index, 3);
    EXPECT_EQ(row.uuid, uuid);
    EXPECT_EQ(row.bus_id, "00000000:00:06.0");
    EXPECT_EQ(row.used, Mebibytes{76107});
    EXPECT_EQ(row.total, Mebibytes{143771});
    EXPECT_EQ(row.name, "NVIDIA H200");
    EXPECT_TRUE(row.troubles.empty());
    EXPECT_TRUE(read.health_shown);
    EXPECT_TRUE(read.problems.empty());
}

TEST(Table, IsTheSameWithUnitsWithoutWithCrlfAndWithAByteOrderMark) {
    for (const auto* text :
         {"0, 12 MiB\n1, 0 MiB\n", "0, 12\n1, 0\n", "0, 12 MiB\r\n1, 0 MiB\r\n",
          "\xEF\xBB\xBF"
          "0, 12 MiB\n1, 0 MiB\n",
          "index, memory.used [MiB]\n0, 12 MiB\n1, 0 MiB\n",
          "\xEF\xBB\xBFindex, memory.used [MiB]\r\n0, 12\r\n1, 0\r\n", "\n\n0,12 MiB\n\n1,0 MiB\n\n"}) {
        const auto read = table(text);
        ASSERT_EQ(read.rows.size(), 2u) << text;
        EXPECT_EQ(read.rows[0].index, 0);
        EXPECT_EQ(read.rows[0].used, Mebibytes{12});
        EXPECT_EQ(read.rows[1].index, 1);
        EXPECT_TRUE(read.problems.empty()) << text;
        EXPECT_TRUE(read.messages.empty()) << text;
        EXPECT_FALSE(read.health_shown);
    }
}

TEST(Table, TakesItsColumnsFromTheHeaderWhateverWasAsked) {
    const auto read = table("memory.used [MiB], index\n5 MiB, 7\n", {"index", "memory.used"});
    ASSERT_EQ(read.rows.size(), 1u);
    EXPECT_EQ(read.rows[0].index, 7);
    EXPECT_EQ(read.rows[0].used, Mebibytes{5});
}

TEST(Table, TakesItsColumnsFromTheQueryWhereThereIsNoHeader) {
    const auto read = table("5 MiB, 7\n", {"memory.used", "index"});
    ASSERT_EQ(read.rows.size(), 1u);
    EXPECT_EQ(read.rows[0].index, 7);
    EXPECT_EQ(read.rows[0].used, Mebibytes{5});
}

TEST(Table, LetsANameThatStandsLastHaveCommas) {
    const auto read = table(core_row("0", "0 MiB", "NVIDIA H200, 141 GB, HBM3e"));
    ASSERT_EQ(read.rows.size(), 1u);
    EXPECT_EQ(read.rows[0].name, "NVIDIA H200, 141 GB, HBM3e");
    EXPECT_EQ(read.rows[0].used, Mebibytes{0});
}

TEST(Table, DoesNotGuessWhereACommaBelongsInTheMiddle) {
    const auto read = table("0, NVIDIA, H200, 0 MiB\n", {"index", "name", "memory.used"});
    ASSERT_EQ(read.rows.size(), 1u);
    EXPECT_EQ(read.rows[0].used, std::nullopt);
    EXPECT_TRUE(has_trouble(read.rows[0], "row-malformed"));
    EXPECT_EQ(read.problems.size(), 1u);
}

TEST(Table, KeepsGoodRowsAroundAFailedOne) {
    const auto read = table("0, 0 MiB\n[Unknown Error], [Unknown Error]\n2, 0 MiB\n");
    ASSERT_EQ(read.rows.size(), 3u);
    EXPECT_EQ(read.rows[1].index, std::nullopt);
    EXPECT_EQ(read.rows[1].used, std::nullopt);
    EXPECT_EQ(read.rows[1].cells, (std::vector<std::string>{"[Unknown Error]", "[Unknown Error]"}));
    EXPECT_EQ(read.rows[2].index, 2);
    EXPECT_TRUE(read.messages.empty());
}

TEST(Table, ReadsNothingOutOfARowWithMissingCells) {
    const auto read =
        table(core_row("0", "0 MiB") + "1, " + std::string(uuid) + ", 00000000:00:07.0, 0 MiB\n");
    ASSERT_EQ(read.rows.size(), 2u);
    EXPECT_EQ(read.rows[1].index, 1);
    EXPECT_EQ(read.rows[1].used, std::nullopt);
    EXPECT_TRUE(has_trouble(read.rows[1], "row-malformed"));
}

TEST(Table, KnowsARowThatTheOutputEndsIn) {
    const auto read = table(core_row("0", "0 MiB") + "1, " + std::string(uuid) + ", 0000");
    ASSERT_EQ(read.rows.size(), 2u);
    EXPECT_TRUE(has_trouble(read.rows[1], "row-truncated"));
    EXPECT_EQ(read.rows[1].used, std::nullopt);
}

TEST(Table, DoesNotTrustALastNumberThatMayGoOn) {
    EXPECT_EQ(table("0, 0 MiB\n1, 7 MiB").rows.at(1).used, Mebibytes{7});
    EXPECT_EQ(table("0, 0 MiB\n1, 7 Mi").rows.at(1).used, std::nullopt);
    const auto read = table("0, 0\n1, 7");
    EXPECT_EQ(read.rows.at(1).used, std::nullopt);
    EXPECT_TRUE(has_trouble(read.rows[1], "row-truncated"));
    EXPECT_TRUE(has_trouble(table("0, 0 MiB\n1").rows.at(1), "row-truncated"));
}

TEST(Table, HasUnitsEverywhereOrNowhere) {
    EXPECT_EQ(table("0, 7 MiB\n1, 76107 MiB\n").rows.at(1).used, Mebibytes{76107});
    EXPECT_EQ(table("0, 7\n1, 76107\n").rows.at(1).used, Mebibytes{76107});
    // A row that was cut before its newline: 7 of 76107 MiB.
    for (const auto* text : {"0, 5 MiB\n1, 7\n", "1, 7\n0, 5 MiB\n", "1, 7\nnoise\n2, x\n0, 5 MiB\n"}) {
        for (const auto& row : table(text).rows) {
            if (row.index != 1) continue;
            EXPECT_EQ(row.used, std::nullopt) << text;
            EXPECT_TRUE(has_trouble(row, "cell-unreadable")) << text;
        }
    }
    const auto mixed = table(core_row("0", "0"));
    EXPECT_TRUE(has_trouble(mixed.rows.at(0), "cell-unreadable"));
    const auto reserved = table("0, 5, 616 MiB\n", {"index", "memory.used", "memory.reserved"});
    EXPECT_TRUE(has_trouble(reserved.rows.at(0), "cell-unreadable"));
}

TEST(Table, NeverTakesPidsForAnIndex) {
    const auto read = table(" 77201 77201 772010, 0 MiB\n1, 0 MiB\n");
    ASSERT_EQ(read.rows.size(), 2u);
    EXPECT_EQ(read.rows[0].index, std::nullopt);
    EXPECT_TRUE(has_trouble(read.rows[0], "row-fused"));
    EXPECT_EQ(table("772010, 0 MiB\n").rows.at(0).index, std::nullopt);
}

TEST(Table, LeavesPidsOnALineOfTheirOwnAlone) {
    const auto read = table("  843   928\n0, 0 MiB\n");
    ASSERT_EQ(read.rows.size(), 1u);
    ASSERT_EQ(read.messages.size(), 1u);
    EXPECT_EQ(read.messages[0].trouble, Trouble::none);
}

TEST(Table, NamesASecondHeader) {
    const auto read = table("index, memory.used [MiB]\n0, 0 MiB\nindex, memory.used [MiB]\n1, 0 MiB\n");
    ASSERT_EQ(read.messages.size(), 1u);
    EXPECT_EQ(read.messages[0].code, "header-repeated");
}

TEST(Table, DoesNotKnowTheColumnsOfAnyOtherWidth) {
    const auto read = table("0, 0 MiB, 35\n");
    ASSERT_EQ(read.rows.size(), 1u);
    EXPECT_TRUE(has_trouble(read.rows[0], "columns-unknown"));
    EXPECT_EQ(read.rows[0].used, std::nullopt);
}

TEST(HostileOutput, IsReadInBoundedMemory) {
    const std::vector<std::string> pieces{"noise without any sense, ever\n",
                                          "0, 0 MiB\n",
                                          "\n",
                                          ",",
                                          "x",
                                          "1 ",
                                          "[",
                                          "0,\n",
                                          "Unable to determine the device handle for GPU\n",
                                          std::string(7, '\0') + "\n"};
    for (const auto& piece : pieces) {
        std::string text;
        text.reserve(600'100);
        while (text.size() < 600'000) text += piece;
        const auto read = table(text);
        std::size_t kept = 0;
        for (const auto& message : read.messages) kept += message.text.size();
        for (const auto& problem : read.problems) kept += problem.size();
        for (const auto& row : read.rows)
            for (const auto& cell : row.cells) kept += cell.size();
        EXPECT_LE(kept, 1'000'000u) << piece;
        EXPECT_LE(read.messages.size(), 256u);
        EXPECT_LE(read.rows.size(), 1024u);
        if (piece == "noise without any sense, ever\n") {
            EXPECT_GT(read.lines_dropped, 0u);
            EXPECT_EQ(read.messages.back().code, "output-too-long");
        }
    }
    // 6 MB in all: a quadratic reader would not come to this line.
}

// What a stream of so many bytes, made of one text over and over, leaves in memory at its worst.
std::size_t most_held(const std::string& text, std::size_t bytes, GpuTable& read) {
    std::string piece;
    while (piece.size() < (1 << 20)) piece += text;
    GpuTableReader reader({});
    std::size_t most = 0;
    for (std::size_t fed = 0; fed < bytes; fed += piece.size()) {
        reader.feed(piece);
        most = std::max(most, reader.held());
    }
    read = reader.finish();
    return most;
}

TEST(AHundredMegabytes, OfNoiseAreNeverHeld) {
    const std::vector<std::pair<std::string, std::size_t>> streams{
        {std::string(2000, 'n') + " noise\n", 100'000'000},          // prose
        {std::string(1 << 20, 'x'), 100'000'000},                    // no line at all
        {std::string(1 << 20, '\0'), 100'000'000},                   // nothing that is text
        {"0, 0 MiB, " + std::string(900, 'y') + "\n", 100'000'000},  // rows of too many cells
        {"1" + std::string(60'000, ',') + "\n", 10'000'000},         // and of far too many
        {std::string(70'000, ' ') + "0, 0 MiB\n", 10'000'000},       // rows that no longer can be seen
        {"x\n", 1'000'000},
    };
    for (const auto& [text, bytes] : streams) {
        GpuTable read;
        EXPECT_LE(most_held(text, bytes, read), 8'000'000u) << text.substr(0, 20);
        EXPECT_FALSE(read.messages.empty() && read.rows.empty()) << text.substr(0, 20);
        EXPECT_LE(read.messages.size(), 256u);
        EXPECT_LE(read.rows.size(), 1024u);
        EXPECT_LE(read.problems.size(), 256u);
    }
}

TEST(Table, IsTheSameWhereverTheOutputIsCutIntoPieces) {
    const std::string text =
        "\xEF\xBB\xBFUnable to determine the device handle for GPU 0000:0B:00.0: GPU is lost.  Reboot the\n"
        "system to recover this GPU\r\nindex, memory.used [MiB]\r\n0, 12 MiB\r\n[GPU is lost], [GPU is "
        "lost]\n2, 7 MiB";
    const auto shape = [](const GpuTable& read) {
        std::string all;
        for (const auto& row : read.rows)
            all += std::to_string(row.index.value_or(-1)) + "=" +
                   std::to_string(row.used.value_or(Mebibytes{-1}).count) + " ";
        for (const auto& message : read.messages) all += message.code + "@" + message.bus_id + " ";
        return all;
    };
    const auto whole = shape(table(text));
    EXPECT_EQ(whole, "0=12 -1=-1 2=7 gpu-lost@00000000:0b:00.0 ");
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        GpuTableReader reader({});
        reader.feed(std::string_view(text).substr(0, cut));
        reader.feed(std::string_view(text).substr(cut));
        EXPECT_EQ(shape(reader.finish()), whole) << cut;
    }
}

TEST(HostileOutput, OfManyCommasKeepsFewCells) {
    std::string text = "0";
    for (int i = 0; i < 60'000; ++i) text += ",";
    for (const auto& row : table(text + "\n").rows) EXPECT_LE(row.cells.size(), 128u);
}

}  // namespace
}  // namespace cleanslate::agentless
