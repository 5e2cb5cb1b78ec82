#include "latency.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS NS_PER_MS

static struct latency *model(const char *spec)
{
    char message[512] = "";
    struct latency *latency = latency_create(spec, message, sizeof message);
    cr_assert_not_null(latency, "%s", message);
    return latency;
}

static int64_t delay_of(struct latency *latency, enum nfs_op op, struct rng *rng)
{
    struct latency_call call = {.op = op, .at = {NS_PER_S}};
    return latency_due(latency, &call, rng).ns - NS_PER_S;
}

Test(latency, none_and_fixed)
{
    struct rng rng;
    rng_seed(&rng, 1, 1);
    struct latency *none = model("none"), *fixed = model("fixed:200us");
    cr_assert_eq(delay_of(none, NFS_OP_READ, &rng), 0);
    cr_assert_eq(delay_of(fixed, NFS_OP_READ, &rng), 200000);
    latency_destroy(none);
    latency_destroy(fixed);
}

Test(latency, operations_may_have_their_own)
{
    struct rng rng;
    rng_seed(&rng, 1, 1);
    struct latency *latency = model("fixed:1ms,read=fixed:3ms,getattr=none,free=commit+fsinfo");
    cr_assert_eq(delay_of(latency, NFS_OP_WRITE, &rng), 1 * MS);
    cr_assert_eq(delay_of(latency, NFS_OP_READ, &rng), 3 * MS);
    cr_assert_eq(delay_of(latency, NFS_OP_GETATTR, &rng), 0);
    cr_assert_eq(delay_of(latency, NFS_OP_COMMIT, &rng), 0);
    cr_assert_eq(delay_of(latency, NFS_OP_FSINFO, &rng), 0);
    latency_destroy(latency);
}

Test(latency, exponential_has_its_mean_and_its_deviation)
{
    struct rng rng;
    rng_seed(&rng, 1, 1);
    struct latency *latency = model("exponential:2ms");
    double sum = 0, squares = 0;
    enum { N = 100000 };
    for (int i = 0; i < N; i++) {
        double d = (double)delay_of(latency, NFS_OP_READ, &rng) / MS;
        sum += d;
        squares += d * d;
    }
    double mean = sum / N, sd = sqrt(squares / N - mean * mean);
    /* sd of the mean: 2 ms / sqrt(100000) = 6.3 us; five of them */
    cr_assert_float_eq(mean, 2.0, 0.032, "mean %f ms", mean);
    cr_assert_float_eq(sd, 2.0, 0.06, "sd %f ms", sd);
    latency_destroy(latency);
}

/* A curve file with one flat response time of 10 ms up to 1000 ops/s. */
static char *flat_curve(char *path)
{
    strcpy(path, "/tmp/curve-XXXXXX");
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "# ops/s ms\n100 10.0\n1000, 10.0\n");
    fclose(file);
    return path;
}

Test(latency, rpcs_of_one_request_are_due_together)
{
    char path[64], spec[128];
    struct rng rng;
    rng_seed(&rng, 1, 1);
    snprintf(spec, sizeof spec, "curve:%s,logical=64KiB", flat_curve(path));
    struct latency *latency = model(spec);
    unlink(path);
    struct latency_call call = {.op = NFS_OP_READ, .at = {NS_PER_S}, .fileid = 5, .offset = 0, .count = 65536};
    int64_t due = latency_due(latency, &call, &rng).ns;
    cr_assert_eq(due, NS_PER_S + 10 * MS);
    /* the second biod, a little later */
    call.at.ns += 100000;
    call.offset = 65536;
    cr_assert_eq(latency_due(latency, &call, &rng).ns, due);
    /* the next round, when the first answers came: at once */
    call.at.ns = due + 300000;
    call.offset = 131072;
    cr_assert_eq(latency_due(latency, &call, &rng).ns, due);
    /* the tail of the request */
    call.offset = 196608;
    call.count = 1000;
    cr_assert_eq(latency_due(latency, &call, &rng).ns, due);
    /* another place of the file is another request, another file too */
    call.offset = 1000000;
    cr_assert_eq(latency_due(latency, &call, &rng).ns, call.at.ns + 10 * MS);
    call.fileid = 6;
    cr_assert_eq(latency_due(latency, &call, &rng).ns, call.at.ns + 10 * MS);
    latency_destroy(latency);
}

Test(latency, appends_of_two_requests_are_two_requests)
{
    char path[64], spec[128];
    struct rng rng;
    rng_seed(&rng, 1, 1);
    snprintf(spec, sizeof spec, "curve:%s,logical=64KiB", flat_curve(path));
    struct latency *latency = model(spec);
    unlink(path);
    struct latency_call call = {.op = NFS_OP_WRITE, .at = {NS_PER_S}, .fileid = 5, .offset = 0, .count = 4096};
    latency_due(latency, &call, &rng);
    call.at.ns += 15 * MS;
    call.offset = 4096;
    cr_assert_eq(latency_due(latency, &call, &rng).ns, call.at.ns + 10 * MS, "both are smaller than a block");
    latency_destroy(latency);
}

Test(latency, logical_makes_commit_free)
{
    char path[64], spec[128];
    struct rng rng;
    rng_seed(&rng, 1, 1);
    snprintf(spec, sizeof spec, "curve:%s,logical", flat_curve(path));
    struct latency *latency = model(spec);
    unlink(path);
    cr_assert_eq(delay_of(latency, NFS_OP_COMMIT, &rng), 0);
    cr_assert_eq(delay_of(latency, NFS_OP_GETATTR, &rng), 10 * MS);
    latency_destroy(latency);
}

Test(latency, what_does_not_read_is_named)
{
    static const char *const wrong[] = {"fixed",          "fixed:5",      "fixed:-1ms",   "slow:5ms",
                                        "reed=fixed:1ms", "read=curve:x", "free=nothing", "logical=5",
                                        "curve:/no/such", "exponential:x"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char message[512] = "";
        cr_assert_null(latency_create(wrong[i], message, sizeof message), "'%s' was taken", wrong[i]);
        cr_assert_gt(strlen(message), 10, "'%s'", wrong[i]);
    }
}
