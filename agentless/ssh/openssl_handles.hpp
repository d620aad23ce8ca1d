#pragma once
// What OpenSSL gives, freed by whoever holds it, and the casts between its bytes and text.

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/secret.hpp"

namespace cleanslate::agentless::ssh {

struct FreeHandle {
    void operator()(BIGNUM* number) const { BN_clear_free(number); }
    void operator()(OSSL_PARAM_BLD* builder) const { OSSL_PARAM_BLD_free(builder); }
    void operator()(OSSL_PARAM* parameters) const { OSSL_PARAM_free(parameters); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
    void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
    void operator()(ECDSA_SIG* signature) const { ECDSA_SIG_free(signature); }
    void operator()(X509_SIG* encrypted) const { X509_SIG_free(encrypted); }
    void operator()(PBE2PARAM* parameters) const { PBE2PARAM_free(parameters); }
    void operator()(PBKDF2PARAM* parameters) const { PBKDF2PARAM_free(parameters); }
    void operator()(BIO* bio) const { BIO_free(bio); }
};
template <class T>
using Handle = std::unique_ptr<T, FreeHandle>;

inline const unsigned char* bytes(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
inline unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// A text that is wiped with its owner.
class SecretText {
  public:
    SecretText() = default;
    explicit SecretText(std::size_t size) : text_(size, '\0') {}
    explicit SecretText(std::string&& text) : text_(std::move(text)) { wipe(text); }
    ~SecretText() { wipe(text_); }
    SecretText(const SecretText&) = delete;
    SecretText& operator=(const SecretText&) = delete;
    std::string& text() { return text_; }
    std::string_view view() const { return text_; }

  private:
    std::string text_;
};

}  // namespace cleanslate::agentless::ssh
