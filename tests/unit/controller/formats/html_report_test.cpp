#include "controller/formats/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "controller/json_report.hpp"
#include "tests/unit/controller/golden_report.hpp"

namespace cleanslate::controller {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string html_of(const Report& report) {
    std::string text;
    write_html(report, false, [&](std::string_view piece) { text += piece; });
    return text;
}

std::string json_of(const Report& report) {
    std::string text;
    write_json(report, false, [&](std::string_view piece) { text += piece; });
    return text;
}

constexpr std::string_view data_begin = "<script type=\"application/json\" id=\"report\">";

// What stands between the two, the first of them.
std::string between(const std::string& text, std::string_view begin, std::string_view end) {
    const auto from = text.find(begin);
    if (from == std::string::npos) return "(not there)";
    const auto to = text.find(end, from + begin.size());
    return text.substr(from + begin.size(), to - from - begin.size());
}

std::size_t count(std::string_view text, std::string_view what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
    return found;
}

// The page without what its look and its script are made of, which the browser's tests are about, and without
// its data, which HoldsTheJsonReport compares.
std::string without_parts(std::string page) {
    const auto data = page.find(data_begin) + data_begin.size();
    page.replace(data, page.find("</script>", data) - data, "(the JSON report)");
    std::string text;
    std::istringstream lines(page);
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("<style>") || line.starts_with("<script>")) {
            inside = true;
            text += line.starts_with("<style>") ? "(style)\n" : "(script)\n";
        } else if (!inside) {
            text += line + "\n";
        }
        if (line.starts_with("</style>") || line.starts_with("</script>")) inside = false;
    }
    return std::regex_replace(text, std::regex("sha256-[A-Za-z0-9+/]{43}="), "sha256");
}

