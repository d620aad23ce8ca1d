// What the optional columns say of one GPU.

#include "agentless/nvidia_smi_optional.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agentless/nvidia_smi_cells.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless {
namespace {

constexpr std::array fields{
    OptionalField{"gpu_recovery_action", ""},
    OptionalField{"remapped_rows.pending", ""},
    OptionalField{"remapped_rows.failure", ""},
    OptionalField{"retired_pages.pending", ""},
    OptionalField{"ecc.errors.uncorrected.volatile.total", ""},
    OptionalField{"mig.mode.current", ""},
    OptionalField{"mig.mode.pending", ""},
    OptionalField{"addressing_mode", ""},
    OptionalField{"fabric.state", ""},
    OptionalField{"fabric.status", ""},
    OptionalField{"clocks_event_reasons.hw_slowdown", "clocks_throttle_reasons.hw_slowdown"},
    OptionalField{"clocks_event_reasons.hw_thermal_slowdown", "clocks_throttle_reasons.hw_thermal_slowdown"},
    OptionalField{"clocks_event_reasons.sw_thermal_slowdown", "clocks_throttle_reasons.sw_thermal_slowdown"},
    OptionalField{"clocks_event_reasons.hw_power_brake_slowdown",
                  "clocks_throttle_reasons.hw_power_brake_slowdown"},
    OptionalField{"persistence_mode", ""},
    OptionalField{"memory.reserved", ""},
    OptionalField{"driver_version", ""},
};

constexpr std::size_t longest_shown = 60;

// Reserved memory is worth a word above both.
constexpr Mebibytes much_reserved{1024};
constexpr std::int64_t share_reserved = 20;  // a twentieth of the total

class Judge {
  public:
    explicit Judge(GpuRow& row) : row_(row) {}

    void cells() {
        for (const auto& cell : row_.optional) read(cell);
        settle_mig();
        settle_fabric();
        settle_ecc();
        add_slowdowns("hw-slowdown", hardware_);
        add_slowdowns("thermal-slowdown", thermal_);
    }

  private:
    void read(const OptionalCell& cell) {
        const auto reading = read_cell(cell.cell);
        switch (reading.kind) {
            case CellKind::not_supported:
                if (cell.column == "fabric.state") fabric_unsupported_ = true;
                return;
            case CellKind::sick:
                return add(Trouble::sick, reading.code, says(cell));
            case CellKind::plain:
                if (!read_value(cell.column, lowered(cell.cell), cell)) not_read(cell);
                return;
            case CellKind::refused:
            case CellKind::other_failure:
                return not_read(cell);
        }
    }

    // Whether the value is one that this column can have.
    bool read_value(std::string_view column, const std::string& value, const OptionalCell& cell) {
        if (column == "gpu_recovery_action") return read_action(value, cell);
        if (column == "remapped_rows.pending") return read_flag(value, cell, "row-remap-pending");
        if (column == "remapped_rows.failure") return read_flag(value, cell, "row-remap-failed");
        if (column == "retired_pages.pending") return read_flag(value, cell, "retired-pages-pending");
        if (column == "ecc.errors.uncorrected.volatile.total") return read_ecc(value);
        if (column == "mig.mode.current") return read_mode(value, mig_current_);
        if (column == "mig.mode.pending") return read_mode(value, mig_pending_);
        if (column == "addressing_mode") return read_addressing(value);
        if (column == "fabric.state") return keep_fabric(value == "completed", cell, state_);
        if (column == "fabric.status") return keep_fabric(value == "success", cell, status_);
        if (column.starts_with("clocks_event_reasons.")) return read_slowdown(column, value);
        if (column == "persistence_mode") return read_persistence(value);
        if (column == "memory.reserved") return read_reserved(cell);
        if (column == "driver_version") return read_version(value);
        return false;
    }

    bool read_action(const std::string& value, const OptionalCell& cell) {
        if (value == "none")
            action_none_ = true;
        else
            add(Trouble::sick, "recovery-action", fmt::format("recovery action {}", shown(cell)));
        return true;
    }

    bool read_flag(const std::string& value, const OptionalCell& cell, std::string_view code) {
        const auto count = parse_number(value);
        if (value == "yes" || (count && *count > 0))
            add(Trouble::sick, code, says(cell));
        else
            return value == "no" || count;
        return true;
    }

