#include "inventory/regex.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <cctype>
#include <string>

#include "base/text.hpp"

namespace cleanslate::inventory {
namespace {

constexpr std::size_t max_expression = 500;
constexpr int max_memory = 1 << 20;
// Escapes of letters and digits that mean the same to both.
constexpr std::string_view common_escapes = "dDwWsSbBAnrtfv";

std::unexpected<Error> refused(std::string_view expression, std::string_view problem,
                               std::string remedy = {}) {
    return fail(
        "limit",
        fmt::format("the regular expression \"{}\": {}", ellipsize(printable(expression), 60), problem),
        std::move(remedy));
}

// What both would take and only Python reads as Ansible's users mean it, or what only Python knows.
Status check_common(std::string_view expression) {
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const auto rest = expression.substr(i);
        if (rest[0] == '\\' && rest.size() > 1) {
            const bool word = std::isalnum(static_cast<unsigned char>(rest[1])) != 0;
            if (rest[1] == 'Z') return refused(expression, "\\Z does not exist here", "write $ for the end");
            if (word && common_escapes.find(rest[1]) == std::string_view::npos)
                return refused(expression, fmt::format("\\{} does not exist here", rest[1]),
                               std::isdigit(static_cast<unsigned char>(rest[1])) != 0
                                   ? "what a group has matched can not be asked for again"
                                   : "");
            ++i;
        } else if (rest.starts_with("(?") && !rest.starts_with("(?:") && !rest.starts_with("(?P<") &&
                   !rest.starts_with("(?i)")) {
            return refused(expression, fmt::format("{} does not exist here", printable(rest.substr(0, 3))),
                           "of the groups with (? there are (?:...), (?P<name>...) and (?i)");
        } else if (rest.starts_with("{,")) {
            return refused(expression, "{,n} does not exist here", "write {0,n}");
        } else if (rest.starts_with("[:")) {  // RE2 alone knows [[:digit:]], also behind other characters
            return refused(expression, "[: does not exist here",
                           "write the characters: [a-z]; a class of [ and others: [\\[:]");
        }
    }
    return {};
}

}  // namespace

Regex::Regex(std::unique_ptr<re2::RE2> compiled) : compiled_(std::move(compiled)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view expression) {
    if (expression.empty()) return refused(expression, "is empty");
    if (expression.size() > max_expression)
        return refused(expression, fmt::format("longer than {} bytes", max_expression));
    if (auto common = check_common(expression); !common) return std::unexpected(common.error());
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(max_memory);
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    auto compiled =
        std::make_unique<re2::RE2>(re2::StringPiece(expression.data(), expression.size()), options);
    if (!compiled->ok()) return refused(expression, printable(compiled->error()));
    return Regex(std::move(compiled));
}

bool Regex::matches_start_of(std::string_view text) const {
    return compiled_->Match(re2::StringPiece(text.data(), text.size()), 0, text.size(),
                            re2::RE2::ANCHOR_START, nullptr, 0);
}

}  // namespace cleanslate::inventory
