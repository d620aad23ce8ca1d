#include "controller/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace cleanslate::controller::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CommandLine, NamesTheCommand) {
    EXPECT_EQ(read({"check", "--local"}).command, Command::check);
    EXPECT_EQ(read({"clear", "--local"}).command, Command::clear);
    EXPECT_EQ(read({"run", "--local", "--", "true"}).command, Command::run);
    EXPECT_EQ(read({"hosts", "-i", "x"}).command, Command::hosts);
    EXPECT_EQ(read({"playbooks"}).command, Command::playbooks);
    EXPECT_EQ(read({"parse"}).command, Command::parse);
    EXPECT_EQ(read({"baseline", "--local", "-o", "x"}).command, Command::baseline);
    EXPECT_EQ(read({"explain"}).command, Command::explain);
    EXPECT_EQ(read({"audit"}).command, Command::audit);
    EXPECT_EQ(read({"history"}).command, Command::history);
}

TEST(CommandLine, NamesTheNearestCommandOfAWrongOne) {
    EXPECT_THAT(refusal({"chekc", "-l", "all"}), HasSubstr("no such command: chekc. Did you mean check?"));
    EXPECT_THAT(refusal({"gpu01"}), HasSubstr("no such command: gpu01\n"));
}

TEST(CommandLine, WithoutACommandShowsTheHelpOnStderr) {
    EXPECT_THAT(refusal({}), HasSubstr("Usage: cleanslate COMMAND"));
    EXPECT_THAT(refusal({"sweep"}), HasSubstr("--help"));
    EXPECT_THAT(refusal({"--local"}), HasSubstr("--help"));
}

TEST(CommandLine, RefusesWhatItDoesNotKnow) {
    EXPECT_THAT(refusal({"check", "--local", "--frob"}), HasSubstr("--frob"));
    EXPECT_THAT(refusal({"check", "--local", "gpu01"}), HasSubstr("gpu01"));
    EXPECT_THAT(refusal({"check", "--local", "--yes"}), HasSubstr("--yes"));
}

TEST(CommandLine, NamesTheCommandWhoseHelpWouldTell) {
    EXPECT_THAT(refusal({"clear", "--local", "--frob"}), HasSubstr("`cleanslate clear --help`"));
}

TEST(Hosts, ComeFromAnInventoryOrOutrightOrAreThisMachine) {
    EXPECT_EQ(read({"check", "-i", "fleet.yaml"}).inventories, std::vector<std::string>{"fleet.yaml"});
    EXPECT_EQ(read({"check", "-i", "fleet.yaml", "-l", "rack1,!gpu07"}).limit, "rack1,!gpu07");
    EXPECT_EQ(read({"check", "-H", "root@gpu[01-04]"}).targets, "root@gpu[01-04]");
    EXPECT_EQ(read({"check", "-H", "gpu01", "-H", "gpu02"}).targets, "gpu01,gpu02");
    EXPECT_EQ(read({"check", "-H", "[a-b]"}).targets, "[a-b]");
    EXPECT_TRUE(read({"check", "--local"}).local);
}

TEST(Hosts, ComeFromTheEnvironmentWhereNothingElseNamesThem) {
    const Environment environment{{"CLEANSLATE_INVENTORY", "env.yaml"}};
    EXPECT_EQ(read({"check"}, environment).inventories, std::vector<std::string>{"env.yaml"});
    EXPECT_EQ(read({"check", "-i", "given.yaml"}, environment).inventories,
              std::vector<std::string>{"given.yaml"});
    EXPECT_TRUE(read({"check", "-H", "gpu01"}, environment).inventories.empty());
    EXPECT_TRUE(read({"check", "--local"}, environment).inventories.empty());
    EXPECT_THAT(refusal({"check"}, {{"CLEANSLATE_INVENTORY", ""}}), HasSubstr("which hosts"));
}

