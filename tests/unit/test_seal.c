/* test_seal.c - the seal refuses what an outsider could do, and names it. */
#include "seal.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static const uint8_t NONCE_P[SEAL_NONCE_BYTES] = {1, 2, 3};
static const uint8_t NONCE_L[SEAL_NONCE_BYTES] = {4, 5, 6};
static const uint8_t KEY[SEAL_KEY_BYTES] = {7};
static const uint8_t OTHER_KEY[SEAL_KEY_BYTES] = {8};
static const uint8_t BODY[] = "start the load";

static struct seal prime, loadgen;

static void pair(void)
{
    cr_assert_eq(seal_library_init(), 0);
    seal_init(&prime, KEY, NONCE_P, NONCE_L);
    seal_init(&loadgen, KEY, NONCE_P, NONCE_L);
}

TestSuite(seal, .init = pair);

Test(seal, calls_in_order_pass)
{
    uint8_t mac[SEAL_MAC_BYTES];

    for (uint64_t n = 1; n <= 5; n++) {
        cr_assert_eq(seal_sign_call(&prime, BODY, sizeof(BODY), mac), n);
        cr_assert_eq(seal_accept_call(&loadgen, n, BODY, sizeof(BODY), mac), 0);
    }
}

Test(seal, wrong_key_is_refused)
{
    uint8_t mac[SEAL_MAC_BYTES];
    struct seal other;

    seal_init(&other, OTHER_KEY, NONCE_P, NONCE_L);
    seal_sign_call(&other, BODY, sizeof(BODY), mac);
    cr_assert_eq(seal_accept_call(&loadgen, 1, BODY, sizeof(BODY), mac), -EBADMSG);
    /* and a good call still passes after it */
    seal_sign_call(&prime, BODY, sizeof(BODY), mac);
    cr_assert_eq(seal_accept_call(&loadgen, 1, BODY, sizeof(BODY), mac), 0);
}

Test(seal, the_public_key_is_not_a_secret_key)
{
    uint8_t mac[SEAL_MAC_BYTES];
    struct seal open_prime, open_loadgen;

    seal_init(&open_prime, NULL, NONCE_P, NONCE_L);
    seal_init(&open_loadgen, NULL, NONCE_P, NONCE_L);
    seal_sign_call(&open_prime, BODY, sizeof(BODY), mac);
    cr_assert_eq(seal_accept_call(&loadgen, 1, BODY, sizeof(BODY), mac), -EBADMSG);
    cr_assert_eq(seal_accept_call(&open_loadgen, 1, BODY, sizeof(BODY), mac), 0);
}

Test(seal, replay_is_refused)
{
    uint8_t mac[SEAL_MAC_BYTES];

    seal_sign_call(&prime, BODY, sizeof(BODY), mac);
    cr_assert_eq(seal_accept_call(&loadgen, 1, BODY, sizeof(BODY), mac), 0);
    cr_assert_eq(seal_accept_call(&loadgen, 1, BODY, sizeof(BODY), mac), -EALREADY);
}

Test(seal, replay_in_another_connection_is_refused)
{
    static const uint8_t fresh[SEAL_NONCE_BYTES] = {99};
    uint8_t mac[SEAL_MAC_BYTES];
    struct seal again;

    seal_sign_call(&prime, BODY, sizeof(BODY), mac);
    seal_init(&again, KEY, NONCE_P, fresh);
    cr_assert_eq(seal_accept_call(&again, 1, BODY, sizeof(BODY), mac), -EBADMSG);
    seal_init(&again, KEY, fresh, NONCE_L);
    cr_assert_eq(seal_accept_call(&again, 1, BODY, sizeof(BODY), mac), -EBADMSG);
}

Test(seal, reorder_is_refused)
{
    uint8_t first[SEAL_MAC_BYTES], second[SEAL_MAC_BYTES];

    seal_sign_call(&prime, BODY, sizeof(BODY), first);
    seal_sign_call(&prime, BODY, sizeof(BODY), second);
    cr_assert_eq(seal_accept_call(&loadgen, 2, BODY, sizeof(BODY), second), -EILSEQ);
    cr_assert_eq(seal_accept_call(&loadgen, 1, BODY, sizeof(BODY), first), 0);
    cr_assert_eq(seal_accept_call(&loadgen, 2, BODY, sizeof(BODY), second), 0);
}

Test(seal, every_edit_is_refused)
{
    uint8_t mac[SEAL_MAC_BYTES], body[sizeof(BODY)];

    seal_sign_call(&prime, BODY, sizeof(BODY), mac);
    for (size_t i = 0; i < sizeof(BODY); i++) {
        memcpy(body, BODY, sizeof(BODY));
        body[i] ^= 1;
        cr_assert_eq(seal_accept_call(&loadgen, 1, body, sizeof(body), mac), -EBADMSG);
    }
    for (size_t i = 0; i < SEAL_MAC_BYTES; i++) {
        mac[i] ^= 0x80;
        cr_assert_eq(seal_accept_call(&loadgen, 1, BODY, sizeof(BODY), mac), -EBADMSG);
        mac[i] ^= 0x80;
    }
    cr_assert_eq(seal_accept_call(&loadgen, 1, BODY, sizeof(BODY) - 1, mac), -EBADMSG);
    cr_assert_eq(seal_accept_call(&loadgen, 2, BODY, sizeof(BODY), mac), -EBADMSG);
    cr_assert_eq(seal_accept_call(&loadgen, 1, BODY, sizeof(BODY), mac), 0);
}

Test(seal, a_call_is_not_an_answer)
{
    uint8_t mac[SEAL_MAC_BYTES];

    seal_sign_call(&prime, BODY, sizeof(BODY), mac);
    cr_assert_eq(seal_check_answer(&prime, 1, BODY, sizeof(BODY), mac), -EBADMSG);
    seal_sign_answer(&loadgen, 1, BODY, sizeof(BODY), mac);
    cr_assert_eq(seal_accept_call(&loadgen, 1, BODY, sizeof(BODY), mac), -EBADMSG);
    cr_assert_eq(seal_check_answer(&prime, 1, BODY, sizeof(BODY), mac), 0);
    cr_assert_eq(seal_check_answer(&prime, 2, BODY, sizeof(BODY), mac), -EBADMSG);
}
