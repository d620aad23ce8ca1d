#include "agentless/ssh/key_numbers.hpp"

#include <openssl/core_names.h>

#include <array>

#include "agentless/ssh/openssl_handles.hpp"

namespace cleanslate::agentless::ssh {
namespace {

constexpr Curve curves[] = {
    {"ecdsa-sha2-nistp256", "nistp256", "prime256v1", "SHA256"},
    {"ecdsa-sha2-nistp384", "nistp384", "secp384r1", "SHA384"},
    {"ecdsa-sha2-nistp521", "nistp521", "secp521r1", "SHA512"},
};

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

}  // namespace

const Curve* curve_of(std::string_view type) {
    for (const Curve& curve : curves) {
        if (curve.type == type) return &curve;
    }
    return nullptr;
}

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

bool is_supported_type(std::string_view type) {
    return type == "ssh-ed25519" || type == "ssh-rsa" || curve_of(type) != nullptr;
}

KeyHandle read_private_fields(std::string_view type, WireReader& fields) {
    if (type == "ssh-ed25519") return read_ed25519(fields);
    if (type == "ssh-rsa") return read_rsa(fields);
    const Curve* curve = curve_of(type);
    return curve != nullptr ? read_ecdsa(fields, *curve) : nullptr;
}

}  // namespace cleanslate::agentless::ssh
