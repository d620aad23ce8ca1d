// Property of the reader of config files: whatever the bytes, an error of kind "config" that names the file
// and can be shown on a terminal, or settings of known keys, each once and with a place, whose values are not
// empty and whose paths are absolute; whatever is then no value of its option is an error, too.
#undef NDEBUG  // the asserts are the test
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <set>

#include "base/text.hpp"
#include "controller/config/config.hpp"

namespace {

using namespace cleanslate;
using namespace cleanslate::controller::config;

void check_error(const Error& error) {
    assert(error.kind == "config");
    assert(error.message.find("/etc/fuzz.yaml") != std::string::npos);
    assert(printable(error.message) == error.message);
}

void check(const Setting& setting) {
    assert(setting.key != nullptr && setting.mark.line > 0 && setting.file == "/etc/fuzz.yaml");
    const bool is_list = setting.key->shape == Shape::list || setting.key->shape == Shape::growing_list;
    assert(is_list || setting.values.size() == 1);
    for (const Value& value : setting.values) {
        assert(!trim(value.text).empty());
        if (setting.key->names == Names::file) assert(value.text.starts_with('/'));
        if (setting.key->shape == Shape::yes_or_no) assert(value.text == "true" || value.text == "false");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const char* home : {"/home/alice", ""}) {
        auto settings = parse_config(text, "/etc/fuzz.yaml", home);
        if (!settings) {
            check_error(settings.error());
            continue;
        }
        std::set<const Key*> keys;
        for (const Setting& setting : *settings) {
            check(setting);
            assert(keys.insert(setting.key).second);
        }
        Config config;
        config.files.push_back({"/etc/fuzz.yaml", "--config", true, std::nullopt, std::move(*settings)});
        if (const auto valid = check_values(config); !valid) check_error(valid.error());
    }
    return 0;
}
