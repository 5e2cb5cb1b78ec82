/* fuzz_target_calls.c - calls with good headers and any arguments at the target, several after each other.
 *
 * Input: calls of [procedure, 128 added for MOUNT: 1 byte][words of arguments: 1 byte][arguments]. The last may be cut
 * off.
 */
#include "target_harness.h"

#include <arpa/inet.h>
#include <string.h>

#define MAX_CALLS 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct target_harness *h = target_harness_create();
    for (int i = 0; i < MAX_CALLS && n >= 2; i++) {
        size_t bytes = 4u * data[1];
        if (bytes > n - 2) {
            bytes = n - 2;
        }
        /* record mark, six words of header, AUTH_SYS of five words, an empty verifier */
        const uint32_t words[16] = {0x80000000u | (uint32_t)(60 + bytes),
                                    (uint32_t)i,
                                    0,
                                    2,
                                    data[0] & 128 ? 100005 : 100003,
                                    3,
                                    data[0] & 127,
                                    1,
                                    20,
                                    0,
                                    0,
                                    (uint32_t)i % 2 * 500};
        uint8_t record[sizeof words + 4 * 255];
        for (unsigned w = 0; w < 16; w++) {
            uint32_t wire = htonl(words[w]);
            memcpy(record + 4 * w, &wire, 4);
        }
        memcpy(record + sizeof words, data + 2, bytes);
        target_harness_feed(h, record, sizeof words + bytes);
        data += 2 + bytes;
        n -= 2 + bytes;
    }
    target_harness_destroy(h);
    return 0;
}
