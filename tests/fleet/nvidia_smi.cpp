// The simulated host's nvidia-smi: the real one's command line for queries, its output byte for byte where
// the corpus shows it, over the memory that the processes of this host hold (gpu_memory.hpp).

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/fleet/nvidia_smi_cells.hpp"
#include "tests/fleet/nvidia_smi_failures.hpp"
#include "tests/fleet/nvidia_smi_options.hpp"
#include "tests/fleet/nvidia_smi_reset.hpp"
#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {
namespace {

// While it runs, nvidia-smi has the device files open itself, as any NVML client.
void open_devices(const Host& host) {
    for (const char* path : {"/dev/nvidiactl", "/dev/nvidia-uvm"})
        if (::open(path, O_RDWR | O_CLOEXEC) < 0) return;
    for (const auto& gpu : host.gpus)
        if (::open(("/dev/nvidia" + std::to_string(gpu.minor)).c_str(), O_RDWR | O_CLOEXEC) < 0) return;
}

// A field under the name that this binary has for it.
struct Column {
    const Field* field = nullptr;
    std::string_view name;
};

bool lacks(const Host& host, std::string_view name) {
    return std::find(host.smi_lacks.begin(), host.smi_lacks.end(), name) != host.smi_lacks.end();
}

// The names by which this binary knows the field, the usual one first.
std::vector<std::string_view> names_of(const Host& host, const Field& field) {
    std::vector<std::string_view> names;
    for (const auto name : {field.name, field.alias})
        if (!name.empty() && !lacks(host, name)) names.push_back(name);
    return names;
}

std::vector<Column> asked_columns(const Host& host, const std::vector<Field>& known,
                                  const std::string& asked) {
    std::vector<Column> columns;
    for (const auto& word : split(asked, ',')) {
        const auto name = trim(word);
        const Field* field = find_field(known, name);
        if (field == nullptr || lacks(host, name))
            refuse(2, "Field \"" + name + "\" is not a valid field to query.\n");
        columns.push_back({field, names_of(host, *field).front()});
    }
    return columns;
}

bool same_bus(std::string wanted, std::string bus_id) {
    const auto lower = [](std::string& text) {
        for (auto& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    };
    lower(wanted);
    lower(bus_id);
    return wanted == bus_id ||
           (wanted.size() < bus_id.size() && wanted.size() >= 7 && bus_id.ends_with(wanted));
}

std::vector<const Gpu*> asked_gpus(const Host& host, const std::string& ids) {
    std::vector<const Gpu*> gpus;
    if (ids.empty()) {
        for (const auto& gpu : host.gpus) gpus.push_back(&gpu);
        return gpus;
    }
    for (const auto& id : split(ids, ',')) {
        const Gpu* found = nullptr;
        for (const auto& gpu : host.gpus)
            if (id == std::to_string(gpu.index) || id == gpu.uuid || same_bus(id, gpu.bus_id)) found = &gpu;
        if (found == nullptr) refuse(6, "No devices were found");
        gpus.push_back(found);
    }
    return gpus;
}

void print_header(const std::vector<Column>& columns) {
    std::string line;
    for (const auto& column : columns) {
        line += (line.empty() ? "" : ", ") + std::string(column.name);
        if (!column.field->unit.empty()) line += " [" + std::string(column.field->unit) + "]";
    }
    std::printf("%s\n", line.c_str());
}

int query_gpus(const Host& host, const Options& options) {
    const auto columns = asked_columns(host, gpu_fields(), options.fields);
    const auto gpus = asked_gpus(host, options.ids);
    const auto charged = charged_allocations(host);
    int status = 0;
    if (options.header) print_header(columns);
    for (const auto* gpu : gpus) {
        if (!gpu->has_row) continue;
        status = std::max(status, complain(*gpu));
        std::string row;
        for (const auto& column : columns)
            row += (row.empty() ? "" : ", ") +
                   gpu_cell(host, *gpu, *column.field, used_mib(*gpu, charged), options.units);
        std::printf("%s\n", row.c_str());
    }
    for (const auto* gpu : gpus) {
        const auto warning = warning_of(*gpu);
        if (warning.empty()) continue;
        std::printf("%s", warning.c_str());
        status = std::max(status, inforom_status);
    }
    return status;
}

int query_apps(const Host& host, const Options& options) {
    const auto columns = asked_columns(host, app_fields(), options.fields);
    const auto gpus = asked_gpus(host, options.ids);
    const auto charged = charged_allocations(host);
    if (options.header) print_header(columns);
    for (const auto* gpu : gpus) {
        if (gone(*gpu) || !gpu->has_row) continue;
        for (const auto& app : charged) {
            if (!app.listed || app.minor != gpu->minor) continue;
            std::string row;
            for (const auto& column : columns)
                row += (row.empty() ? "" : ", ") + app_cell(host, *gpu, app, *column.field, options.units);
            std::printf("%s\n", row.c_str());
        }
    }
    return 0;
}

int list(const Host& host, const Options& options) {
    int status = 0;
    for (const auto* gpu : asked_gpus(host, options.ids)) {
        if (!gpu->is_listed) continue;
        status = std::max(status, complain(*gpu));
        if (gone(*gpu)) continue;
        std::printf("GPU %d: %s (UUID: %s)\n", gpu->index, host.model.c_str(), gpu->uuid.c_str());
        int device = 0;
        for (const auto& instance : gpu->instances)
            std::printf("  MIG %-12sDevice %2d: (UUID: %s)\n", instance.profile.c_str(), device++,
                        instance.uuid.c_str());
    }
    return status;
}

int help(const Host& host, const std::vector<Field>& fields, const char* option) {
    std::printf("List of valid properties to query for the switch \"%s\":\n\n", option);
    for (const auto& field : fields) {
        std::string line;
        for (const auto name : names_of(host, field))
            line += (line.empty() ? "\"" : " or \"") + std::string(name) + "\"";
        if (!line.empty()) std::printf("%s\n\n", line.c_str());
    }
    return 0;
}

int version(const Host& host) {
    const auto& full = host.driver_version;
    std::printf(
        "NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\n"
        "CUDA Version        : 13.0\n",
        full.c_str(), full.substr(0, full.rfind('.')).c_str(), full.c_str());
    return 0;
}

int answer(const Host& host, const Options& options) {
    if (options.query == Query::help_gpus) return help(host, gpu_fields(), "--query-gpu");
    if (options.query == Query::help_apps) return help(host, app_fields(), "--query-compute-apps");
    driver_failures(host, options);
    if (options.query == Query::version) return version(host);
    if (options.query == Query::reset) return reset_gpus(host, asked_gpus(host, options.ids));
    open_devices(host);
    int status = 0;
    if (options.query == Query::list)
        status = list(host, options);
    else
        status = options.query == Query::gpus ? query_gpus(host, options) : query_apps(host, options);
    return host.smi_status >= 0 ? static_cast<int>(host.smi_status) : status;
}

}  // namespace
}  // namespace cleanslate::simulated

int main(int argc, char** argv) {
    using namespace cleanslate::simulated;
    const Options options = read_options(argc, argv);
    end(answer(this_host(), options));
}
