#pragma once
// Texts that come again and again, kept once. Private to the history.

#include <optional>
#include <string>
#include <unordered_map>

#include "controller/history/database.hpp"

namespace cleanslate::controller::history {

// Within one transaction.
class Words {
  public:
    explicit Words(Database& database)
        : database_(database),
          find_(database, "SELECT id FROM words WHERE text = ?"),
          insert_(database, "INSERT INTO words(text) VALUES(?)") {}

    // Nothing for an empty text.
    std::optional<std::int64_t> id_of(const std::string& text) {
        if (text.empty()) return std::nullopt;
        const auto [known, fresh] = known_.try_emplace(text, 0);
        if (!fresh) return known->second;
        find_.start(text);
        if (find_.step()) return known->second = find_.integer(0);
        insert_.run(text);
        return known->second = database_.last_row();
    }
    std::optional<std::int64_t> id_of(const std::optional<std::string>& text) {
        return text ? id_of(*text) : std::nullopt;
    }

  private:
    Database& database_;
    Statement find_, insert_;
    std::unordered_map<std::string, std::int64_t> known_;
};

}  // namespace cleanslate::controller::history
