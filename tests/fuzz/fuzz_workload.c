/* fuzz_workload.c - the workload that the prime sends to a load generator is text from the network: whatever it is,
 * reading it ends in a workload or in messages, and what was read can be written and read again. */
#include "config.h"
#include "workload.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_text(const char *text, struct workload *w)
{
    struct config_errors errors;
    config_errors_init(&errors);
    int rc = workload_from_text(text, w, &errors);
    if (rc != 0 && errors.n == 0) {
        abort(); /* refused without a word */
    }
    config_errors_fini(&errors);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct workload first, again;
    char *text = malloc(size + 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    if (read_text(text, &first) == 0) {
        json_t *dump = workload_dump(&first);
        char *written = json_dumps(dump, 0);
        if (read_text(written, &again) != 0) {
            abort(); /* what it writes it must accept */
        }
        workload_fini(&again);
        free(written);
        json_decref(dump);
        workload_fini(&first);
    }
    free(text);
    return 0;
}