    bool read_ecc(const std::string& value) {
        const auto count = parse_number(value);
        if (count) ecc_ = std::max(ecc_, *count);
        return count.has_value();
    }

    static bool read_mode(const std::string& value, std::optional<bool>& mode) {
        if (value != "enabled" && value != "disabled") return false;
        mode = value == "enabled";
        return true;
    }

    bool read_addressing(const std::string& value) {
        if (value == "ats")
            note("addressing-mode", "addressing mode ATS: its memory is part of the system's");
        return value == "ats" || value == "none" || value == "hmm";
    }

    static bool keep_fabric(bool fine, const OptionalCell& cell, std::string& wrong) {
        if (!fine) wrong = says(cell);
        return true;
    }

    bool read_slowdown(std::string_view column, const std::string& value) {
        const bool is_thermal = column.ends_with("thermal_slowdown");
        if (value == "active")
            (is_thermal ? thermal_ : hardware_).push_back(column.substr(column.find('.') + 1));
        return value == "active" || value == "not active";
    }

    bool read_persistence(const std::string& value) {
        if (value == "disabled") note("persistence-off", "persistence mode is off");
        return value == "disabled" || value == "enabled";
    }

    bool read_reserved(const OptionalCell& cell) {
        const auto reserved = read_mebibytes(cell.cell);
        if (!reserved) return false;
        if (row_.total && *reserved > much_reserved && reserved->count > row_.total->count / share_reserved)
            note("reserved-memory",
                 fmt::format("{} MiB of {} MiB are reserved", reserved->count, row_.total->count));
        return true;
    }

    static bool read_version(std::string_view value) {
        return value.size() <= 32 && value.front() >= '1' && value.front() <= '9' &&
               value.find_first_not_of("0123456789.") == std::string_view::npos;
    }

    void settle_mig() {
        if (mig_current_.value_or(false)) note("mig-mode", "MIG mode is enabled");
        if (mig_current_ && mig_pending_ && *mig_current_ != *mig_pending_)
            note("mig-change-pending",
                 fmt::format("MIG mode is {} after the next reset", *mig_pending_ ? "enabled" : "disabled"));
    }

    // A GPU that is on no fabric says so in its state; what its status says is then of nothing.
    void settle_fabric() {
        if (!state_.empty()) add(Trouble::sick, "fabric-not-ready", state_);
        if (!status_.empty() && !fabric_unsupported_) add(Trouble::sick, "fabric-not-ready", status_);
    }

    // Where the driver itself says that nothing needs to be done, the count is only worth knowing.
    void settle_ecc() {
        if (ecc_ > 0)
            add(action_none_ ? Trouble::none : Trouble::sick, "ecc-uncorrected",
                fmt::format("{} uncorrectable memory errors since the driver was loaded", ecc_));
    }

    void add_slowdowns(std::string_view code, const std::vector<std::string_view>& active) {
        if (active.empty()) return;
        std::string names;
        for (const auto name : active) names += (names.empty() ? "" : ", ") + std::string(name);
        note(code, names + " is active");
    }

    void not_read(const OptionalCell& cell) { note("optional-not-read", says(cell)); }
    void note(std::string_view code, std::string text) { add(Trouble::none, code, std::move(text)); }
    void add(Trouble trouble, std::string_view code, std::string text) {
        row_.troubles.push_back({trouble, std::string(code), std::move(text), {}});
    }

    static std::string shown(const OptionalCell& cell) { return ellipsize(cell.cell, longest_shown); }
    static std::string says(const OptionalCell& cell) {
        return fmt::format("{} is {}", cell.column, cell.cell.empty() ? "empty" : shown(cell));
    }

    GpuRow& row_;
    bool action_none_ = false;
    std::uint64_t ecc_ = 0;
    std::optional<bool> mig_current_, mig_pending_;
    std::string state_, status_;  // what the fabric says that is not fine
    bool fabric_unsupported_ = false;
    std::vector<std::string_view> hardware_, thermal_;
};

}  // namespace

std::span<const OptionalField> optional_fields() { return fields; }

bool is_optional_column(std::string_view normal) {
    return !normal.empty() && std::ranges::any_of(fields, [&](const OptionalField& field) {
        return normal == field.name || normal == field.older;
    });
}

void judge_optional_columns(GpuRow& row) { Judge(row).cells(); }

}  // namespace cleanslate::agentless
