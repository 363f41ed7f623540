#pragma once

#include <limits.h>

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// Function-like macros and expression macros are not imported into Swift; each is wrapped once here.

static inline int martlet_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

#define MARTLET_MESSAGES_PER_READ 32

static inline void martlet_count_message(
    int writing, int version, int type, const void *bytes, size_t length, SSL *ssl, void *count) {
    (void)version, (void)bytes, (void)length;
    if (writing || type != SSL3_RT_HANDSHAKE) return;
    if (++*(unsigned *)count > MARTLET_MESSAGES_PER_READ) SSL_set_shutdown(ssl, SSL_RECEIVED_SHUTDOWN);
}

// SSL_read goes on from record to record until there is data, so a peer that sends key updates as fast as they are read
// would never let it return. Once `count`, which is set to 0 before each read, exceeds the limit it returns the end.
static inline void martlet_SSL_limit_messages(SSL *ssl, unsigned *count) {
    SSL_set_msg_callback(ssl, martlet_count_message);
    SSL_set_msg_callback_arg(ssl, count);
}

static inline long martlet_SSL_CTX_set_mode(SSL_CTX *context, long mode) {
    return SSL_CTX_set_mode(context, mode);
}

static inline int martlet_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline void martlet_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}

static inline void martlet_SSL_CTX_set_read_ahead(SSL_CTX *context, int on) {
    SSL_CTX_set_read_ahead(context, on);
}

static inline void martlet_SSL_CTX_set_options_hardened(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
}

static inline long martlet_SSL_CTX_add1_chain_cert(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int martlet_EVP_PKEY_PUBLIC_KEY(void) { return EVP_PKEY_PUBLIC_KEY; }

static inline int martlet_EVP_PKEY_KEYPAIR(void) { return EVP_PKEY_KEYPAIR; }

static inline EVP_PKEY *martlet_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }

static inline EVP_PKEY *martlet_EVP_RSA_gen(unsigned bits) { return EVP_RSA_gen(bits); }

static inline BIO *martlet_BIO_new_mem(const void *bytes, int length) { return BIO_new_mem_buf(bytes, length); }

static inline long martlet_BIO_get_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

// OSSL_PARAM holds pointers into the caller's frame, so the parameter list is built and used on this side.
static inline int martlet_HMAC_SHA256_init(EVP_MAC_CTX *context, const unsigned char *key, size_t length) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    // A null key would mean "keep the key there is"; an empty one is still a key.
    return EVP_MAC_init(context, key ? key : (const unsigned char *)"", length, parameters);
}

// Without this callback the library asks on the terminal for the password of a protected key.
static inline int martlet_no_password(char *buffer, int size, int writing, void *context) {
    (void)buffer, (void)size, (void)writing, (void)context;
    return -1;
}

static inline EVP_PKEY *martlet_PEM_read_private_key(BIO *bio) {
    return PEM_read_bio_PrivateKey(bio, NULL, martlet_no_password, NULL);
}

static inline X509 *martlet_PEM_read_X509(BIO *bio) {
    return PEM_read_bio_X509(bio, NULL, martlet_no_password, NULL);
}

static inline void martlet_OPENSSL_free(void *memory) { OPENSSL_free(memory); }

// A P-256 key of a 32-byte scalar (its point is computed) or of a point alone; null if either is not valid.
static inline EVP_PKEY *martlet_P256_key(const unsigned char *scalar, const unsigned char *point, size_t length) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = NULL;
    unsigned char computed[65];
    BIGNUM *number = scalar ? BN_secure_new() : NULL;
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT *product = group ? EC_POINT_new(group) : NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (!product || !context || !builder) goto done;
    if (scalar) {
        if (!number || !BN_bin2bn(scalar, 32, number)) goto done;
        BN_set_flags(number, BN_FLG_CONSTTIME);
        if (BN_is_zero(number) || BN_cmp(number, EC_GROUP_get0_order(group)) >= 0) goto done;
        if (!EC_POINT_mul(group, product, number, NULL, NULL, NULL)) goto done;
        length = EC_POINT_point2oct(
            group, product, POINT_CONVERSION_UNCOMPRESSED, computed, sizeof computed, NULL);
        point = computed;
        if (!OSSL_PARAM_BLD_push_BN_pad(builder, OSSL_PKEY_PARAM_PRIV_KEY, number, 32)) goto done;
    }
    if (!OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0)) goto done;
    if (!OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, length)) goto done;
    parameters = OSSL_PARAM_BLD_to_param(builder);
    if (!parameters || EVP_PKEY_fromdata_init(context) != 1) goto done;
    if (EVP_PKEY_fromdata(context, &key, scalar ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, parameters) != 1) key = NULL;
done:
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(context);
    EC_POINT_free(product);
    EC_GROUP_free(group);
    BN_clear_free(number);
    return key;
}

// An RSA public key of its modulus and exponent, most significant byte first; null if the library refuses them.
static inline EVP_PKEY *martlet_RSA_public_key(
    const unsigned char *modulus, size_t modulus_length, const unsigned char *exponent, size_t exponent_length) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = NULL;
    BIGNUM *n = BN_bin2bn(modulus, (int)modulus_length, NULL);
    BIGNUM *e = BN_bin2bn(exponent, (int)exponent_length, NULL);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (!n || !e || !context || !builder) goto done;
    if (!OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n)) goto done;
    if (!OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e)) goto done;
    parameters = OSSL_PARAM_BLD_to_param(builder);
    if (!parameters || EVP_PKEY_fromdata_init(context) != 1) goto done;
    if (EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) key = NULL;
done:
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(context);
    BN_free(n);
    BN_free(e);
    return key;
}

// Writes the 32-byte scalar of a P-256 private key; 1 for success.
static inline int martlet_P256_scalar(const EVP_PKEY *key, unsigned char *bytes) {
    BIGNUM *number = NULL;
    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) != 1) return 0;
    int written = BN_bn2binpad(number, bytes, 32);
    BN_clear_free(number);
    return written == 32;
}

static inline int martlet_X509_set_serial(X509 *certificate, const unsigned char *bytes, int length) {
    BIGNUM *number = BN_bin2bn(bytes, length, NULL);
    int done = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return done;
}

// Seconds since 1970, or the smallest number for a time that cannot be read.
static inline long martlet_ASN1_TIME_unix(const ASN1_TIME *time) {
    int days = 0, seconds = 0;
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int done = epoch && ASN1_TIME_diff(&days, &seconds, epoch, time);
    ASN1_TIME_free(epoch);
    return done ? days * 86400L + seconds : LONG_MIN;
}