TEST(HtmlReport, IsWhatTheGoldenFileSays) {
    const std::string file = CLEANSLATE_SOURCE_DIR "/tests/golden/report.html";
    const std::string page = without_parts(html_of(golden_report()));
    if (std::getenv("CLEANSLATE_UPDATE_GOLDEN") != nullptr) std::ofstream(file, std::ios::binary) << page;
    std::ifstream in(file, std::ios::binary);
    const std::string golden{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(page, golden) << "CLEANSLATE_UPDATE_GOLDEN=1 writes " << file << " anew";
}

TEST(HtmlReport, HoldsTheJsonReport) {
    for (const Report& report : {golden_report(), golden_run(), report_of({})}) {
        const std::string data = between(html_of(report), data_begin, "</script>");
        EXPECT_EQ(nlohmann::json::parse(data), nlohmann::json::parse(json_of(report)));
    }
}

TEST(HtmlReport, LetsNoTextOfAHostEndItsScript) {
    const std::string page = html_of(golden_report());
    const std::string data = between(page, data_begin, "</script>");
    EXPECT_THAT(data, HasSubstr("\\u003c/script\\u003e"));
    EXPECT_EQ(data.find_first_of("<>&"), std::string::npos);
    const std::string empty = html_of(report_of({}));
    for (const char* const tag : {"<script", "</script", "<style", "<!--", "<img"})
        EXPECT_EQ(count(page, tag), count(empty, tag)) << tag;
}

TEST(HtmlReport, LetsNoTextAroundTheHostsBecomeMarkup) {
    Report report = report_of({clean_host("<b>host</b>")}, "clear");
    report.inventory = report.playbook = report.limit = "<b>\"x\"</b>";
    report.result.audit_failed = true;
    report.result.audit_error = "<b>";
    const std::string page = html_of(report);
    EXPECT_THAT(page, Not(HasSubstr("<b>")));
    EXPECT_THAT(page, HasSubstr("<title>&lt;b&gt;host&lt;/b&gt; is clean - cleanslate</title>"));
    EXPECT_THAT(page, HasSubstr("clear with &lt;b&gt;&quot;x&quot;&lt;/b&gt; of &lt;b&gt;"));
    EXPECT_THAT(page, HasSubstr("the audit log could not be written: &lt;b&gt;"));
}

TEST(HtmlReport, AllowsNothingButItsOwnParts) {
    const std::string page = html_of(golden_report());
    const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\"");
    EXPECT_THAT(policy, StartsWith("default-src 'none';"));
    EXPECT_THAT(policy, HasSubstr("require-trusted-types-for 'script'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    // The one script without a hash is data.
    EXPECT_EQ(count(policy, "'sha256-"), count(page, "<style>") + count(page, "<script>"));
    const std::regex hashes("('sha256-[A-Za-z0-9+/]{43}=')");
    EXPECT_EQ(
        std::distance(std::sregex_iterator(policy.begin(), policy.end(), hashes), std::sregex_iterator()),
        static_cast<std::ptrdiff_t>(count(policy, "'sha256-")));
}

TEST(HtmlReport, LoadsNothing) {
    const std::string page = html_of(report_of({}));
    for (const char* const text :
         {"http://", "https://", "//cdn", " src=", "@import", "url(", "innerHTML", "eval("})
        EXPECT_EQ(count(page, text), 0u) << text;
}

TEST(HtmlReport, IsWrittenHostByHost) {
    std::vector<HostOutcome> hosts(300, dirty_host("gpu"));
    std::size_t largest = 0, all = 0;
    write_html(report_of(hosts), false, [&](std::string_view piece) {
        largest = std::max(largest, piece.size());
        all += piece.size();
    });
    const std::size_t page_alone = html_of(report_of({})).size();
    EXPECT_GT(all - page_alone, 300'000u);
    EXPECT_LT(largest, page_alone);
}

TEST(HtmlReport, MasksSecretsUnlessRawCommandsWereAskedFor) {
    std::string raw;
    write_html(golden_run(), true, [&](std::string_view piece) { raw += piece; });
    EXPECT_THAT(raw, HasSubstr("geheim"));
    EXPECT_THAT(html_of(golden_run()), Not(HasSubstr("geheim")));
    EXPECT_THAT(html_of(golden_report()), Not(HasSubstr("geheim")));
}

TEST(HtmlReport, SaysItsSummaryWithoutJavaScript) {
    const std::string text = between(html_of(golden_report()), "<noscript>", "</noscript>");
    EXPECT_THAT(text, HasSubstr("14 hosts: 4 clean, 4 dirty, 1 sick, 3 unknown, 2 unreachable"));
    EXPECT_THAT(text, HasSubstr("need JavaScript"));
}

TEST(HtmlReport, SaysWhyASweepEndedEarly) {
    Report report = report_of({not_tried_host("gpu01")}, "clear");
    report.result.deadline_passed = true;
    EXPECT_THAT(html_of(report), HasSubstr("<span>stopped by its deadline</span>"));
    report.result.interrupted = true;
    EXPECT_THAT(html_of(report), HasSubstr("<span>interrupted before its end</span>"));
    Report dry = report_of({planned_host("gpu01")}, "clear");
    dry.dry_run = true;
    EXPECT_THAT(html_of(dry), HasSubstr("<span>dry run: nothing was signalled</span>"));
    dry.share = Share{{2, 4}, 9, "gpu[1-9]"};
    EXPECT_THAT(html_of(dry), HasSubstr(", shard 2/4"));
    dry.declined = true;
    EXPECT_THAT(html_of(dry), HasSubstr("<span>declined: nothing was signalled</span>"));
}

TEST(HtmlHeadline, CountsTheHostsThatAreNotClean) {
    EXPECT_EQ(headline(report_of({})), "No host was looked at");
    EXPECT_EQ(headline(report_of({clean_host("gpu01")})), "gpu01 is clean");
    EXPECT_EQ(headline(report_of({dirty_host("-")}, "parse")), "The host is dirty");
    EXPECT_EQ(headline(report_of({clean_host("a"), clean_host("b")})), "All 2 hosts are clean");
    HostOutcome in_part = clean_host("a");
    in_part.last->gpus[1].verdict = Verdict::dirty;
    in_part.last->gpus[1].judged = false;
    EXPECT_EQ(headline(report_of({in_part})), "a is clean, of the GPUs that were judged");
    EXPECT_EQ(headline(report_of({in_part, clean_host("b")})),
              "All 2 hosts are clean, of the GPUs that were judged");
    EXPECT_EQ(headline(report_of({clean_host("a"), dirty_host("b")})), "1 of 2 hosts is not clean");
    EXPECT_EQ(headline(report_of({clean_host("a"), dirty_host("b"), not_tried_host("c")})),
              "2 of 3 hosts are not clean");
}

TEST(HtmlHeadline, SaysHowAnAdHocCommandWent) {
    const auto said = [](std::vector<HostOutcome> hosts) {
        return headline(report_of(std::move(hosts), "run"));
    };
    EXPECT_EQ(said({asked_host("a", 0, "")}), "The command succeeded on a");
    EXPECT_EQ(said({asked_host("a", 0, ""), asked_host("b", 0, "")}), "The command succeeded on all 2 hosts");
    EXPECT_EQ(said({asked_host("a", 0, ""), asked_host("b", 1, "")}), "The command failed on 1 of 2 hosts");
    EXPECT_EQ(said({asked_host("a", 0, ""), unreachable_host("b")}),
              "The command was not answered by 1 of 2 hosts");
    EXPECT_EQ(said({asked_host("a", 2, ""), unreachable_host("b")}),
              "The command failed on 1 of 2 hosts and was not answered by 1");
    Report dry = report_of({asked_host("a", 0, "")}, "run");
    dry.dry_run = true;
    EXPECT_EQ(headline(dry), "The command would run on 1 host");
}

TEST(JsonInScript, MeansTheSameAndEndsNoElement) {
    const std::string_view json = "[\"</script><!--&amp;\xE2\x80\xA8\xE2\x80\xA9\xE2\x82\xAC\"]";
    const std::string text = json_in_script(json);
    EXPECT_EQ(text, "[\"\\u003c/script\\u003e\\u003c!--\\u0026amp;\\u2028\\u2029\xE2\x82\xAC\"]");
    EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(json));
    EXPECT_EQ(json_in_script("\xE2"), "\xE2");
    EXPECT_EQ(json_in_script(""), "");
}

TEST(HtmlText, IsNoMarkup) {
    EXPECT_EQ(html_text("<a href='x' title=\"&\">"), "&lt;a href=&#39;x&#39; title=&quot;&amp;&quot;&gt;");
}

}  // namespace
}  // namespace cleanslate::controller
