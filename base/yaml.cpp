#include "base/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <spanstream>

#include "base/text.hpp"
#include "base/yaml_tree.hpp"

namespace cleanslate::yaml {
namespace {

constexpr std::size_t max_bytes = 64U << 20;

Mark mark_of(std::string_view text, std::size_t offset) {
    const auto before = text.substr(0, offset);
    const auto line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {static_cast<int>(std::ranges::count(before, '\n')) + 1,
            static_cast<int>(offset - line_start) + 1};
}

// What yaml-cpp would replace, guess at or read past in silence.
void refuse_bad_bytes(std::string_view text) {
    if (text.size() > max_bytes) refuse({}, fmt::format("larger than {} MiB", max_bytes >> 20));
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
        refuse({1, 1}, "found UTF-16", "save the file as UTF-8");
    }
    const auto control = std::ranges::find_if(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    });
    if (control != text.end()) {
        const auto offset = static_cast<std::size_t>(control - text.begin());
        refuse(mark_of(text, offset),
               fmt::format("found a control byte ({})", printable(text.substr(offset, 1))),
               "save the file as plain UTF-8 text");
    }
    if (const auto offset = invalid_utf8(text)) {
        refuse(mark_of(text, *offset),
               fmt::format("found invalid UTF-8 ({})", printable(text.substr(*offset, 1))),
               "save the file as UTF-8");
    }
}

Document read(std::string_view text) {
    refuse_bad_bytes(text);
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    std::ispanstream stream(text);
    YAML::Parser parser(stream);
    TreeBuilder builder;
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take();
}

}  // namespace

Result<Document> parse(std::string_view text, std::string_view file) {
    const auto error = [&](Mark mark, std::string_view message, std::string remedy = {}) {
        return fail("yaml", fmt::format("{}: {}", place(file, mark), message), std::move(remedy));
    };
    try {
        return read(text);
    } catch (const Refusal& refusal) {
        return error(refusal.mark, refusal.message, refusal.remedy);
    } catch (const YAML::Exception& e) {
        return error(e.mark.is_null() ? Mark{} : mark_of(e.mark),
                     fmt::format("malformed YAML: {}", printable(e.msg)),
                     "look at the indentation, quotes and brackets there and just before");
    } catch (const std::exception& e) {
        return error({}, fmt::format("can not be read: {}", e.what()));
    }
}

}  // namespace cleanslate::yaml
