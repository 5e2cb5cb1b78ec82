/* fuzz_target_stream.c - any byte stream at the target: record marking, RPC header, arguments, file system. */
#include "target_harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct target_harness *h = target_harness_create();
    target_harness_feed(h, data, n);
    target_harness_destroy(h);
    return 0;
}
