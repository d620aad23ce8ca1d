// Property: any text is refused with file:line or read to its end within the bounds; what is read answers for
// every host, or says with file:line why not; and a host's values hold nothing that a line did not say.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "agentless/ssh/ssh_config_parser.hpp"
#include "agentless/ssh/ssh_config_sections.hpp"

namespace {

using namespace cleanslate;
using namespace cleanslate::agentless::ssh;

// "c:LINE: ..." or "d:LINE: ...": the two files there are.
bool has_place(const std::string& message) {
    const auto colon = message.find(':', 2);
    return (message.starts_with("c:") || message.starts_with("d:")) && colon != std::string::npos &&
           colon > 2 && message.find_first_not_of("0123456789", 2) == colon;
}

// Every Include finds the second file, in which every further one would include itself.
ConfigSource two_files(std::string_view second) {
    ConfigSource source;
    source.matching = [](const std::string&) -> Result<std::vector<std::string>> {
        return std::vector<std::string>{"d"};
    };
    source.read = [second](const std::string&, bool) -> Result<std::optional<std::string>> {
        return std::optional(std::string(second));
    };
    return source;
}

void ask(const IndexedSections& sections, const ConfigQuery& query) {
    const auto lines = sections.lines_for(query, "op");
    if (!lines) {
        if (!has_place(lines.error().message) || lines.error().kind != "usage") std::abort();
        return;
    }
    for (std::size_t i = 0; i < lines->first.size(); ++i) {
        const Applied& applied = lines->first[i];
        if (!applied) continue;
        if (applied.directive->keyword != static_cast<Keyword>(i)) std::abort();
        if (!has_place(sections.place(applied) + ": ")) std::abort();
    }
    if (lines->of(Keyword::proxy_jump) && lines->of(Keyword::proxy_command) &&
        lines->of(Keyword::proxy_jump).value() != "none")
        std::abort();
    for (const Applied& file : lines->identity_files)
        if (file.value().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string_view first = text.substr(0, size - size / 3);
    const ConfigSource files = two_files(text.substr(first.size()));
    ConfigSource source = files;
    source.read = [&](const std::string& path, bool guarded) -> Result<std::optional<std::string>> {
        return path == "c" ? Result<std::optional<std::string>>(std::string(first))
                           : files.read(path, guarded);
    };
    auto parsed = parse_config({{"c"}}, source, "/home/op");
    if (!parsed) {
        const Error& error = parsed.error();
        if (error.kind != "usage" || !(has_place(error.message) || error.message == "more than 4000 files"))
            std::abort();
        return 0;
    }
    for (std::size_t i = 0; i < parsed->sections.size(); ++i)
        if (parsed->sections[i].parent.value_or(0) > i) std::abort();
    const IndexedSections sections(std::move(*parsed));
    ask(sections, {"gpu01"});
    ask(sections, {"GPU01.example.com", "root", 2200});
    ask(sections, {"::1"});
    return 0;
}
