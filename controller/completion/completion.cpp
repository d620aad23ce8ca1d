#include "controller/completion/completion.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/text.hpp"
#include "controller/formats/format.hpp"

namespace cleanslate::controller {
namespace {

// What the words before the cursor say.
struct Place {
    const CommandNode* node = nullptr;
    const OptionNode* waits = nullptr;  // an option whose value comes next
    std::size_t positionals = 0;
    bool remote_command = false;  // behind run's --
    Whence whence;
};

const OptionNode* find_option(const CommandNode& node, std::string_view name) {
    for (const OptionNode& option : node.options)
        if (!option.positional && std::ranges::find(option.names, name) != option.names.end()) return &option;
    return nullptr;
}

const CommandNode* find_child(const CommandNode& node, std::string_view name) {
    const auto found = std::ranges::find(node.children, name, &CommandNode::name);
    return found == node.children.end() ? nullptr : &*found;
}

void take_value(Place& place, const OptionNode& option, std::string_view value) {
    if (option.names.back() == "--inventory") place.whence.inventories.emplace_back(value);
    if (option.names.back() == "--config") place.whence.config = value;
    if (option.names.back() == "--history") place.whence.history = value;
}

void take_long_option(Place& place, std::string_view word) {
    const auto equals = word.find('=');
    const OptionNode* option = find_option(*place.node, word.substr(0, equals));
    if (option == nullptr || option->value.empty()) return;
    if (equals == std::string_view::npos)
        place.waits = option;
    else
        take_value(place, *option, word.substr(equals + 1));
}

// -v, -vv, -l rack1, -lrack1
void take_short_options(Place& place, std::string_view word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
        const OptionNode* option = find_option(*place.node, std::string("-") + word[i]);
        if (option == nullptr || option->value.empty()) continue;
        if (i + 1 == word.size())
            place.waits = option;
        else
            take_value(place, *option, word.substr(i + 1));
        return;
    }
}

void take_word(Place& place, const std::string& word) {
    if (place.remote_command) return;
    if (place.waits != nullptr) {
        take_value(place, *place.waits, word);
        place.waits = nullptr;
    } else if (word == "--") {
        place.remote_command = true;
    } else if (word.starts_with("--")) {
        take_long_option(place, word);
    } else if (word.size() > 1 && word.starts_with('-')) {
        take_short_options(place, word);
    } else if (const CommandNode* child = find_child(*place.node, word); child != nullptr) {
        place.node = child;
    } else {
        ++place.positionals;
    }
}

// --- what a value can be, by the name of its kind
// -----------------------------------------------------------------

// "text|json" -> both; of "N|any" what is a word.
std::vector<Candidate> choices_of(const std::string& value) {
    std::vector<Candidate> choices;
    for (const std::string_view word : split(value, '|'))
        if (!word.empty() && word.front() >= 'a' && word.front() <= 'z')
            choices.push_back({std::string(word), ""});
    return choices;
}

template <class Form>
std::vector<Candidate> forms(const std::vector<Form>& all, const std::string& behind) {
    std::vector<Candidate> forms;
    for (const Form form : all) forms.push_back({std::string(to_string(form)) + behind, ""});
    return forms;
}

// Where the last pattern of a list begins: "rack1,!gpu" -> 7.
std::size_t last_pattern(std::string_view list) {
    const auto mark = list.find_last_of(",!&");
    return mark == std::string_view::npos ? 0 : mark + 1;
}

// All that stands before the cursor in the same word goes in front.
Completion behind(const std::string& before, std::vector<Candidate> candidates,
                  std::optional<std::size_t> file_from = std::nullopt) {
    for (Candidate& candidate : candidates) candidate.text = before + candidate.text;
    return {std::move(candidates), file_from};
}

// `before`: what of the word is no part of the value, "--format=".
Completion values(const OptionNode& option, const Place& place, const std::string& before,
                  const std::string& value, const Look& look) {
    const std::size_t begin = before.size();
    const auto equals = value.find('=');
    const std::string& kind = option.value;
    const bool form_and_file = kind == "FORM[=FILE]" || kind == "[FORM=]FILE";
    if (form_and_file && equals != std::string::npos) return {{}, begin + equals + 1};
    if (kind == "FORM[=FILE]") {
        using enum Format;
        return behind(before, forms<Format>({text, json, jsonl, csv, junit, prom, html}, ""));
    }
    if (kind == "[FORM=]FILE") {
        using enum ListForm;
        return behind(before, forms<ListForm>({plain, folded, slurm, mpi, ansible}, "="), begin);
    }
    if (kind == "FILE") return {{}, begin};
    if (kind == "PLAYBOOK") return behind(before, look(Lookup::playbooks, place.whence), begin);
    if (option.positional && kind == "NAME")
        return behind(before, look(Lookup::playbooks, place.whence), begin);
    if (kind == "CODE") return behind(before, look(Lookup::codes, place.whence));
    if (kind == "ID") return behind(before, look(Lookup::sweeps, place.whence));
    if (kind == "TOPIC") return behind(before, look(Lookup::topics, place.whence));
    if (kind == "LIMIT" || kind == "HOSTS") {
        const std::size_t last = last_pattern(value);
        if (kind == "LIMIT" && value.substr(last).starts_with('@')) return {{}, begin + last + 1};
        const auto what = kind == "LIMIT" ? Lookup::hosts_and_groups : Lookup::hosts;
        return behind(before + value.substr(0, last), look(what, place.whence));
    }
    return behind(before, choices_of(kind));
}

// --- what can stand at the cursor
// ---------------------------------------------------------------------------------

// The help's first sentence, without the default.
std::string sentence(const std::string& description) {
    const auto end = std::min({description.find(" (default"), description.find(" (no default"),
                               description.find("; "), description.find(". ")});
    return description.substr(0, end);
}

std::vector<Candidate> options_of(const CommandNode& node) {
    std::vector<Candidate> options;
    for (const OptionNode& option : node.options) {
        if (option.positional) continue;
        for (const std::string& name : option.names) options.push_back({name, sentence(option.description)});
    }
    return options;
}

// The positional value that comes next; the last one may come several times.
const OptionNode* next_positional(const Place& place) {
    std::size_t seen = 0;
    const OptionNode* next = nullptr;
    for (const OptionNode& option : place.node->options) {
        if (!option.positional) continue;
        next = &option;
        if (seen++ == place.positionals) break;
    }
    return next;
}

Completion at_cursor(const Place& place, const std::string& word, const Look& look) {
    if (place.remote_command) return {};
    if (place.waits != nullptr) return values(*place.waits, place, "", word, look);
    const auto equals = word.find('=');
    if (word.starts_with("--") && equals != std::string::npos) {
        const OptionNode* option = find_option(*place.node, word.substr(0, equals));
        if (option == nullptr || option->value.empty()) return {};
        return values(*option, place, word.substr(0, equals + 1), word.substr(equals + 1), look);
    }
    if (word.starts_with('-')) return {options_of(*place.node), std::nullopt};
    Completion completion;
    if (const OptionNode* next = next_positional(place)) completion = values(*next, place, "", word, look);
    if (place.positionals == 0)
        for (const CommandNode& child : place.node->children)
            completion.candidates.push_back({child.name, child.description});
    if (completion.candidates.empty() && !completion.file_from)
        return {options_of(*place.node), std::nullopt};
    return completion;
}

}  // namespace

Completion complete(const CommandNode& program, const std::vector<std::string>& typed, const Look& look) {
    Place place;
    place.node = &program;
    const std::string word = typed.empty() ? "" : typed.back();
    for (std::size_t i = 0; i + 1 < typed.size(); ++i) take_word(place, typed[i]);
    Completion completion = at_cursor(place, word, look);
    std::erase_if(completion.candidates,
                  [&](const Candidate& candidate) { return !candidate.text.starts_with(word); });
    return completion;
}

}  // namespace cleanslate::controller
