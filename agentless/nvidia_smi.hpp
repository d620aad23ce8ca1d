#pragma once
// Reads what nvidia-smi prints (docs/nvidia-smi.md). Bounded in memory, never throws, never guesses:
// what is not a plain value leaves its field absent and the line's text in the messages.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// The query that stands alone: every binary since driver 410 knows these fields; free text last, because the
// CSV has no quoting.
inline constexpr std::string_view core_columns =
    "index,uuid,pci.bus_id,memory.used,memory.total,temperature.gpu,pstate,name";
inline constexpr std::string_view app_columns = "pid,gpu_uuid,used_gpu_memory,process_name";

struct GpuTable {
    std::vector<std::string> columns;  // in force: from the header, else as asked
    std::vector<GpuRow> rows;
    std::vector<DriverMessage>
        messages;  // every line that is no row, classified; at most 256, the rest counted
    std::size_t lines_dropped = 0;
    bool health_shown = false;          // temperature.gpu and pstate are among the columns
    std::vector<std::string> problems;  // wrong column count, fused first row, truncated last row, ...
};

struct TableOptions {
    std::vector<std::string> columns;  // empty: from the header; else two columns are index,memory.used and
                                       // eight the core query
    bool repair_fused = false;    // `parse` only: take a pid that was printed before it off the first row,
                                  // if that leaves exactly the index that is missing
    std::optional<int> expected;  // count, for the repair
};

// Reads a table that comes in pieces, cut anywhere. What it holds is bounded, however much comes.
class GpuTableReader {
  public:
    explicit GpuTableReader(TableOptions options);
    GpuTableReader(GpuTableReader&&) noexcept;
    GpuTableReader& operator=(GpuTableReader&&) noexcept;
    ~GpuTableReader();
    void feed(std::string_view piece);
    GpuTable finish();         // once, after the last piece
    std::size_t held() const;  // bytes of the input that are held, the container's own aside

  private:
    class Rows;
    std::unique_ptr<Rows> rows_;
};

GpuTable read_gpu_table(std::string_view out, const TableOptions& options);

struct AppTable {
    std::vector<ComputeApp> apps;
    std::vector<std::string> problems;  // lines that are no row
    // Lines that are no row, and no message or part of a row that is known: a process names itself, and where
    // there is a line break in the name of the row above, this is the rest of it. Not proven to be one.
    std::vector<NameRest> name_rests;
};
AppTable read_app_table(std::string_view out);

// A line of prose, classified. `continued`: it goes on with a known message, and says nothing where that
// message stands right above it.
DriverMessage classify_line(std::string_view line);

// The finding code for nvidia-smi's exit status: "driver-not-loaded" for 9, ...; empty for 0.
std::string_view code_for_status(int exit_status);

// Bus ids as one spelling: lower case, 8-digit domain ("0000:0B:00.0" -> "00000000:0b:00.0"); empty where it
// is none.
std::string normal_bus_id(std::string_view text);

}  // namespace cleanslate::agentless
