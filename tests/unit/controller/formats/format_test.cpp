#include "controller/formats/format.hpp"

#include <gtest/gtest.h>

namespace cleanslate::controller {
namespace {

TEST(FormatRequest, IsAFormForStdoutOrAFormAndAFile) {
    for (const Format format : {Format::text, Format::json, Format::jsonl, Format::csv, Format::junit,
                                Format::prom, Format::html}) {
        const std::string word(to_string(format));
        const auto bare = read_format_request(word);
        ASSERT_TRUE(bare) << word;
        EXPECT_EQ(bare->format, format);
        EXPECT_TRUE(bare->to_stdout());
        const auto filed = read_format_request(word + "=a=b");
        ASSERT_TRUE(filed) << word;
        EXPECT_EQ(filed->format, format);
        EXPECT_EQ(filed->file, "a=b");
    }
    EXPECT_TRUE(read_format_request("json=-")->to_stdout());
}

TEST(FormatRequest, RefusesWhatIsNoFormAndAnEmptyFile) {
    for (const char* text : {"", "xml", "JSON", "json=", "=x", "json ", "text,json", "json\x1b[31m"}) {
        const auto read = read_format_request(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().kind, "usage");
        EXPECT_EQ(read.error().message.find('\x1b'), std::string::npos);
    }
}

TEST(ListRequest, IsAFileOrAFormAndAFile) {
    EXPECT_EQ(read_list_request("clean.txt")->form, ListForm::plain);
    EXPECT_EQ(read_list_request("clean.txt")->file, "clean.txt");
    for (const ListForm form :
         {ListForm::plain, ListForm::folded, ListForm::slurm, ListForm::mpi, ListForm::ansible}) {
        const auto read = read_list_request(std::string(to_string(form)) + "=-");
        ASSERT_TRUE(read);
        EXPECT_EQ(read->form, form);
        EXPECT_TRUE(read->to_stdout());
    }
}

TEST(ListRequest, TakesAnEqualsSignInAFilesName) {
    EXPECT_EQ(read_list_request("a2=b")->file, "a2=b");
    for (const auto* slip : {"slrm=x", "ansibel=x", "json=x"}) {
        const auto read = read_list_request(slip);
        ASSERT_FALSE(read) << slip;
        EXPECT_NE(read.error().message.find(std::string("given as ./") + slip), std::string::npos);
    }
    EXPECT_EQ(read_list_request("./slurm=b")->file, "./slurm=b");
    EXPECT_FALSE(read_list_request("slurm="));
    EXPECT_FALSE(read_list_request(""));
}

}  // namespace
}  // namespace cleanslate::controller
