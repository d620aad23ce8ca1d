#include "controller/man_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cleanslate::controller::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void expect_options(const CommandNode& node, const std::string& page) {
    for (const OptionNode& option : node.options) {
        std::string name = option.names.back();
        for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2)
            name.insert(at, 1, '\\');
        EXPECT_THAT(page, HasSubstr("\\fB\\%" + name + "\\fR")) << node.name;
    }
    for (const CommandNode& child : node.children) expect_options(child, page);
}

TEST(ManPage, HasEachCommandAndEachOption) {
    const std::string page = man_page(command_outline(), "1.2.3", "2026-11-30");
    EXPECT_THAT(page, HasSubstr(".TH CLEANSLATE 1 2026-11-30 \"cleanslate 1.2.3\""));
    expect_options(command_outline(), page);
    EXPECT_THAT(page, HasSubstr(".SS cleanslate history diff [ID [ID]] [options]\n"));
    EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\nExit status: 0 all clean;"));
}

TEST(ManPage, TellsWhatSeveralCommandsShareOnce) {
    const OptionNode shared{{"-q", "--quiet"}, "", "No text (default: off)", "Report", false};
    const OptionNode own{{"--last"}, "N", "So many (default 20)", "Options", false};
    const CommandNode one{"one", "cleanslate one", "First", "Example:\n  cleanslate one", {shared, own}, {}};
    const CommandNode other{"other", "cleanslate other", "Second", "", {shared}, {}};
    const std::string page = man_page({"cleanslate", "", "It.", "", {}, {one, other}}, "1", "2026-11-30");
    EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\%\\-q\\fR, \\fB\\%\\-\\-quiet\\fR\nNo text (default: off)\n.br\n"
                                "Of one, other.\n"));
    EXPECT_EQ(page.find("No text"), page.rfind("No text"));
    EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\%\\-\\-last\\fR \\fIN\\fR\nSo many (default 20)\n"
                                ".PP\nAnd \\fB\\%\\-\\-quiet\\fR: see OPTIONS OF SEVERAL COMMANDS.\n"));
    EXPECT_THAT(page, HasSubstr(".RS 4\n.EX\ncleanslate one\n.EE\n.RE\n"));
}

TEST(ManPage, TakesNoTextForARequest) {
    const CommandNode one{"one", "cleanslate one", "First", ".so /etc/passwd\n  .so it's \\(ha", {}, {}};
    const std::string page = man_page({"cleanslate", "", "It.", "", {}, {one}}, "1", "2026-11-30");
    EXPECT_THAT(page, Not(HasSubstr("\n.so")));
    EXPECT_THAT(page, HasSubstr("\n\\&.so /etc/passwd\n"));
    EXPECT_THAT(page, HasSubstr(".EX\n\\&.so it\\(aqs \\e(ha\n.EE\n"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
