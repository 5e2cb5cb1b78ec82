/* bench_ops.c - what one NFS operation costs the client: GETATTR, LOOKUP and READ 4 KiB at windows 1 to 512. */
#include "bench.h"

#define ALL_WINDOWS(OP, BYTES)                                                                                         \
    {OP, 1, BYTES}, {OP, 8, BYTES}, {OP, 32, BYTES}, {OP, 128, BYTES},                                                 \
    {                                                                                                                  \
        OP, 512, BYTES                                                                                                 \
    }

int main(int argc, char **argv)
{
    static const struct bench_case cases[] = {
        ALL_WINDOWS(NFS_OP_GETATTR, 0),
        ALL_WINDOWS(NFS_OP_LOOKUP, 0),
        ALL_WINDOWS(NFS_OP_READ, 4096),
    };
    struct bench_options options;
    bench_parse(argc, argv, BENCH_TARGET | BENCH_CANNED, &options);
    return bench_run("ops", &options, cases, sizeof cases / sizeof cases[0]);
}
