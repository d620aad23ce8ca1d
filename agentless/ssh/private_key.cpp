#include "agentless/ssh/private_key.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "agentless/ssh/certificate.hpp"
#include "agentless/ssh/key_numbers.hpp"
#include "agentless/ssh/openssh_key.hpp"
#include "agentless/ssh/openssl_handles.hpp"
#include "agentless/ssh/wire.hpp"
#include "base/text.hpp"

namespace cleanslate::agentless::ssh {
namespace {

// OpenSSL's own default is 2048, others' about a million: a second at most.
constexpr long max_pbkdf2_rounds = 10'000'000;

std::unexpected<Error> damaged(std::string_view what) {
    ERR_clear_error();
    return fail("identity", "the private key is damaged: " + std::string(what));
}

Handle<BIO> memory(std::string_view text) {
    return Handle<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// How often an encrypted PKCS#8 key wants its passphrase hashed; 0 where it does not say, as with scrypt,
// which OpenSSL bounds.
long pbkdf2_rounds(std::string_view text) {
    const Handle<BIO> bio = memory(text);
    const Handle<X509_SIG> encrypted(bio ? PEM_read_bio_PKCS8(bio.get(), nullptr, nullptr, nullptr)
                                         : nullptr);
    if (!encrypted) return 0;
    const X509_ALGOR* how = nullptr;
    X509_SIG_get0(encrypted.get(), &how, nullptr);
    if (OBJ_obj2nid(how->algorithm) != NID_pbes2) return 0;
    const Handle<PBE2PARAM> scheme(
        static_cast<PBE2PARAM*>(ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), how->parameter)));
    if (!scheme || OBJ_obj2nid(scheme->keyfunc->algorithm) != NID_id_pbkdf2) return 0;
    const Handle<PBKDF2PARAM> stretching(static_cast<PBKDF2PARAM*>(
        ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBKDF2PARAM), scheme->keyfunc->parameter)));
    if (!stretching) return 0;
    const long rounds = ASN1_INTEGER_get(stretching->iter);
    return rounds < 0 ? max_pbkdf2_rounds + 1 : rounds;  // more than fit into a long
}

// What OpenSSL asks for a passphrase through: whether it did, and what it gets.
struct Question {
    const std::string_view* passphrase = nullptr;
    bool asked = false;
};
int answer(char* buffer, int size, int, void* context) {
    auto& question = *static_cast<Question*>(context);
    question.asked = true;
    if (question.passphrase == nullptr || question.passphrase->size() > static_cast<std::size_t>(size))
        return -1;
    question.passphrase->copy(buffer, question.passphrase->size());
    return static_cast<int>(question.passphrase->size());
}

Result<ParsedKey> read_pem(std::string_view text, const std::string_view* passphrase) {
    const long rounds = pbkdf2_rounds(text);
    ERR_clear_error();
    const Error too_many{
        "identity", "",
        fmt::format("its passphrase is stretched by too many rounds, at most {} are supported",
                    max_pbkdf2_rounds),
        "encrypt it anew (ssh-keygen -p), or use the agent"};
    if (rounds > max_pbkdf2_rounds && passphrase != nullptr) return std::unexpected(too_many);
    const Handle<BIO> bio = memory(text);
    Question question{passphrase};
    KeyHandle key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, answer, &question) : nullptr);
    ERR_clear_error();
    if (question.asked && passphrase == nullptr) {
        ParsedKey locked{std::string(), nullptr, true};
        if (rounds > max_pbkdf2_rounds) locked.obstacle = too_many;
        return locked;
    }
    if (question.asked && !key) return fail("wrong_passphrase", "the passphrase is wrong");
    if (!key) return damaged("OpenSSL cannot read it");
    std::string blob = public_blob_of(key.get());
    if (blob.empty())
        return fail("identity", "a key of this type or curve is not supported", "use an ed25519 key");
    return ParsedKey{blob, std::make_shared<SigningKey>(blob, std::move(key))};
}

Result<ParsedKey> read_public_line(std::string_view text) {
    const std::string_view line = trim(text);
    const auto fields = split(line, ' ');
    const auto blob = fields.size() >= 2 ? decode_base64(trim(fields[1])) : std::nullopt;
    if (!blob || fields[0].empty() || key_type(*blob) != fields[0]) {
        return fail("identity", "this is neither a private key (OpenSSH or PEM) nor a public key");
    }
    ParsedKey parsed{*blob, nullptr};
    const std::size_t comment = line.find(' ', fields[0].size() + 1);
    if (comment != std::string_view::npos) parsed.comment = trim(line.substr(comment));
    return parsed;
}

Result<ParsedKey> read_key(std::string_view text, const std::string_view* passphrase) {
    if (is_openssh_key(text)) return read_openssh_key(text, passphrase);
    if (text.find("-----BEGIN ") != std::string_view::npos) return read_pem(text, passphrase);
    return read_public_line(text);
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
    const std::string plain = plain_algorithm(algorithm);
    const Curve* curve = curve_of(type);
    const char* digest = curve != nullptr ? curve->digest : nullptr;  // ed25519 has none
    if (type == "ssh-rsa") {
        if (plain == "rsa-sha2-512") digest = "SHA512";
        if (plain == "rsa-sha2-256") digest = "SHA256";
        if (digest == nullptr) return {};  // ssh-rsa means SHA-1: servers refuse it
    } else if (plain != type) {
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

Result<ParsedKey> parse_private_key(std::string_view text) { return read_key(text, nullptr); }

Result<ParsedKey> decrypt_private_key(std::string_view text, std::string_view passphrase) {
    return read_key(text, &passphrase);
}

}  // namespace cleanslate::agentless::ssh
