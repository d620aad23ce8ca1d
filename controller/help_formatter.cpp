#include "controller/option_groups.hpp"
#include "controller/page.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::size_t page_columns = 80;
constexpr std::size_t description_column = 28;

std::string two_columns(const std::string& left, const std::string& description) {
    std::string out = "  " + left;
    bool first = left.size() + 4 <= description_column;
    if (!first) out += '\n';
    for (const std::string& line : wrap(description, page_columns - description_column)) {
        const std::size_t written = first ? left.size() + 2 : 0;
        out.append(description_column - written, ' ');
        out += line + '\n';
        first = false;
    }
    return out;
}

}  // namespace

HelpFormatter::HelpFormatter() { column_width(description_column); }

// CLI11 leaves two empty lines between its groups.
std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, std::move(name), mode), "\n\n\n",
                                         "\n\n");
}

// "Usage: cleanslate clear HOSTS [options]": what stands between is each command's own word on itself.
std::string HelpFormatter::make_usage(const CLI::App* app, std::string) const {
    if (app->get_parent() == nullptr) return "Usage: cleanslate COMMAND [options]\n";
    static const std::map<std::string, std::string> tails = {
        {"check", "HOSTS [options]"},
        {"clear", "HOSTS [options]"},
        {"run", "HOSTS [options] -- COMMAND"},
        {"hosts", "HOSTS [--folded]"},
        {"trust", "HOSTS [options]"},
        {"playbooks", "[NAME]"},
        {"parse", "[options] [FILE]"},
        {"baseline", "HOSTS -o FILE [options]"},
        {"explain", "[CODE...]"},
        {"audit", "[options]"},
        {"report", "show FILE | merge FILE... [options]"},
        {"completion", "bash|zsh|fish"},
        {"drain-list", "FILE... [options]"},
        {"history", "[options] [ACTION]"},
        {"config", "[options]"},
        {"help", "[TOPIC | COMMAND]"},
        {"history show", "ID [options]"},
        {"history diff", "[ID [ID]] [options]"},
        {"history top", "[options]"},
        {"history prune", "--keep DURATION [options]"},
    };
    const CLI::App* const parent = app->get_parent();
    const std::string before = parent->get_parent() == nullptr ? "" : parent->get_name() + " ";
    const std::string name = before + app->get_name();
    const auto tail = tails.find(name);
    return "Usage: cleanslate " + name + " " + (tail == tails.end() ? "" : tail->second) + "\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
    std::string left = is_positional ? option->get_name(true, false) : option->get_name(false, true);
    if (!is_positional && option->get_type_size() != 0) left += " " + option->get_type_name();
    return two_columns(left, option->get_description());
}

std::string HelpFormatter::make_subcommand(const CLI::App* sub) const {
    return two_columns(sub->get_name(), sub->get_description());
}

}  // namespace cleanslate::controller
