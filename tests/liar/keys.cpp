#include "tests/liar/keys.hpp"

#include <openssl/bio.h>
#include <openssl/pem.h>

#include <stdexcept>

#include "agentless/ssh/wire.hpp"

namespace cleanslate::agentless::liar {

using ssh::put_text;

Key::Key() : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free) {
    if (!key_) throw std::runtime_error("OpenSSL makes no ed25519 key");
}

std::string Key::blob() const {
    std::string half(32, '\0');
    std::size_t size = half.size();
    EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(half.data()), &size);
    std::string blob;
    put_text(blob, "ssh-ed25519");
    put_text(blob, half);
    return blob;
}

std::string Key::signature(std::string_view data) const {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    std::string bytes(64, '\0');
    std::size_t size = bytes.size();
    EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get());
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size,
                   reinterpret_cast<const unsigned char*>(data.data()), data.size());
    std::string signature;
    put_text(signature, "ssh-ed25519");
    put_text(signature, bytes);
    return signature;
}

std::string Key::pem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PKCS8PrivateKey(text.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(text.get(), &bytes);
    return {bytes, static_cast<std::size_t>(size)};
}

std::string Key::known_hosts_line(std::string_view name) const {
    return std::string(name) + " ssh-ed25519 " + ssh::encode_base64(blob()) + "\n";
}

}  // namespace cleanslate::agentless::liar
