#pragma once
// How a description's keys are taken: each function returns what is wrong with the value, empty where nothing
// is.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "tests/fleet/description.hpp"

namespace cleanslate::simulated {

std::optional<long> duration_ms(std::string_view text);  // "500ms", "2s"
std::optional<bool> yes_no(std::string_view text);
bool one_of(std::string_view word, std::initializer_list<std::string_view> words);

template <class T, class U>
std::string set(T& field, const std::optional<U>& value, const std::string& want) {
    if (!value) return want + " is wanted";
    field = static_cast<T>(*value);
    return {};
}

// Keys of a process.
std::string take_process_key(const Host& host, ProcessSpec& process, const std::string& key,
                             const std::string& value);
// What a process lacks as a whole; fills in defaults.
std::string finish_process(ProcessSpec& process);

// Keys of a host around its GPUs: sessions, /dev/shm, supervisors, reboots. "unknown key ..." where it is
// none.
std::string take_site_key(Host& host, const std::string& key, const std::string& value);
// `\n`, `\t`, `\e`, `\s` (a blank), `\xNN` -> that byte.
std::string unescape(const std::string& text);

// `gpus N`, `minors ...`, `gpu INDEX ...`, `pci-extra ...`, `smi-lacks ...`.
std::string take_gpus(Host& host, const std::string& value);
std::string take_minors(Host& host, const std::string& value);
std::string take_gpu(Host& host, const std::string& value);
std::string take_pci_extra(Host& host, const std::string& value);
std::string take_lacks(Host& host, const std::string& value);

}  // namespace cleanslate::simulated
