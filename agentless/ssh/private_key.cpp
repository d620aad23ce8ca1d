#include "agentless/ssh/private_key.hpp"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <array>

#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

struct Free {
    void operator()(BIGNUM* number) const { BN_clear_free(number); }
    void operator()(OSSL_PARAM_BLD* builder) const { OSSL_PARAM_BLD_free(builder); }
    void operator()(OSSL_PARAM* parameters) const { OSSL_PARAM_free(parameters); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    void operator()(ECDSA_SIG* signature) const { ECDSA_SIG_free(signature); }
    void operator()(BIO* bio) const { BIO_free(bio); }
};
template <class T>
using Handle = std::unique_ptr<T, Free>;

struct Curve {
    std::string_view type;  // as a key type
    std::string_view name;  // as SSH names the curve
    const char* openssl_name;
    const char* digest;
};
constexpr Curve curves[] = {
    {"ecdsa-sha2-nistp256", "nistp256", "prime256v1", "SHA256"},
    {"ecdsa-sha2-nistp384", "nistp384", "secp384r1", "SHA384"},
    {"ecdsa-sha2-nistp521", "nistp521", "secp521r1", "SHA512"},
};
const Curve* curve_of(std::string_view type) {
    for (const Curve& curve : curves) {
        if (curve.type == type) return &curve;
    }
    return nullptr;
}

std::unexpected<Error> damaged(std::string_view what) {
    ERR_clear_error();
    return fail("identity", "the private key is damaged: " + std::string(what));
}

const unsigned char* bytes(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
Handle<BIGNUM> number(std::string_view magnitude) {
    return Handle<BIGNUM>(BN_bin2bn(bytes(magnitude), static_cast<int>(magnitude.size()), nullptr));
}

std::string big_number(EVP_PKEY* key, const char* name) {
    BIGNUM* raw = nullptr;
    if (EVP_PKEY_get_bn_param(key, name, &raw) != 1) return {};
    const Handle<BIGNUM> value(raw);
    std::string magnitude(static_cast<std::size_t>(BN_num_bytes(raw)), '\0');
    BN_bn2bin(raw, reinterpret_cast<unsigned char*>(magnitude.data()));
    return magnitude;
}

std::string octets(EVP_PKEY* key, const char* name) {
    std::array<unsigned char, 256> buffer{};
    std::size_t size = 0;
    if (EVP_PKEY_get_octet_string_param(key, name, buffer.data(), buffer.size(), &size) != 1) return {};
    return {reinterpret_cast<const char*>(buffer.data()), size};
}

// The public key's blob, for formats that do not carry it; empty for a type or curve that SSH has not.
std::string public_blob_of(EVP_PKEY* key) {
    std::string blob;
    if (EVP_PKEY_is_a(key, "ED25519")) {
        put_text(blob, "ssh-ed25519");
        put_text(blob, octets(key, OSSL_PKEY_PARAM_PUB_KEY));
    } else if (EVP_PKEY_is_a(key, "RSA")) {
        put_text(blob, "ssh-rsa");
        put_mpint(blob, big_number(key, OSSL_PKEY_PARAM_RSA_E));
        put_mpint(blob, big_number(key, OSSL_PKEY_PARAM_RSA_N));
    } else if (EVP_PKEY_is_a(key, "EC")) {
        char group[64] = {};
        EVP_PKEY_get_group_name(key, group, sizeof group, nullptr);
        EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed");
        for (const Curve& curve : curves) {
            if (std::string_view(group) != curve.openssl_name) continue;
            put_text(blob, curve.type);
            put_text(blob, curve.name);
            put_text(blob, octets(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY));
        }
    }
    return blob;
}

KeyHandle build(const char* algorithm, OSSL_PARAM_BLD* builder) {
    const Handle<OSSL_PARAM> parameters(OSSL_PARAM_BLD_to_param(builder));
    const Handle<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, algorithm, nullptr));
    EVP_PKEY* key = nullptr;
    if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters.get()) != 1) {
        return nullptr;
    }
    return KeyHandle(key);
}