TEST(Hosts, AreRefusedInTwoWaysAtOnce) {
    EXPECT_THAT(refusal({"check", "-H", "gpu01", "-i", "x"}), HasSubstr("-H"));
    EXPECT_THAT(refusal({"check", "-H", "gpu01", "-l", "x"}), HasSubstr("-H"));
    EXPECT_THAT(refusal({"check", "-H", "gpu01", "--local"}), HasSubstr("-H"));
    EXPECT_THAT(refusal({"check", "--local", "-i", "x"}), HasSubstr("--local"));
    EXPECT_THAT(refusal({"check", "--local", "-l", "x"}), HasSubstr("--local"));
    EXPECT_EQ(read({"check", "-i", "a", "-i", "b"}).inventories, (std::vector<std::string>{"a", "b"}));
    EXPECT_THAT(refusal({"check", "-i", "-", "-i", "-"}), HasSubstr("-i - is given twice"));
}

TEST(Hosts, MustBeSaidWhereSomethingIsDoneToThem) {
    EXPECT_THAT(refusal({"clear", "-i", "fleet.yaml"}), HasSubstr("-l all"));
    EXPECT_THAT(refusal({"run", "-i", "fleet.yaml", "--", "true"}), HasSubstr("-l all"));
    EXPECT_EQ(read({"clear", "-i", "fleet.yaml", "-l", "all"}).limit, "all");
    EXPECT_THAT(refusal({"clear"}, {{"CLEANSLATE_INVENTORY", "env.yaml"}}), HasSubstr("-l all"));
}

TEST(Hosts, AnEmptyLimitIsALimitAndNotEverything) {
    EXPECT_EQ(read({"check", "-i", "fleet.yaml", "-l", ""}).limit, "");
}

TEST(Hosts, MayBeThoseThatWereNotClean) {
    EXPECT_TRUE(read({"clear", "-i", "fleet.yaml", "--last-failed"}).last_failed);
    EXPECT_EQ(read({"clear", "-i", "fleet.yaml", "--last-failed", "-l", "rack1"}).limit, "rack1");
    EXPECT_EQ(read({"hosts", "-i", "fleet.yaml", "--last-failed", "--history", "h"}).history, "h");
    EXPECT_TRUE(read({"run", "-i", "fleet.yaml", "--last-failed", "--", "true"}).last_failed);
    EXPECT_THAT(refusal({"check", "-H", "gpu01", "--last-failed"}), HasSubstr("--last-failed"));
    EXPECT_THAT(refusal({"check", "--local", "--last-failed"}), HasSubstr("--last-failed"));
    EXPECT_THAT(refusal({"check", "-i", "x", "--last-failed", "--shard", "1/4"}), HasSubstr("--shard"));
    EXPECT_THAT(refusal({"check", "-i", "-", "--last-failed"}), HasSubstr("give it as a file"));
}

TEST(Run, TakesTheWordsAfterTheMarkerAsTheyAre) {
    const auto command = [](const Words& words) {
        Words all{"run", "-H", "gpu01", "--yes", "--"};
        all.insert(all.end(), words.begin(), words.end());
        return read(all).remote_command;
    };
    EXPECT_EQ(command({"nvidia-smi", "-L"}), "nvidia-smi -L");
    EXPECT_EQ(command({"ls --help | head -1"}), "ls --help | head -1");
    EXPECT_EQ(command({"echo", "--", "-v", "--format", "json"}), "echo -- -v --format json");
    EXPECT_EQ(command({"[a,b]", "{c}"}), "[a,b] {c}");
}

TEST(Run, WantsACommand) {
    EXPECT_THAT(refusal({"run", "-H", "gpu01"}), HasSubstr("after --"));
    EXPECT_THAT(refusal({"run", "-H", "gpu01", "--"}), HasSubstr("after --"));
    EXPECT_THAT(refusal({"run", "-H", "gpu01", "--", "  "}), HasSubstr("after --"));
    EXPECT_THAT(refusal({"run", "-H", "gpu01", "uptime"}), HasSubstr("uptime"));
}

