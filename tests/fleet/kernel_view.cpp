#include "tests/fleet/kernel_view.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/fleet/system.hpp"

namespace cleanslate::simulated {

namespace {

// A file large enough to be mapped 32 times.
void make_gpu_file(const std::string& path) {
    write_file(path, "", 0666);
    need(::truncate(path.c_str(), 32 * 4096) == 0, "truncate " + path);
}

void make_capability(const std::string& file, int cap) {
    make_folder(folder_of(file));
    write_file(file,
               "DeviceFileMinor: " + std::to_string(cap) + "\nDeviceFileMode: 256\nDeviceFileModify: 1\n",
               0444);
}

void make_capabilities(const Host& host, const std::string& folder) {
    make_capability(folder + "/mig/config", 1);
    make_capability(folder + "/mig/monitor", 2);
    for (const auto& gpu : host.gpus) {
        const std::string mig = folder + "/gpu" + std::to_string(gpu.minor) + "/mig";
        make_folder(mig);
        for (std::size_t device = 0; device < gpu.instances.size(); ++device) {
            const auto& instance = gpu.instances[device];
            const auto [of_gpu, of_compute] = capabilities_of(host, gpu.index, static_cast<int>(device));
            const std::string gi = mig + "/gi" + std::to_string(instance.gpu_instance);
            make_capability(gi + "/access", of_gpu);
            make_capability(gi + "/ci" + std::to_string(instance.compute_instance) + "/access", of_compute);
        }
    }
}

void make_pci_device(const std::string& pci, const PciDevice& device) {
    const std::string folder = pci + "/tree/" + device.bus_id;
    make_folder(folder);
    write_file(folder + "/vendor", device.vendor + "\n", 0444);
    write_file(folder + "/device", "0x2335\n", 0444);
    write_file(folder + "/class", device.device_class + "\n", 0444);
    if (!device.driver.empty()) {
        make_folder(pci + "/drivers/" + device.driver);
        need(::symlink(("../../drivers/" + device.driver).c_str(), (folder + "/driver").c_str()) == 0 &&
                 ::symlink(("../../tree/" + device.bus_id).c_str(),
                           (pci + "/drivers/" + device.driver + "/" + device.bus_id).c_str()) == 0,
             "symlink of " + device.bus_id);
    }
    if (device.is_function)
        need(::symlink("../0000:00:00.0", (folder + "/physfn").c_str()) == 0, "symlink physfn");
    need(::symlink(("../tree/" + device.bus_id).c_str(), (pci + "/devices/" + device.bus_id).c_str()) == 0,
         "symlink of " + device.bus_id);
}

}  // namespace

// As the kernel writes it: lower case, four digits of domain.
std::string kernel_bus_id(const Gpu& gpu) {
    std::string bus = gpu.bus_id.substr(4);
    for (auto& c : bus) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return bus;
}

// In the shape of the corpus's proc_driver_nvidia_information.txt.
std::string gpu_information(const Host& host, const Gpu& gpu) {
    return "Model: \t\t " + host.model + "\nIRQ:   \t\t " + std::to_string(41 + gpu.index) +
           "\nGPU UUID: \t " + gpu.uuid +
           "\nVideo BIOS: \t 96.00.a5.00.1a\nBus Type: \t PCIe\nDMA Size: \t 52 bits\n"
           "DMA Mask: \t 0xfffffffffffff\nBus Location: \t " +
           kernel_bus_id(gpu) + "\nDevice Minor: \t " + std::to_string(gpu.minor) + "\nGPU Firmware: \t " +
           host.driver_version + "\nGPU Excluded:\t No\n";
}

std::string driver_version_text(const Host& host) {
    const bool open = to_number(split(host.driver_version, '.').front()).value_or(0) >= 515;
    return "NVRM version: NVIDIA UNIX " +
           std::string(open ? "Open Kernel Module for x86_64" : "x86_64 Kernel Module") + "  " +
           host.driver_version + (open ? "  Release Build\n" : "  Tue Jul 13 16:14:05 UTC 2021\n");
}

void make_gpu_files(const Host& host, const std::string& dev) {
    make_folder(dev + "/nvidia-caps");
    if (host.gpus.empty()) return;
    for (const char* name : {"nvidiactl", "nvidia-uvm", "nvidia-caps/nvidia-cap1", "nvidia-caps/nvidia-cap2"})
        make_gpu_file(dev + "/" + name);
    for (const auto& gpu : host.gpus) {
        make_gpu_file(dev + "/nvidia" + std::to_string(gpu.minor));
        for (std::size_t device = 0; device < gpu.instances.size(); ++device)
            for (const int cap : capabilities_of(host, gpu.index, static_cast<int>(device)))
                make_gpu_file(dev + "/nvidia-caps/nvidia-cap" + std::to_string(cap));
    }
}

void make_driver(const Host& host, const std::string& driver) {
    make_folder(driver);
    if (host.driver == "not-loaded") return;
    make_folder(driver + "/nvidia/gpus");
    write_file(driver + "/nvidia/version", driver_version_text(host));
    make_capabilities(host, driver + "/nvidia/capabilities");
    for (const auto& gpu : host.gpus) {
        if (!gpu.in_driver) continue;
        const std::string folder = driver + "/nvidia/gpus/" + kernel_bus_id(gpu);
        make_folder(folder);
        write_file(folder + "/information", gpu_information(host, gpu));
    }
}

void make_pci(const Host& host, const std::string& pci) {
    make_folder(pci + "/devices");
    make_folder(pci + "/drivers");
    for (const auto& gpu : host.gpus)
        if (gpu.on_pci)
            make_pci_device(pci, {kernel_bus_id(gpu), "0x10de", "0x030200",
                                  host.driver == "not-loaded" ? "" : "nvidia", false});
    make_pci_device(pci, {"0000:00:00.0", "0x8086", "0x060000", "", false});
    if (!host.gpus.empty()) {
        if (host.nvswitch)
            make_pci_device(pci, {"0000:05:00.0", "0x10de", "0x068000", "nvidia-nvswitch", false});
        make_pci_device(pci, {"0000:02:00.1", "0x10de", "0x040300", "snd_hda_intel", false});
        make_pci_device(pci, {"0000:29:00.0", "0x15b3", "0x020700", "mlx5_core", false});
    }
    for (const auto& device : host.pci_extras) make_pci_device(pci, device);
}

std::array<int, 2> capabilities_of(const Host& host, int gpu, int device) {
    const auto& owner = host.gpus[static_cast<std::size_t>(gpu)];
    const auto& instance = owner.instances[static_cast<std::size_t>(device)];
    // 15 GPU instances a GPU, each with a file of its own and of eight compute instances.
    const int first = 3 + owner.minor * 15 * 9 + instance.gpu_instance * 9;
    return {first, first + 1 + instance.compute_instance};
}

}  // namespace cleanslate::simulated
