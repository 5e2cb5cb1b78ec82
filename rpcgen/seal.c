/* seal.c - see seal.h. */
#include "seal.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

/* Ties derived keys to this protocol: the same shared key used elsewhere gives unrelated keys. */
static const char CONTEXT[] = "nfscurve control protocol 1";

static void put_u64(uint8_t out[8], uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        out[i] = (uint8_t)(value >> (56 - 8 * i));
    }
}

static void mac_of(const struct seal *seal, enum seal_direction direction, uint64_t sequence, const uint8_t *body,
                   size_t bytes, uint8_t mac[SEAL_MAC_BYTES])
{
    crypto_generichash_state state;
    uint8_t head[9];

    /* The head has a fixed length, so (direction, sequence, body) is encoded without ambiguity. */
    head[0] = (uint8_t)direction;
    put_u64(head + 1, sequence);
    crypto_generichash_init(&state, seal->key, SEAL_KEY_BYTES, SEAL_MAC_BYTES);
    crypto_generichash_update(&state, head, sizeof(head));
    crypto_generichash_update(&state, body, bytes);
    crypto_generichash_final(&state, mac, SEAL_MAC_BYTES);
    sodium_memzero(&state, sizeof(state));
}

int seal_library_init(void)
{
    return sodium_init() < 0 ? -EIO : 0;
}

void seal_nonce(uint8_t nonce[SEAL_NONCE_BYTES])
{
    randombytes_buf(nonce, SEAL_NONCE_BYTES);
}

void seal_init(struct seal *seal, const uint8_t *shared_key, const uint8_t prime_nonce[SEAL_NONCE_BYTES],
               const uint8_t loadgen_nonce[SEAL_NONCE_BYTES])
{
    static const uint8_t public_key[SEAL_KEY_BYTES];
    crypto_generichash_state state;

    memset(seal, 0, sizeof(*seal));
    crypto_generichash_init(&state, shared_key ? shared_key : public_key, SEAL_KEY_BYTES, SEAL_KEY_BYTES);
    crypto_generichash_update(&state, (const uint8_t *)CONTEXT, sizeof(CONTEXT));
    crypto_generichash_update(&state, prime_nonce, SEAL_NONCE_BYTES);
    crypto_generichash_update(&state, loadgen_nonce, SEAL_NONCE_BYTES);
    crypto_generichash_final(&state, seal->key, SEAL_KEY_BYTES);
    sodium_memzero(&state, sizeof(state));
}

void seal_fini(struct seal *seal)
{
    sodium_memzero(seal, sizeof(*seal));
}

uint64_t seal_sign_call(struct seal *seal, const uint8_t *body, size_t bytes, uint8_t mac[SEAL_MAC_BYTES])
{
    seal->last_sent++;
    mac_of(seal, SEAL_CALL, seal->last_sent, body, bytes, mac);
    return seal->last_sent;
}

int seal_accept_call(struct seal *seal, uint64_t sequence, const uint8_t *body, size_t bytes,
                     const uint8_t mac[SEAL_MAC_BYTES])
{
    uint8_t right[SEAL_MAC_BYTES];

    mac_of(seal, SEAL_CALL, sequence, body, bytes, right);
    if (sodium_memcmp(right, mac, SEAL_MAC_BYTES) != 0) {
        return -EBADMSG;
    }
    if (sequence <= seal->last_accepted) {
        return -EALREADY;
    }
    if (sequence != seal->last_accepted + 1) {
        return -EILSEQ;
    }
    seal->last_accepted = sequence;
    return 0;
}

void seal_sign_answer(const struct seal *seal, uint64_t sequence, const uint8_t *body, size_t bytes,
                      uint8_t mac[SEAL_MAC_BYTES])
{
    mac_of(seal, SEAL_ANSWER, sequence, body, bytes, mac);
}

int seal_check_answer(const struct seal *seal, uint64_t sequence, const uint8_t *body, size_t bytes,
                      const uint8_t mac[SEAL_MAC_BYTES])
{
    uint8_t right[SEAL_MAC_BYTES];

    mac_of(seal, SEAL_ANSWER, sequence, body, bytes, right);
    return sodium_memcmp(right, mac, SEAL_MAC_BYTES) == 0 ? 0 : -EBADMSG;
}

const char *seal_strerror(int error)
{
    switch (error) {
    case -EBADMSG:
        return "the seal does not match: another key, or a changed message";
    case -EALREADY:
        return "the message was sent before (replay)";
    case -EILSEQ:
        return "the message is out of order";
    default:
        return "the seal is refused";
    }
}