TEST(Values, AreReadWithTheirUnits) {
    const Options options =
        read({"clear", "-H", "gpu01", "--connect-timeout", "3s", "--timeout", "2m", "--deadline", "1h",
              "--settle", "500ms", "--max-used", "1GiB", "-f", "8", "--threads", "2"});
    EXPECT_EQ(options.connect_timeout, Milliseconds{3000});
    EXPECT_EQ(options.limits.step_timeout, Milliseconds{120'000});
    EXPECT_EQ(options.limits.deadline, Milliseconds{3'600'000});
    EXPECT_EQ(options.settle, Milliseconds{500});
    EXPECT_EQ(options.max_used, Mebibytes{1024});
    EXPECT_EQ(options.limits.fanout, 8);
    EXPECT_EQ(options.limits.threads, 2);
}

TEST(Values, WithoutAUnitAreRefused) {
    EXPECT_THAT(refusal({"check", "--local", "--timeout", "60"}), HasSubstr("--timeout"));
    EXPECT_THAT(refusal({"check", "--local", "--max-used", "100"}), HasSubstr("--max-used"));
    EXPECT_THAT(refusal({"check", "--local", "--deadline", "-1s"}), HasSubstr("--deadline"));
}

TEST(Values, OutOfRangeAreRefused) {
    EXPECT_THAT(refusal({"check", "--local", "-f", "0"}), HasSubstr("from 1 to"));
    EXPECT_THAT(refusal({"check", "--local", "-f", "99999999999999999999"}), HasSubstr("from 1 to"));
    EXPECT_THAT(refusal({"check", "--local", "-f", "4x"}), HasSubstr("from 1 to"));
    EXPECT_THAT(refusal({"check", "--local", "--format", "xml"}), HasSubstr("html"));
    EXPECT_THAT(refusal({"check", "--local", "--color", "yes"}), HasSubstr("auto|always|never"));
    EXPECT_THAT(refusal({"check", "--local", "--host-key-check", "no"}), HasSubstr("strict|accept-new|off"));
    EXPECT_THAT(refusal({"parse", "--expect", "eight"}), HasSubstr("--expect"));
    EXPECT_THAT(refusal({"parse", "--expect", "-1"}), HasSubstr("--expect"));
}

TEST(Values, HaveTheDocumentedDefaults) {
    const Options options = read({"clear", "-H", "gpu01"});
    EXPECT_EQ(options.limits.fanout, 128);
    EXPECT_EQ(options.limits.threads, 0);
    EXPECT_EQ(options.limits.step_timeout, Milliseconds{60'000});
    EXPECT_EQ(options.limits.deadline, std::nullopt);
    EXPECT_EQ(options.limits.max_failures, std::nullopt);
    EXPECT_EQ(options.connect_timeout, std::nullopt) << "ssh's configuration may say";
    EXPECT_EQ(options.host_key_check, std::nullopt);
    EXPECT_EQ(options.playbook, "clear");
    EXPECT_EQ(options.settle, std::nullopt);
    EXPECT_EQ(options.max_used, std::nullopt);
    ASSERT_EQ(options.formats.size(), 1u);
    EXPECT_EQ(options.formats[0].format, Format::text);
    EXPECT_TRUE(options.formats[0].to_stdout());
    EXPECT_EQ(options.color, ColorMode::automatic);
    EXPECT_FALSE(options.yes);
    EXPECT_FALSE(options.dry_run);
    EXPECT_FALSE(options.include_jobs);
    EXPECT_FALSE(options.require_holders);
    EXPECT_FALSE(options.raw_commands);
    EXPECT_EQ(options.verbosity, 0);
}

TEST(Values, ThatRepeatAreListed) {
    const Options options =
        read({"clear", "-H", "gpu01", "--protect", "a", "--protect", "b.service", "--unprotect", "c",
              "--identity", "k1", "--identity", "k2", "--known-hosts", "h"});
    EXPECT_THAT(options.protect, ElementsAre("a", "b.service"));
    EXPECT_THAT(options.unprotect, ElementsAre("c"));
    EXPECT_THAT(options.identities, ElementsAre("k1", "k2"));
    EXPECT_THAT(options.known_hosts, ElementsAre("h"));
}

TEST(Values, OfAListTakeOneWordEach) {
    EXPECT_THAT(refusal({"clear", "-H", "gpu01", "--protect", "a", "b"}), HasSubstr("b"));
}

TEST(Settings, AreNameAndValue) {
    const Options options = read({"clear", "--local", "--set", "pattern=a=b", "--set", "wait="});
    EXPECT_EQ(options.settings.at("pattern"), "a=b");
    EXPECT_EQ(options.settings.at("wait"), "");
    EXPECT_THAT(refusal({"clear", "--local", "--set", "pattern"}), HasSubstr("NAME=VALUE"));
    EXPECT_THAT(refusal({"clear", "--local", "--set", "=x"}), HasSubstr("NAME=VALUE"));
    EXPECT_THAT(refusal({"clear", "--local", "--set", "a=1", "--set", "a=2"}), HasSubstr("twice"));
}

TEST(Verbosity, Adds) {
    EXPECT_EQ(read({"check", "--local", "-v"}).verbosity, 1);
    EXPECT_EQ(read({"check", "--local", "-vv"}).verbosity, 2);
    EXPECT_EQ(read({"check", "--local", "-v", "--verbose"}).verbosity, 2);
}

TEST(MaxFailures, IsACountOrAShare) {
    EXPECT_EQ(parse_max_failures("5").value(), 5.0);
    EXPECT_EQ(parse_max_failures("0").value(), 0.0);
    EXPECT_EQ(parse_max_failures("10%").value(), 0.1);
    EXPECT_EQ(parse_max_failures("0%").value(), 0.0);
    EXPECT_EQ(parse_max_failures("100%").value(), std::nullopt);
    for (const char* wrong : {"", "%", "-1", "0.5", "101%", "5 %", "many", "99999999999"})
        EXPECT_FALSE(parse_max_failures(wrong)) << wrong;
}

TEST(Parse, ReadsItsOwnOptions) {
    const Options options = read({"parse", "--expect", "8", "--columns", "index, memory.used", "out.txt"});
    EXPECT_EQ(options.expect, 8);
    EXPECT_THAT(options.columns, ElementsAre("index", "memory.used"));
    EXPECT_EQ(options.file, "out.txt");
    EXPECT_TRUE(read({"parse", "--expect", "any"}).expect_any);
    EXPECT_EQ(read({"parse"}).file, "-");
    EXPECT_EQ(read({"parse", "-"}).file, "-");
}

TEST(Version, NamesTheLibraries) {
    const std::string version = help_of({"--version"});
    for (const char* name : {"cleanslate ", "libssh2 ", "OpenSSL ", "Boost "})
        EXPECT_THAT(version, HasSubstr(name));
}

TEST(Baseline, IsJudgedByWithItsMargin) {
    for (const std::string command : {"check", "clear"}) {
        const Options options =
            read({command, "-H", "gpu01", "--baseline", "idle.yaml", "--baseline-margin", "80MiB"});
        EXPECT_EQ(options.baseline, "idle.yaml");
        EXPECT_EQ(options.baseline_margin, Mebibytes{80});
    }
    EXPECT_EQ(read({"parse", "--baseline", "idle.yaml"}).baseline, "idle.yaml");
    EXPECT_EQ(read({"check", "--local"}).baseline, std::nullopt);
    EXPECT_THAT(refusal({"check", "--local", "--baseline-margin", "80MiB"}), HasSubstr("--baseline FILE"));
    EXPECT_THAT(refusal({"parse", "--baseline-margin", "80MiB"}), HasSubstr("--baseline FILE"));
    EXPECT_THAT(refusal({"check", "--local", "--baseline", "x", "--baseline-margin", "80"}),
                HasSubstr("--baseline-margin"));
}

TEST(Unattended, SweepsWaitAreAloneAndTellWhatChanged) {
    for (const std::string command : {"check", "clear"}) {
        const Options options = read({command, "-H", "gpu01", "--jitter", "30m", "--exclusive", "--on-change",
                                      "mail root", "--on-change-timeout", "5m"});
        EXPECT_EQ(options.jitter, Milliseconds{1'800'000});
        EXPECT_TRUE(options.exclusive);
        EXPECT_EQ(options.on_change, "mail root");
        EXPECT_EQ(options.on_change_timeout, Milliseconds{300'000});
    }
    const Options plain = read({"check", "-H", "gpu01", "--jitter", "0s"});
    EXPECT_EQ(plain.jitter, Milliseconds{0});
    EXPECT_FALSE(plain.exclusive);
    EXPECT_EQ(plain.on_change, std::nullopt);
}

TEST(Unattended, OptionsThatMakeNoSenseAreRefused) {
    EXPECT_THAT(refusal({"check", "--local", "--jitter", "2d"}), HasSubstr("--jitter: wants from"));
    EXPECT_THAT(refusal({"check", "--local", "--jitter", "30"}), HasSubstr("--jitter"));
    EXPECT_THAT(refusal({"check", "--local", "--on-change", " "}), HasSubstr("wants a command"));
    EXPECT_THAT(refusal({"check", "--local", "--on-change", "x", "--no-history"}), HasSubstr("--no-history"));
    EXPECT_THAT(refusal({"check", "--local", "--on-change", "x", "--on-change-timeout", "0s"}),
                HasSubstr("--on-change-timeout"));
    EXPECT_THAT(refusal({"check", "--local", "--on-change-timeout", "5s"}), HasSubstr("--on-change COMMAND"));
    EXPECT_THAT(refusal({"run", "--local", "--exclusive", "--", "true"}), HasSubstr("--exclusive"));
}

TEST(Baseline, IsRecordedIntoTheFileThatIsNamed) {
    const Options options = read({"baseline", "-i", "fleet.yaml", "-l", "rack1", "-o", "idle.yaml"});
    EXPECT_EQ(options.output, "idle.yaml");
    EXPECT_EQ(options.limit, "rack1");
    EXPECT_EQ(options.most_idle, Mebibytes{500});
    EXPECT_EQ(read({"baseline", "--local", "-o", "x", "--max-used", "2GiB"}).most_idle, Mebibytes{2048});
    EXPECT_EQ(read({"baseline", "--local", "-o", "x", "--max-used", "2GiB"}).max_used, std::nullopt)
        << "the cap of what is recorded is no limit of a verdict";
    EXPECT_THAT(refusal({"baseline", "--local"}), HasSubstr("-o FILE"));
    EXPECT_THAT(refusal({"baseline", "--local", "-o", ""}), HasSubstr("-o FILE"));
    EXPECT_THAT(refusal({"baseline", "--local", "-o", "-"}), HasSubstr("stdout"));
    EXPECT_THAT(refusal({"baseline", "-o", "x"}), HasSubstr("which hosts"));
}

TEST(Explain, TakesAnyNumberOfCodes) {
    EXPECT_TRUE(read({"explain"}).codes.empty());
    EXPECT_THAT(read({"explain", "driver-hung", "held"}).codes, ElementsAre("driver-hung", "held"));
    EXPECT_EQ(read({"explain", "--format", "json"}).format, Format::json);
}

TEST(Clear, IsBoundedWhereItIsTold) {
    const Options bounded = read({"clear", "--local", "--max-kills", "64", "--max-kills-total", "500",
                                  "--serial", "4", "--lock-wait", "0s"});
    EXPECT_EQ(bounded.max_kills, 64);
    EXPECT_EQ(bounded.max_kills_total, 500);
    EXPECT_EQ(bounded.serial, 4);
    EXPECT_EQ(bounded.lock_wait, Milliseconds{0});
    const Options plain = read({"clear", "--local"});
    EXPECT_EQ(plain.max_kills, std::nullopt);
    EXPECT_EQ(plain.max_kills_total, std::nullopt);
    EXPECT_EQ(plain.serial, 1);
    EXPECT_EQ(plain.lock_wait, Milliseconds{10'000});
    for (const char* number : {"0", "-1", "many", "1000000000000"}) {
        EXPECT_THAT(refusal({"clear", "--local", "--max-kills", number}), HasSubstr("--max-kills"));
        EXPECT_THAT(refusal({"clear", "--local", "--max-kills-total", number}),
                    HasSubstr("--max-kills-total"));
        EXPECT_THAT(refusal({"clear", "--local", "--serial", number}), HasSubstr("--serial"));
    }
    EXPECT_THAT(refusal({"clear", "--local", "--lock-wait", "10"}), HasSubstr("--lock-wait"));
}

TEST(Clear, WantsAWordForEachKindOfStepThatCannotBeTakenBack) {
    const Options none = read({"clear", "--local"});
    EXPECT_FALSE(none.allow_reset || none.allow_reboot || none.allow_shm);
    EXPECT_TRUE(read({"clear", "--local", "--allow-reset"}).allow_reset);
    EXPECT_TRUE(read({"clear", "--local", "--allow-reboot"}).allow_reboot);
    EXPECT_TRUE(read({"clear", "--local", "--allow-shm"}).allow_shm);
    for (const char* flag :
         {"--allow-reset", "--allow-reboot", "--allow-shm", "--serial=2", "--lock-wait=1s"}) {
        EXPECT_THAT(refusal({"check", "--local", flag}), HasSubstr("--help"));
        EXPECT_THAT(refusal({"run", "--local", flag, "--", "true"}), HasSubstr("--help"));
    }
}

TEST(Become, IsForTheCommandsThatLogIn) {
    for (const Words& words : {Words{"check", "--local"}, Words{"clear", "--local"},
                               Words{"baseline", "--local", "-o", "x"}, Words{"run", "--local"}}) {
        Words with = words;
        with.insert(with.end(), {"--become", "--ask-become-pass"});
        if (words[0] == "run") with.insert(with.end(), {"--", "true"});
        EXPECT_TRUE(read(with).become);
        EXPECT_TRUE(read(with).ask_become_pass);
    }
    EXPECT_FALSE(read({"check", "--local", "--ask-become-pass"}).become);
    EXPECT_THAT(refusal({"hosts", "-i", "x", "--become"}), HasSubstr("--become"));
    EXPECT_THAT(refusal({"parse", "--become"}), HasSubstr("--become"));
    // A password in the command line would be seen by everybody.
    EXPECT_THAT(refusal({"check", "--local", "--ask-become-pass=geheim"}), HasSubstr("--ask-become-pass"));
}

TEST(AuditOptions, TakeHostsATimeAndAFile) {
    const Options options = read({"audit", "--host", "gpu[01-04],x*", "--host", "[a-b]", "--since", "7d",
                                  "--audit", "log", "--format", "json"});
    EXPECT_THAT(options.audit_hosts, ElementsAre("gpu[01-04],x*", "[a-b]"));
    EXPECT_EQ(options.since, "7d");
    EXPECT_EQ(options.audit, "log");
    EXPECT_EQ(options.format, Format::json);
    EXPECT_THAT(refusal({"audit", "--yes"}), HasSubstr("--yes"));
    EXPECT_THAT(refusal({"audit", "gpu01"}), HasSubstr("gpu01"));
}

TEST(Options, TheWayToTheHostsIsSsh) {
    const Options options = read({"check", "-i", "x", "-F", "fleet.conf", "-J", "root@a:2200, b"});
    EXPECT_EQ(options.ssh_config, "fleet.conf");
    EXPECT_EQ(options.jump, "root@a:2200,b");
    EXPECT_EQ(
        read({"run", "-l", "all", "-i", "x", "--jump", "none", "--ssh-config", "none", "--", "id"}).jump,
        "none");
    EXPECT_THAT(refusal({"check", "-i", "x", "-J", "a,,b"}), HasSubstr("found no jump host in \"\""));
    EXPECT_THAT(refusal({"check", "-i", "x", "-J", "a", "-J", "b"}), HasSubstr("--jump"));
}

TEST(Options, TrustIsAboutHostsOverSsh) {
    const Options options = read({"trust", "-H", "gpu01", "--known-hosts", "kh", "--yes", "--fanout", "8",
                                  "--deadline", "10s", "--format", "json"});
    EXPECT_EQ(options.command, Command::trust);
    EXPECT_TRUE(options.yes);
    EXPECT_EQ(options.known_hosts, Words{"kh"});
    EXPECT_EQ(options.limits.fanout, 8);
    EXPECT_EQ(options.format, Format::json);
    EXPECT_THAT(refusal({"trust", "--local"}), HasSubstr("--local"));
    EXPECT_THAT(refusal({"trust", "-H", "gpu01", "--max-failures", "1"}), HasSubstr("--max-failures"));
    EXPECT_THAT(refusal({"trust"}), HasSubstr("which hosts?"));
    EXPECT_THAT(refusal({"trust"}), Not(HasSubstr("--local"))) << "it goes over SSH or not at all";
}

TEST(ReportOptions, AReportIsWrittenInSeveralFormsAtOnce) {
    const Options options = read({"check", "--local", "--format", "html=fleet.html", "--format", "json",
                                  "--format=prom=/var/lib/x.prom", "-q"});
    ASSERT_EQ(options.formats.size(), 3u);
    EXPECT_EQ(options.formats[0].file, "fleet.html");
    EXPECT_EQ(options.formats[1].format, Format::json);
    EXPECT_TRUE(options.formats[1].to_stdout());
    EXPECT_EQ(options.formats[2].file, "/var/lib/x.prom");
    EXPECT_TRUE(options.quiet);
}

TEST(ReportOptions, TextIsOnStdoutUnlessSomethingElseIs) {
    const auto forms = [](std::vector<std::string> more) {
        more.insert(more.begin(), {"check", "--local"});
        std::vector<std::string> words;
        for (const FormatRequest& request : read(more).formats)
            words.push_back(std::string(to_string(request.format)) + "=" + request.file);
        return words;
    };
    EXPECT_THAT(forms({}), ElementsAre("text=-"));
    EXPECT_THAT(forms({"--format", "csv=x"}), ElementsAre("csv=x", "text=-"));
    EXPECT_THAT(forms({"--format", "csv"}), ElementsAre("csv=-"));
    EXPECT_THAT(forms({"--clean-hosts", "x"}), ElementsAre("text=-"));
    EXPECT_THAT(forms({"--clean-hosts", "slurm=-"}), ElementsAre());
}

TEST(ReportOptions, StdoutAndEachFileTakeOneThing) {
    EXPECT_THAT(refusal({"check", "--local", "--format", "json", "--format", "text"}),
                HasSubstr("stdout takes one"));
    EXPECT_THAT(refusal({"check", "--local", "--format", "json", "--clean-hosts", "-"}),
                HasSubstr("stdout takes one"));
    EXPECT_THAT(refusal({"check", "--local", "--clean-hosts", "-", "--not-clean-hosts", "mpi=-"}),
                HasSubstr("stdout takes one"));
    EXPECT_THAT(refusal({"check", "--local", "--format", "json=x", "--clean-hosts", "slurm=x"}),
                HasSubstr("x is asked for twice"));
    EXPECT_THAT(refusal({"check", "--local", "--format", "html="}), HasSubstr("wants a file"));
}

TEST(ReportOptions, RunHasNoFormsOfGpus) {
    for (const std::string form : {"csv", "prom=x"})
        EXPECT_THAT(refusal({"run", "--local", "--format", form, "--", "id"}), HasSubstr("surveys no GPU"));
    EXPECT_EQ(read({"run", "--local", "--format", "junit=x", "--", "id"}).formats.size(), 2u);
}

TEST(ReportOptions, ListsAndTheirGate) {
    const Options options = read({"check", "--local", "--clean-hosts", "a", "--clean-hosts", "slurm=b",
                                  "--not-clean-hosts", "ansible=c", "--expect-hosts", "12"});
    ASSERT_EQ(options.clean_hosts.size(), 2u);
    EXPECT_EQ(options.clean_hosts[0].form, ListForm::plain);
    EXPECT_EQ(options.clean_hosts[1].form, ListForm::slurm);
    EXPECT_EQ(options.not_clean_hosts.at(0).file, "c");
    EXPECT_EQ(options.expect_hosts, 12);
    for (const std::string count : {"0", "-1", "", "1.5", "99999999999"})
        EXPECT_THAT(refusal({"check", "--local", "--expect-hosts", count}), HasSubstr("--expect-hosts"));
    EXPECT_THAT(refusal({"check", "--local", "--history", "x", "--no-history"}), HasSubstr("--no-history"));
}

TEST(HistoryOptions, AreOfItsActions) {
    EXPECT_EQ(read({"history"}).history_action, HistoryAction::list);
    const Options list = read(
        {"history", "--last", "5", "--since", "7d", "-i", "f.yaml", "--history", "h.db", "--format", "json"});
    EXPECT_EQ(list.last, 5);
    EXPECT_EQ(list.since, "7d");
    EXPECT_EQ(list.inventories, std::vector<std::string>{"f.yaml"});
    EXPECT_EQ(list.history, "h.db");
    EXPECT_EQ(list.format, Format::json);
    EXPECT_THAT(read({"history", "--host", "a", "--host", "b[1-2]"}).history_hosts,
                ElementsAre("a", "b[1-2]"));
    const Options show = read({"history", "show", "37", "--format", "html=x", "--history", "h.db"});
    EXPECT_EQ(show.history_action, HistoryAction::show);
    EXPECT_THAT(show.sweeps, ElementsAre("37"));
    EXPECT_EQ(show.formats.size(), 2u);
    EXPECT_EQ(show.history, "h.db");
    EXPECT_THAT(read({"history", "diff"}).sweeps, ElementsAre());
    EXPECT_THAT(read({"history", "diff", "30", "last"}).sweeps, ElementsAre("30", "last"));
    EXPECT_EQ(read({"history", "top", "--last", "3"}).history_action, HistoryAction::top);
    const Options prune = read({"history", "prune", "--keep", "90d", "--keep-last", "2", "--dry-run"});
    EXPECT_EQ(prune.keep, std::chrono::hours(24 * 90));
    EXPECT_EQ(prune.keep_last, 2);
    EXPECT_TRUE(prune.dry_run);
}

TEST(HistoryOptions, AreRefusedWhereTheySayNothing) {
    EXPECT_THAT(refusal({"history", "show"}), HasSubstr("ID"));
    EXPECT_THAT(refusal({"history", "show", "1", "2"}), HasSubstr("2"));
    EXPECT_THAT(refusal({"history", "diff", "1", "2", "3"}), HasSubstr("3"));
    EXPECT_THAT(refusal({"history", "prune"}), HasSubstr("--keep 90d or --keep-last N"));
    EXPECT_THAT(refusal({"history", "prune", "--keep", "90"}), HasSubstr("--keep"));
    EXPECT_THAT(refusal({"history", "--last", "0"}), HasSubstr("--last"));
    EXPECT_THAT(refusal({"history", "--host", "a", "diff"}), HasSubstr("--host"));
    EXPECT_THAT(refusal({"history", "sho"}), HasSubstr("sho"));
    EXPECT_THAT(refusal({"history", "show", "1", "--format", "html=x", "--clean-hosts", "x"}),
                HasSubstr("twice"));
}

}  // namespace
}  // namespace cleanslate::controller::testing