// The fields after the key type in the private part of an OpenSSH container.
KeyHandle read_ed25519(WireReader& fields) {
    const auto public_half = fields.text();
    const auto secret = fields.text();  // seed and public half
    if (!public_half || !secret || secret->size() != 64) return nullptr;
    return KeyHandle(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes(*secret), 32));
}

KeyHandle read_ecdsa(WireReader& fields, const Curve& curve) {
    const auto name = fields.text();
    const auto point = fields.text();
    const auto secret = fields.text();
    if (!name || !point || !secret || *name != curve.name || secret->size() > 80) return nullptr;
    const Handle<BIGNUM> scalar = number(*secret);
    const Handle<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
    if (!scalar || !builder ||
        OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve.openssl_name, 0) !=
            1 ||
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point->data(),
                                         point->size()) != 1 ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, scalar.get()) != 1) {
        return nullptr;
    }
    KeyHandle key = build("EC", builder.get());
    const Handle<EVP_PKEY_CTX> check(key ? EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr) : nullptr);
    return check && EVP_PKEY_pairwise_check(check.get()) == 1 ? std::move(key) : nullptr;
}

KeyHandle read_rsa(WireReader& fields) {
    static constexpr const char* names[] = {OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E,
                                            OSSL_PKEY_PARAM_RSA_D};
    const Handle<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
    std::array<Handle<BIGNUM>, 3> numbers;  // the builder keeps pointers to them
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto field = fields.text();
        if (!field || field->size() > 2100) return nullptr;  // 16384 bits and some
        numbers[i] = number(*field);
        if (!numbers[i] || OSSL_PARAM_BLD_push_BN(builder.get(), names[i], numbers[i].get()) != 1)
            return nullptr;
    }
    for (int i = 0; i < 3; ++i) {
        if (!fields.text()) return nullptr;  // iqmp, p, q: n, e and d are enough
    }
    return build("RSA", builder.get());
}

// The private part: a check number twice, type and fields, comment, padding 1 2 3 ...
Result<ParsedKey> read_private_part(std::string_view part, std::string_view public_blob) {
    WireReader fields(part);
    const auto first = fields.number();
    const auto second = fields.number();
    const auto type = fields.text();
    if (!first || first != second || !type) return damaged("its check numbers differ");
    if (*type != key_type(public_blob)) return damaged("its two halves are of different types");
    KeyHandle key;
    if (*type == "ssh-ed25519") {
        key = read_ed25519(fields);
    } else if (const Curve* curve = curve_of(*type)) {
        key = read_ecdsa(fields, *curve);
    } else if (*type == "ssh-rsa") {
        key = read_rsa(fields);
    } else {
        return fail("identity", "keys of type " + printable(ellipsize(*type, 40)) + " are not supported",
                    "use an ed25519 key (ssh-keygen -t ed25519)");
    }
    if (!key) return damaged("its numbers make no key");
    if (public_blob_of(key.get()) != public_blob) return damaged("its two halves do not belong together");
    if (!fields.text()) return damaged("it is cut short");
    const std::string_view padding = fields.rest();
    for (std::size_t i = 0; i < padding.size(); ++i) {
        if (static_cast<unsigned char>(padding[i]) != ((i + 1) & 0xff))
            return damaged("its padding is wrong");
    }
    const std::string blob(public_blob);
    return ParsedKey{blob, std::make_shared<SigningKey>(blob, std::move(key))};
}

constexpr std::string_view openssh_begin = "-----BEGIN OPENSSH PRIVATE KEY-----";
constexpr std::string_view openssh_end = "-----END OPENSSH PRIVATE KEY-----";

