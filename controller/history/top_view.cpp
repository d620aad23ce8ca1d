// Who leaves most behind, for people and for programs.

#include <fmt/core.h>

#include "base/text.hpp"
#include "controller/history/top.hpp"
#include "controller/json_writer.hpp"

namespace cleanslate::controller::history {
namespace {

void write_rows(Page& page, std::string_view heading, const std::vector<TopRow>& rows) {
    if (rows.empty()) return;
    page.line(0, {{fmt::format("{:<14}{:>11}{:>8}{:>14}{:>12}", heading, "host-nights", "hosts",
                               "MiB a night", "MiB at most"),
                   Style::bold}});
    for (const TopRow& row : rows) {
        const auto nights = static_cast<std::int64_t>(std::max<std::size_t>(row.host_nights, 1));
        page.line(0, {{fmt::format("{:<14}{:>11}{:>8}{:>14}{:>12}", "", row.host_nights, row.hosts,
                                   row.mib_nights / nights, row.most_mib)}});
        page.boxed(2, row.name.empty() ? "(not observed)" : row.name);
    }
}

void write_rows(JsonWriter& json, std::string_view key, const std::vector<TopRow>& rows) {
    json.key(key).list(rows, [&](const TopRow& row) {
        json.object([&] {
            json.key("name").text_or_null(row.name);
            json.key("host_nights").number(row.host_nights);
            json.key("hosts").number(row.hosts);
            json.key("mib_nights").number(row.mib_nights);
            json.key("most_mib").number(row.most_mib);
        });
    });
}

}  // namespace

std::string top_json(const Top& top) {
    std::string text;
    JsonWriter json(text);
    json.object([&] {
        json.key("schema").text("cleanslate.top/1");
        json.key("since").text(rfc3339(top.since));
        json.key("sweeps").number(top.sweeps);
        write_rows(json, "users", top.users);
        write_rows(json, "commands", top.commands);
        write_rows(json, "hosts", top.hosts);
    });
    return text + "\n";
}

void top_text(Page& page, const Top& top) {
    write_rows(page, "users", top.users);
    write_rows(page, "commands", top.commands);
    write_rows(page, "hosts", top.hosts);
    const std::string nothing = top.users.empty() ? "nothing was left behind in " : "";
    page.line(0, {{nothing + count_of(top.sweeps, "sweep") + " since " + rfc3339(top.since), Style::dim}});
}

}  // namespace cleanslate::controller::history
