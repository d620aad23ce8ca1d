#pragma once
// Texts that must not stay in memory.

#include <string.h>

#include <string>

namespace cleanslate {

// Writes over all bytes that the string has room for, also those of a short one that was moved away (its
// bytes were copied), and leaves it empty.
inline void wipe(std::string& secret) {
    secret.resize(secret.capacity());
    ::explicit_bzero(secret.data(), secret.size());
    secret.clear();
}

}  // namespace cleanslate