Result<ParsedKey> parse_openssh(std::string_view text) {
    const std::size_t from = text.find(openssh_begin) + openssh_begin.size();
    const std::size_t to = text.find(openssh_end, from);
    if (to == std::string_view::npos) return damaged("it is cut short");
    std::string base64;
    for (const char character : text.substr(from, to - from)) {
        if (character != '\n' && character != '\r' && character != ' ') base64.push_back(character);
    }
    const auto decoded = decode_base64(base64);
    constexpr std::string_view magic("openssh-key-v1\0", 15);
    if (!decoded || !decoded->starts_with(magic)) return damaged("it is no OpenSSH container");
    WireReader container(std::string_view(*decoded).substr(magic.size()));
    const auto cipher = container.text();
    const auto kdf = container.text();
    const auto kdf_options = container.text();
    const auto count = container.number();
    const auto public_blob = container.text();
    const auto private_part = container.text();
    if (!cipher || !kdf || !kdf_options || !count || !public_blob || !private_part)
        return damaged("it is cut short");
    if (*count != 1) return damaged("it does not hold exactly one key");
    if (*cipher != "none") return ParsedKey{std::string(*public_blob), nullptr};
    return read_private_part(*private_part, *public_blob);
}

// Called where the key is encrypted.
int no_passphrase(char*, int, int, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
}

Result<ParsedKey> parse_pem(std::string_view text) {
    const Handle<BIO> bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    bool encrypted = false;
    KeyHandle key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, &encrypted) : nullptr);
    ERR_clear_error();
    if (encrypted) return ParsedKey{};
    if (!key) return damaged("OpenSSL cannot read it");
    std::string blob = public_blob_of(key.get());
    if (blob.empty())
        return fail("identity", "a key of this type or curve is not supported", "use an ed25519 key");
    return ParsedKey{blob, std::make_shared<SigningKey>(blob, std::move(key))};
}

Result<ParsedKey> parse_public_line(std::string_view text) {
    const auto fields = split(trim(text), ' ');
    const auto blob = fields.size() >= 2 ? decode_base64(trim(fields[1])) : std::nullopt;
    if (!blob || fields[0].empty() || key_type(*blob) != fields[0]) {
        return fail("identity", "this is neither a private key (OpenSSH or PEM) nor a public key");
    }
    return ParsedKey{*blob, nullptr};
}

// ECDSA: OpenSSL gives DER, SSH wants two numbers.
std::string ecdsa_numbers(std::string_view der) {
    const unsigned char* position = bytes(der);
    const Handle<ECDSA_SIG> signature(d2i_ECDSA_SIG(nullptr, &position, static_cast<long>(der.size())));
    if (!signature) return {};
    std::string numbers;
    for (const BIGNUM* half : {ECDSA_SIG_get0_r(signature.get()), ECDSA_SIG_get0_s(signature.get())}) {
        std::string magnitude(static_cast<std::size_t>(BN_num_bytes(half)), '\0');
        BN_bn2bin(half, reinterpret_cast<unsigned char*>(magnitude.data()));
        put_mpint(numbers, magnitude);
    }
    return numbers;
}

}  // namespace

void FreeKey::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

std::string SigningKey::sign(std::string_view data, std::string_view algorithm) const {
    const std::string_view type = key_type(blob_);
    const Curve* curve = curve_of(type);
    const char* digest = curve != nullptr ? curve->digest : nullptr;  // ed25519 has none
    if (type == "ssh-rsa") {
        if (algorithm == "rsa-sha2-512") digest = "SHA512";
        if (algorithm == "rsa-sha2-256") digest = "SHA256";
        if (digest == nullptr) return {};  // ssh-rsa means SHA-1: servers refuse it
    } else if (algorithm != type) {
        return {};
    }
    const Handle<EVP_MD_CTX> context(EVP_MD_CTX_new());
    std::string signature(static_cast<std::size_t>(EVP_PKEY_get_size(key_.get())), '\0');
    std::size_t size = signature.size();
    if (!context ||
        EVP_DigestSignInit_ex(context.get(), nullptr, digest, nullptr, nullptr, key_.get(), nullptr) != 1 ||
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes(data),
                       data.size()) != 1) {
        return {};
    }
    signature.resize(size);
    return curve != nullptr ? ecdsa_numbers(signature) : signature;
}

Result<ParsedKey> parse_private_key(std::string_view text) {
    if (text.find(openssh_begin) != std::string_view::npos) return parse_openssh(text);
    if (text.find("-----BEGIN ") != std::string_view::npos) return parse_pem(text);
    return parse_public_line(text);
}

}  // namespace cleanslate::agentless::ssh
