/* fuzz_answer.c - a load generator that has the key, and answers whatever it likes: nothing it says leaves the bounds
 * of the prime's tables. */
#include "control_answer.h"

#include "tally.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct histogram response;
static struct control_interval_cell cell = {.response = &response};

static struct control_interval_cell *give_cell(uint32_t t_s, enum op_class c, void *arg)
{
    (void)arg;
    if (c >= OP_CLASS_COUNT) {
        abort();
    }
    return t_s % 2 ? &cell : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tally tally;
    const struct control_sink sink = {.tally = &tally, .cell = give_cell};
    struct control_answer answer = {0};
    void *scratch = NULL;
    lg_reply reply;
    XDR xdrs;

    memset(&reply, 0, sizeof reply);
    xdrmem_create(&xdrs, (char *)(uintptr_t)data, (u_int)size, XDR_DECODE);
    if (xdr_lg_reply(&xdrs, &reply) && reply.verdict == LG_OK) {
        if (control_answer_take(&reply.lg_reply_u.answer, &sink, &answer, &scratch) == 0) {
            /* every text that it points to is there to its end */
            size_t n = 0;
            for (uint32_t i = 0; answer.processes && i < answer.n; i++) {
                n += strlen(answer.processes[i].message);
            }
            for (uint32_t i = 0; answer.summaries && i < answer.n; i++) {
                n += strlen(answer.summaries[i].message) + strlen(answer.summaries[i].local_address);
            }
            for (uint32_t i = 0; answer.findings && i < answer.n; i++) {
                n += strlen(answer.findings[i].rule) + strlen(answer.findings[i].got);
            }
            if (n > size) {
                abort();
            }
        }
    }
    free(scratch);
    xdr_free((xdrproc_t)xdr_lg_reply, &reply);
    return 0;
}
