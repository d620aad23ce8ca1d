#include "controller/formats/html_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "controller/exit_status.hpp"
#include "controller/json_report.hpp"
#include "controller/text_report.hpp"
#include "html_parts.hpp"

namespace cleanslate::controller {
namespace {

using agentless::Verdict;

struct Part {
    std::string_view text, hash;
};

// In the order in which each needs those before it.
constexpr std::array scripts{
    Part{html::elements_js, html::elements_js_hash}, Part{html::fleet_js, html::fleet_js_hash},
    Part{html::trouble_js, html::trouble_js_hash},   Part{html::map_js, html::map_js_hash},
    Part{html::gpus_js, html::gpus_js_hash},         Part{html::steps_js, html::steps_js_hash},
    Part{html::host_js, html::host_js_hash},         Part{html::page_js, html::page_js_hash},
};
constexpr std::array styles{
    Part{html::page_css, html::page_css_hash},
    Part{html::map_css, html::map_css_hash},
    Part{html::host_css, html::host_css_hash},
};

// Nothing is loaded but what stands in the page and is known by its hash; no text can become markup or code.
std::string policy() {
    std::string text = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; ";
    const auto add = [&](std::string_view directive, const auto& parts) {
        text += directive;
        for (const Part& part : parts) text += fmt::format(" '{}'", part.hash);
        text += "; ";
    };
    add("script-src", scripts);
    add("style-src", styles);
    return text + "require-trusted-types-for 'script'; trusted-types 'none'";
}

template <class Parts>
void write_parts(const Sink& sink, std::string_view element, const Parts& parts) {
    for (const Part& part : parts) {
        sink(fmt::format("<{}>", element));
        sink(part.text);
        sink(fmt::format("</{}>\n", element));
    }
}

// "check of fleet.yaml, gpu[01-40]": what was asked for.
std::string subject(const Report& report) {
    std::string text = report.command;
    if (report.command == "clear" && !report.playbook.empty() && report.playbook != "clear")
        text += " with " + report.playbook;
    if (!report.inventory.empty())
        text += " of " + (report.inventory == "-" ? "the inventory on stdin" : report.inventory);
    if (!report.limit.empty()) text += (report.inventory.empty() ? " of " : ", ") + report.limit;
    if (report.share) text += ", shard " + to_string(report.share->shard);
    if (report.local) text += " of this machine";
    return text;
}

std::string_view ending_of(const Report& report) {
    const auto& result = report.result;
    return result.interrupted             ? "interrupted before its end"
           : result.deadline_passed       ? "stopped by its deadline"
           : result.failure_limit_reached ? "stopped by --max-failures"
           : !report.dry_run              ? ""
           : report.is_run()              ? "nothing was run"
           : report.declined              ? "declined: nothing was signalled"
                                          : "dry run: nothing was signalled";
}

// Of the words around the hosts: nothing of them comes from a host, and nothing is believed.
std::string meta(const Report& report) {
    const auto item = [](std::string_view text) {
        return text.empty() ? std::string() : fmt::format("<span>{}</span> ", html_text(printable(text)));
    };
    const std::string audit = report.result.audit_failed
                                  ? "the audit log could not be written: " + report.result.audit_error
                                  : std::string();
    const std::string started = html_text(printable(report.started));
    return item(subject(report)) + fmt::format("<span><time datetime=\"{0}\">{0}</time></span> ", started) +
           item("took " + format_duration(report.took)) +
           item(fmt::format("exit {}: {}", report.exit_status, meaning_of(report))) +
           item(ending_of(report)) + item(audit);
}

std::string summary_text(const Report& report) {
    Page page(endless, false);
    write_summary(page, report);
    return html_text(trim(page.take()));
}

std::string_view state_of(const Report& report) {
    if (report.result.hosts.empty()) return "unknown";
    const Summary summary = summarize(report);
    if (report.is_run()) return summary.asked[1] > 0 ? "failed" : summary.asked[2] > 0 ? "not_asked" : "ok";
    return summary.verdict ? to_string(*summary.verdict) : "unknown";
}

void write_slot(std::string_view name, const Report& report, bool raw_commands, const Sink& sink) {
    if (name == "policy") return sink(policy());
    if (name == "headline") return sink(html_text(headline(report)));
    if (name == "state") return sink(state_of(report));
    if (name == "meta") return sink(meta(report));
    if (name == "summary") return sink(summary_text(report));
    if (name == "styles") return write_parts(sink, "style", styles);
    if (name == "scripts") return write_parts(sink, "script", scripts);
    if (name == "report")
        write_json(report, raw_commands, [&](std::string_view json) { sink(json_in_script(json)); });
}

std::string headline_of_run(const Report& report) {
    const auto& asked = summarize(report).asked;
    const std::size_t all = report.result.hosts.size();
    if (report.dry_run) return fmt::format("The command would run on {}", count_of(all, "host"));
    if (asked[0] == all)
        return all == 1 ? "The command succeeded on " + report.result.hosts[0].name
                        : fmt::format("The command succeeded on all {} hosts", all);
    std::string text;
    if (asked[1] > 0) text = fmt::format("The command failed on {} of {}", asked[1], count_of(all, "host"));
    if (asked[2] == 0) return text;
    return text.empty()
               ? fmt::format("The command was not answered by {} of {}", asked[2], count_of(all, "host"))
               : text + fmt::format(" and was not answered by {}", asked[2]);
}

}  // namespace

std::string headline(const Report& report) {
    const auto& hosts = report.result.hosts;
    if (hosts.empty()) return "No host was looked at";
    if (report.is_run()) return printable(headline_of_run(report));
    const auto clean =
        static_cast<std::size_t>(std::ranges::count(hosts, Verdict::clean, &agentless::HostOutcome::verdict));
    const bool in_part = std::ranges::any_of(hosts, is_clean_in_part);
    if (hosts.size() == 1) {
        const std::string name = report.command == "parse" ? "The host" : hosts[0].name;
        return printable(fmt::format("{} is {}{}", name, to_string(hosts[0].verdict),
                                     in_part ? ", of the GPUs that were judged" : ""));
    }
    if (clean == hosts.size())
        return fmt::format("All {} hosts are clean{}", clean,
                           in_part ? ", of the GPUs that were judged" : "");
    const std::size_t others = hosts.size() - clean;
    return fmt::format("{} of {} hosts {} not clean", others, hosts.size(), others == 1 ? "is" : "are");
}

std::string json_in_script(std::string_view json) {
    std::string out;
    out.reserve(json.size());
    const auto may_matter = [](char c) { return c == '<' || c == '>' || c == '&' || c == '\xE2'; };
    for (;;) {
        const auto end = static_cast<std::size_t>(std::ranges::find_if(json, may_matter) - json.begin());
        out += json.substr(0, end);
        if (end == json.size()) return out;
        json.remove_prefix(end);
        std::size_t length = 1;
        if (json.starts_with("\xE2\x80\xA8") || json.starts_with("\xE2\x80\xA9")) {
            length = 3;
            out += json[2] == '\xA8' ? "\\u2028" : "\\u2029";
        } else if (json.front() == '\xE2') {
            out += json.front();
        } else {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(json.front()));
        }
        json.remove_prefix(length);
    }
}

std::string html_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

void write_html(const Report& report, bool raw_commands, const Sink& sink) {
    // {{name}} is where something is put in.
    std::string_view page = html::report_html;
    for (;;) {
        const auto slot = page.find("{{");
        sink(page.substr(0, slot));
        if (slot == std::string_view::npos) return;
        page.remove_prefix(slot + 2);
        const auto end = page.find("}}");
        write_slot(page.substr(0, end), report, raw_commands, sink);
        page.remove_prefix(end + 2);
    }
}

}  // namespace cleanslate::controller
