#include "controller/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/controller/temporary_folder.hpp"

namespace cleanslate::controller::config::testing {
namespace {

using controller::testing::put;
using controller::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConfigFiles : public ::testing::Test {
  protected:
    ConfigFiles() {
        std::filesystem::create_directories(folder_.file("home/.config/cleanslate"));
        std::filesystem::create_directories(folder_.file("xdg/cleanslate"));
    }
    std::string home() const { return folder_.file("home/.config/cleanslate/config.yaml"); }
    std::string site() const { return folder_.file("site.yaml"); }
    std::string own(const std::string& text) const {
        put(folder_.file("own.yaml"), text);
        return folder_.file("own.yaml");
    }
    Config load(const std::optional<std::string>& given = {}, Environment more = {}) const {
        more.emplace("HOME", folder_.file("home"));
        return load_config(given, more, site());
    }
    // "PLACE's file VALUE", a line each.
    std::vector<std::string> values(const Config& config, std::string_view key) const {
        EXPECT_TRUE(config.state()) << config.state().error().message;
        std::vector<std::string> texts;
        for (const Setting& setting : config.settings())
            if (setting.key->name == key)
                for (const Value& value : setting.values)
                    texts.push_back(std::filesystem::path(value.file).filename().string() + " " + value.text);
        return texts;
    }
    TemporaryFolder folder_;
};

TEST_F(ConfigFiles, NeedNotBeThere) {
    const Config config = load();
    EXPECT_TRUE(config.state());
    EXPECT_TRUE(config.settings().empty());
    ASSERT_EQ(config.files.size(), 2u);
    EXPECT_FALSE(config.files[0].there || config.files[1].there);
    EXPECT_EQ(config.files[0].path, home());
}

TEST_F(ConfigFiles, OfAUserWinOverTheSites) {
    put(home(), "fanout: 8\ninventory: [a.yaml]\nprotect: [mine]\n");
    put(site(), "fanout: 64\ninventory: [b.yaml, c.yaml]\nprotect: [ours, mine]\ntimeout: 30s\n");
    const Config config = load();
    EXPECT_THAT(values(config, "fanout"), ElementsAre("config.yaml 8"));
    EXPECT_THAT(values(config, "timeout"), ElementsAre("site.yaml 30s"));
    EXPECT_EQ(values(config, "inventory").size(), 1u) << "a list of the user's replaces the site's";
    EXPECT_THAT(values(config, "protect"), ElementsAre("site.yaml ours", "site.yaml mine"))
        << "and one that grows, grows";
}

TEST_F(ConfigFiles, ThatAreNamedStandInForTheUsers) {
    put(home(), "fanout: 8\n");
    put(site(), "fanout: 64\ntimeout: 30s\n");
    put(folder_.file("xdg/cleanslate/config.yaml"), "fanout: 16\n");
    const std::string own_file = own("fanout: 32\n");
    EXPECT_THAT(values(load(own_file), "fanout"), ElementsAre("own.yaml 32"));
    EXPECT_THAT(values(load(own_file), "timeout"), ElementsAre("site.yaml 30s")) << "the site's holds";
    EXPECT_THAT(values(load({}, {{"CLEANSLATE_CONFIG", own_file}}), "fanout"), ElementsAre("own.yaml 32"));
    const Environment xdg{{"XDG_CONFIG_HOME", folder_.file("xdg")}};
    EXPECT_THAT(values(load({}, xdg), "fanout"), ElementsAre("config.yaml 16"));
    EXPECT_THAT(values(load({}, {{"XDG_CONFIG_HOME", "xdg"}}), "fanout"), ElementsAre("config.yaml 8"))
        << "one that is not absolute does not count";
    EXPECT_THAT(values(load({}, {{"CLEANSLATE_CONFIG", ""}}), "fanout"), ElementsAre("config.yaml 8"));
}

TEST_F(ConfigFiles, CanBeLeftOut) {
    put(home(), "fanout: broken\nyes: true\n");
    put(site(), "yes: true\n");
    for (const Config& config : {load("none"), load({}, {{"CLEANSLATE_CONFIG", "none"}})}) {
        EXPECT_TRUE(config.state());
        EXPECT_TRUE(config.files.empty());
    }
    EXPECT_FALSE(load().state());
}

TEST_F(ConfigFiles, ThatAreNamedMustBeThere) {
    EXPECT_THAT(load(folder_.file("absent")).state().error().message, HasSubstr("there is no such file"));
    EXPECT_FALSE(load({}, {{"CLEANSLATE_CONFIG", folder_.file("absent")}}).state());
    EXPECT_FALSE(load("").state());
    EXPECT_THAT(load(folder_.file("home")).state().error().message, HasSubstr("no regular file"));
    std::filesystem::create_symlink(folder_.file("nowhere"), site());
    EXPECT_THAT(load().state().error().message, HasSubstr("cannot be opened"));
}

TEST_F(ConfigFiles, ThatOthersMayWriteToAreRefused) {
    for (const mode_t mode : {0664, 0646, 0666}) {
        put(home(), "fanout: 8\n");
        ::chmod(home().c_str(), mode);
        EXPECT_THAT(load().state().error().message, HasSubstr("others than its owner may write to it"));
        EXPECT_TRUE(load().settings().empty());
    }
    ::chmod(home().c_str(), 0644);
    EXPECT_TRUE(load().state());
}

TEST_F(ConfigFiles, OfSomebodyElseAreRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "giving a file away needs root";
    put(site(), "fanout: 8\n");
    ASSERT_EQ(::chown(site().c_str(), 64999, 64999), 0);
    EXPECT_THAT(load().state().error().message, HasSubstr("neither to root nor to whoever runs this"));
}

TEST_F(ConfigFiles, HaveABound) {
    put(home(), std::string(2u << 20, '#'));
    EXPECT_THAT(load().state().error().message, HasSubstr("more than 1 MiB"));
}

TEST_F(ConfigFiles, HaveValuesThatTheirOptionsTake) {
    const auto wrong = [&](const std::string& text) {
        put(home(), text);
        const auto right = check_values(load());
        return right ? std::string() : right.error().message;
    };
    EXPECT_EQ(wrong("fanout: 8\nprotect: [a]\nmax-used: 1GiB\nrequire-holders: true\ncolor: never\n"), "");
    EXPECT_THAT(wrong("fanout: lots"), HasSubstr("config.yaml:1:9: fanout: wants a number from 1"));
    EXPECT_THAT(wrong("max-kills: 0"), HasSubstr(":1:12: max-kills: wants a number from 1"));
    EXPECT_THAT(wrong("max-used: 5"), HasSubstr("max-used: \"5\" is not a size"));
    EXPECT_THAT(wrong("deadline: 60"), HasSubstr("deadline: \"60\" is not a duration"));
    EXPECT_THAT(wrong("format: [text, hml]"), HasSubstr(":1:16: format: wants one of"));
    EXPECT_THAT(wrong("format: [text, json]"), HasSubstr("format: stdout takes one report"));
    EXPECT_THAT(wrong("jump: 'a b'"), HasSubstr("jump: "));
    EXPECT_THAT(wrong("user: 'a b'"), HasSubstr(":1:7: user: \"a b\" is no user name"));
    EXPECT_THAT(wrong("user: -oX"), HasSubstr(":1:7: user: \"-oX\" is no user name"));
    EXPECT_EQ(wrong("user: CORP\\bob"), "");
    EXPECT_THAT(wrong("host-key-check: ask"), HasSubstr("strict|accept-new"));
}

TEST_F(ConfigFiles, MayHaveEveryKey) {
    const std::map<std::string_view, std::string> values{{"inventory", "[a, b]"},
                                                         {"playbook", "sweep"},
                                                         {"jump", "bastion"},
                                                         {"fanout", "3"},
                                                         {"threads", "1"},
                                                         {"max-failures", "10%"},
                                                         {"max-used", "200MiB"},
                                                         {"baseline-margin", "10MiB"},
                                                         {"require-holders", "true"},
                                                         {"max-kills", "9"},
                                                         {"max-kills-total", "9"},
                                                         {"color", "never"},
                                                         {"connect-timeout", "3s"},
                                                         {"timeout", "3s"},
                                                         {"deadline", "1h"},
                                                         {"settle", "3s"},
                                                         {"lock-wait", "3s"},
                                                         {"host-key-check", "strict"},
                                                         {"format", "[text]"}};
    std::string text;
    for (const Key& key : keys()) {
        const auto value = values.find(key.name);
        text += std::string(key.name) + ": " + (value == values.end() ? "x" : value->second) + "\n";
    }
    put(home(), text);
    const Config config = load();
    EXPECT_TRUE(config.state()) << config.state().error().message;
    EXPECT_EQ(config.settings().size(), keys().size());
    const auto right = check_values(config);
    EXPECT_TRUE(right) << right.error().message;
}

}  // namespace
}  // namespace cleanslate::controller::config::testing
