#include "controller/man_page.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace cleanslate::controller {
namespace {

constexpr std::size_t page_columns = 78;

std::string escape(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '\\':
                out += "\\e";
                break;
            case '-':
                out += "\\-";
                break;
            case '^':
                out += "\\(ha";
                break;
            case '~':
                out += "\\(ti";
                break;
            case '\'':
                out += "\\(aq";
                break;
            case '`':
                out += "\\(ga";
                break;
            default:
                out += c;
        }
    }
    return out;
}

// What stands between two ` is bold.
std::string inlined(std::string_view text) {
    std::string out;
    bool code = false;
    for (const std::string_view part : split(text, '`')) {
        out += code ? "\\fB" + escape(part) + "\\fR" : escape(part);
        code = !code;
    }
    return out;
}

// Never hyphenated.
std::string bold(std::string_view text) { return "\\fB\\%" + escape(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escape(text) + "\\fR"; }

// A line that is text, whatever it begins with.
std::string begun(const std::string& line) { return (line.starts_with('.') ? "\\&" : "") + line; }

std::string folded(const std::string& text) {
    std::string out, line;
    const auto end_line = [&] {
        out += begun(line) + "\n";
        line.clear();
    };
    for (const std::string_view word : split(text, ' ')) {
        if (word.empty()) continue;
        if (!line.empty() && line.size() + 1 + word.size() > page_columns) end_line();
        line += (line.empty() ? "" : " ") + std::string(word);
    }
    end_line();
    return out;
}

// Lines that stay as they are; further to the left where they are long.
std::string block_of(const std::vector<std::string_view>& lines) {
    if (lines.empty()) return "";
    const auto widest = std::ranges::max(lines, {}, &std::string_view::size).size();
    const std::string shift = widest <= 69 ? ".RS 4\n" : widest <= 73 ? "" : ".RS -4\n";
    std::string out = ".PP\n" + shift + ".EX\n";
    for (const std::string_view line : lines) out += begun(escape(line)) + "\n";
    return out + ".EE\n" + (shift.empty() ? "" : ".RE\n");
}

// Paragraphs as the help has them: what is indented stays as it is.
std::string paragraphs(std::string_view text) {
    std::string out, running;
    std::vector<std::string_view> block;
    const auto end = [&] {
        if (!running.empty()) out += ".PP\n" + folded(inlined(running));
        running.clear();
        out += block_of(block);
        block.clear();
    };
    for (const std::string_view line : split(text, '\n')) {
        const bool indented = line.starts_with("  ");
        if (line.empty() || indented != !block.empty()) end();
        if (indented)
            block.push_back(line.substr(2));
        else if (!line.empty())
            running += (running.empty() ? "" : " ") + std::string(line);
    }
    end();
    return out;
}

// The paragraph of the help that begins with `word`, and what is left without it.
std::pair<std::string, std::string> taken_out(const std::string& text, const std::string& word) {
    const auto begin = text.find(word);
    if (begin == std::string::npos) return {"", text};
    const auto end = std::min(text.find("\n\n", begin), text.size());
    return {text.substr(begin, end - begin), text.substr(0, begin) + text.substr(end)};
}

// --- options
// ------------------------------------------------------------------------------------------------------

std::string option_entry(const OptionNode& option, const std::string& more = "") {
    std::string term;
    for (const std::string& name : option.names) term += (term.empty() ? "" : ", ") + bold(name);
    if (!option.positional && !option.value.empty()) term += " " + italic(option.value);
    return ".TP\n" + term + "\n" + folded(inlined(option.description)) + more;
}

// An option that means the same in several commands is told once.
struct Shared {
    OptionNode option;
    std::vector<std::string> commands;
};

bool is_same(const OptionNode& one, const OptionNode& other) {
    return !one.positional && one.names == other.names && one.value == other.value &&
           one.description == other.description;
}

void gather(const CommandNode& node, const std::string& name, std::vector<Shared>& all) {
    for (const OptionNode& option : node.options) {
        const auto same = [&](const Shared& shared) { return is_same(shared.option, option); };
        const auto found = std::ranges::find_if(all, same);
        if (found == all.end())
            all.push_back({option, {name}});
        else
            found->commands.push_back(name);
    }
    for (const CommandNode& child : node.children)
        gather(child, name.empty() ? child.name : name + " " + child.name, all);
}

std::vector<Shared> shared_options(const CommandNode& program) {
    std::vector<Shared> all;
    gather(program, "", all);
    std::erase_if(all, [](const Shared& shared) { return shared.commands.size() < 2; });
    // Groups in the order of their first option.
    std::vector<Shared> sorted;
    while (!all.empty()) {
        const std::string group = all.front().option.group;
        std::ranges::copy_if(all, std::back_inserter(sorted),
                             [&](const Shared& shared) { return shared.option.group == group; });
        std::erase_if(all, [&](const Shared& shared) { return shared.option.group == group; });
    }
    return sorted;
}

std::string options_of(const CommandNode& node, const std::vector<Shared>& shared) {
    std::string own, elsewhere;
    for (const OptionNode& option : node.options) {
        const auto same = [&](const Shared& other) { return is_same(other.option, option); };
        if (std::ranges::any_of(shared, same))
            elsewhere += (elsewhere.empty() ? "" : ", ") + bold(option.names.back());
        else
            own += option_entry(option);
    }
    if (!elsewhere.empty())
        own +=
            ".PP\n" + folded((own.empty() ? "" : "And ") + elsewhere + ": see OPTIONS OF SEVERAL COMMANDS.");
    return own;
}

std::string shared_section(const std::vector<Shared>& shared) {
    std::string out, group;
    for (const Shared& each : shared) {
        if (each.option.group != group) out += ".SS " + escape(each.option.group) + "\n";
        group = each.option.group;
        std::string commands;
        for (const std::string& command : each.commands)
            commands += (commands.empty() ? "" : ", ") + (command.empty() ? "the program itself" : command);
        out += option_entry(each.option, ".br\n" + folded("Of " + commands + "."));
    }
    return out;
}

// --- sections
// -----------------------------------------------------------------------------------------------------

std::string commands_section(const CommandNode& node, const std::vector<Shared>& shared) {
    std::string out;
    for (const CommandNode& child : node.children) {
        out += ".SS " + escape(child.usage) + "\n" + folded(inlined(child.description + "."));
        const auto [examples, rest] = taken_out(child.footer, "Example");
        out += paragraphs(rest) + options_of(child, shared) + paragraphs(examples);
        out += commands_section(child, shared);
    }
    return out;
}

std::string synopsis(const CommandNode& node) {
    std::string out;
    for (const CommandNode& child : node.children)
        out += (out.empty() ? "" : ".br\n") + bold("cleanslate " + child.name) +
               escape(child.usage.substr(std::string("cleanslate " + child.name).size())) + "\n";
    return out;
}

constexpr std::string_view environment_and_files = R"(.SH ENVIRONMENT
.TP
.B CLEANSLATE_INVENTORY
The inventory where no
.B \-i
is given.
.TP
.B CLEANSLATE_CONFIG
The config file, or none.
.TP
.B XDG_CONFIG_HOME
Where the config file is looked for
.RB ( \(ti/.config ).
.TP
.B XDG_STATE_HOME
Where the history and the audit log are
.RB ( \(ti/.local/state ).
.TP
.B NO_COLOR
Not empty: text has no colours, unless
.B \-\-color
says so.
.TP
.B SSH_AUTH_SOCK
The ssh\-agent that is asked for signatures.
.TP
.B SLURM_JOB_ID
The job whose processes may be ended, and that of
.BR \-\-slurm\-job .
.TP
.B SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT, JOB_COMPLETION_INDEX
The shard of
.BR "\-\-shard auto" .
.SH FILES
.TP
.I \(ti/.config/cleanslate/config.yaml, /etc/cleanslate/config.yaml
Defaults, the user\(aqs over the site\(aqs.
.TP
.I \(ti/.local/state/cleanslate/history.db
What earlier sweeps have found.
.TP
.I \(ti/.local/state/cleanslate/audit.jsonl
Every signal and command, before it was sent and after.
.TP
.I \(ti/.ssh/config, /etc/ssh/ssh_config
How hosts are reached, where the inventory does not say so.
.TP
.I \(ti/.ssh/known_hosts, /etc/ssh/ssh_known_hosts
Whose keys are believed.
.TP
.I /usr/share/doc/cleanslate
All pages of the documentation, and examples.
.SH SEE ALSO
.BR cleanslate\-inventory (5),
.BR cleanslate\-playbook (5),
.BR cleanslate\-protocol (7),
.BR cleanslate\-mail (1),
.BR ssh_config (5)
)";

// Right behind a heading there is no break.
std::string at_heading(const std::string& text) { return text.starts_with(".PP\n") ? text.substr(4) : text; }

}  // namespace

std::string man_page(const CommandNode& program, const std::string& version, const std::string& date) {
    const auto shared = shared_options(program);
    const auto [status, rest] = taken_out(program.footer, "Exit status: ");
    std::string out = ".\\\" Made from the program's own help: change that.\n";
    out += ".TH CLEANSLATE 1 " + date + " \"cleanslate " + version + "\" \"cleanslate\"\n.ad l\n";
    out += ".SH NAME\ncleanslate \\- clear GPU hosts over SSH and prove that they are clear\n";
    out += ".SH SYNOPSIS\n" + synopsis(program);
    out += ".SH DESCRIPTION\n" + at_heading(paragraphs(program.description + "\n\n" + rest)) +
           options_of(program, shared);
    out += ".SH COMMANDS\n" + commands_section(program, shared);
    out += ".SH OPTIONS OF SEVERAL COMMANDS\n" + shared_section(shared);
    out += ".SH EXIT STATUS\n" + at_heading(paragraphs(status));
    return out + std::string(environment_and_files);
}

}  // namespace cleanslate::controller
