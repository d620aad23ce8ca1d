// Leaks that are not ours. libssh2 frees a server's host key only once new keys are in use, so that each
// handshake that fails right before leaves some 400 bytes of OpenSSL's; and half a reply to its key exchange
// 51 bytes. Which function of libcrypto's asked for them a sanitizer that is to be fast cannot tell. Our own
// use of OpenSSL is looked at by the unit tests, where nothing is suppressed.

extern "C" const char* __lsan_default_suppressions() {
    return "leak:libcrypto\nleak:kex_method_curve25519_key_exchange\n";
}
