/* seal.h - the keyed seal on every call of the control protocol (loadgen_prot.x, message 2).
 *
 *   shared key (32 bytes, or all zero = public) ─┐
 *   nonce of the prime ──────────────────────────┼─ BLAKE2b ─> key of this connection
 *   nonce of the load generator ─────────────────┘
 *   MAC = BLAKE2b(key; direction, sequence number, body)
 *
 * - A seal is good for one connection and one reader of each direction. The sequence number of call n is n, starting at
 * 1; an answer carries its call's.
 * - What is refused is named by the errno: -EBADMSG wrong key or changed, -EALREADY replayed, -EILSEQ out of order. The
 * MAC is looked at first, so that an outsider learns nothing of the sequence.
 * - The seal protects integrity and order, not secrecy.
 */
#ifndef NFSCURVE_RPCGEN_SEAL_H
#define NFSCURVE_RPCGEN_SEAL_H

#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY_BYTES   32
#define SEAL_NONCE_BYTES 32
#define SEAL_MAC_BYTES   32

enum seal_direction { SEAL_CALL = 1, SEAL_ANSWER = 2 };

struct seal {
    uint8_t key[SEAL_KEY_BYTES];
    uint64_t last_sent;     /* calls: of the last one signed by seal_sign_call */
    uint64_t last_accepted; /* calls: of the last one passed by seal_accept_call */
};

/* Once per program before anything else here; 0 or -EIO. */
int seal_library_init(void);

/* Fills a nonce from the operating system's randomness. */
void seal_nonce(uint8_t nonce[SEAL_NONCE_BYTES]);

/* shared_key NULL: the public key of 32 zero bytes. */
void seal_init(struct seal *seal, const uint8_t *shared_key, const uint8_t prime_nonce[SEAL_NONCE_BYTES],
               const uint8_t loadgen_nonce[SEAL_NONCE_BYTES]);

/* Wipes the key. */
void seal_fini(struct seal *seal);

/* The caller's side: the next sequence number and the MAC of body under it. Returns the sequence number. */
uint64_t seal_sign_call(struct seal *seal, const uint8_t *body, size_t bytes, uint8_t mac[SEAL_MAC_BYTES]);

/* The answerer's side: 0, -EBADMSG, -EALREADY or -EILSEQ; only 0 advances the sequence. */
int seal_accept_call(struct seal *seal, uint64_t sequence, const uint8_t *body, size_t bytes,
                     const uint8_t mac[SEAL_MAC_BYTES]);

/* Answers are bound to the call whose sequence number they carry. check: 0 or -EBADMSG. */
void seal_sign_answer(const struct seal *seal, uint64_t sequence, const uint8_t *body, size_t bytes,
                      uint8_t mac[SEAL_MAC_BYTES]);
int seal_check_answer(const struct seal *seal, uint64_t sequence, const uint8_t *body, size_t bytes,
                      const uint8_t mac[SEAL_MAC_BYTES]);

/* "the seal is wrong: ..." for the errors above. */
const char *seal_strerror(int error);

#endif
