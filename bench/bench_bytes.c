/* bench_bytes.c - what moving data costs the client: READ and WRITE of 64 KiB and 1 MiB. The floor is plain recv and
 * plain send. */
#include "bench.h"

int main(int argc, char **argv)
{
    static const struct bench_case cases[] = {
        {NFS_OP_READ, 16, 65536},
        {NFS_OP_READ, 4, 1048576},
        {NFS_OP_WRITE, 16, 65536},
        {NFS_OP_WRITE, 4, 1048576},
    };
    struct bench_options options;
    bench_parse(argc, argv, BENCH_TARGET, &options);
    return bench_run("bytes", &options, cases, sizeof cases / sizeof cases[0]);
}
