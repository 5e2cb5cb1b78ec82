/* target_probe.c - measures a target from outside with the bare client; prints one JSON object.
 *
 *   target_probe ADDRESS PORT EXPORT latency OP N            N calls one after the other: their response times
 *   target_probe ADDRESS PORT EXPORT open OPS_PER_S SECONDS  GETATTRs at a constant rate, whatever is outstanding
 *   target_probe ADDRESS PORT EXPORT closed N SECONDS        N GETATTRs always outstanding
 *   target_probe ADDRESS PORT EXPORT populate DIRS FILES BYTES   DIRS directories of FILES files of BYTES each
 *
 * A response ends when the kernel stamps the reply's packet. The first half of `open` and `closed` is a warm-up and not
 * counted. OP: getattr, lookup, read, write, commit.
 */
#include "bare_client.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SAMPLES   2000000u
#define MAX_IN_FLIGHT 65536u /* power of two */
#define WINDOW        256u

static int64_t samples[MAX_SAMPLES];
static size_t n_samples;
static int64_t started[MAX_IN_FLIGHT]; /* by xid */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void print_samples(double seconds)
{
    double sum = 0;
    qsort(samples, n_samples, sizeof *samples, by_value);
    for (size_t i = 0; i < n_samples; i++) {
        sum += (double)samples[i];
    }
    double n = n_samples ? (double)n_samples : 1;
    printf("{\"n\": %zu, \"seconds\": %.6f, \"ops_per_s\": %.3f, \"mean_us\": %.3f, \"min_us\": %.3f, \"p10_us\": "
           "%.3f, \"p50_us\": %.3f, "
           "\"p90_us\": %.3f, \"p99_us\": %.3f, \"max_us\": %.3f}\n",
           n_samples, seconds, (double)n_samples / seconds, sum / n / 1e3, (double)samples[0] / 1e3,
           (double)samples[n_samples / 10] / 1e3, (double)samples[n_samples / 2] / 1e3,
           (double)samples[n_samples * 9 / 10] / 1e3, (double)samples[n_samples * 99 / 100] / 1e3,
           n_samples ? (double)samples[n_samples - 1] / 1e3 : 0);
}

static void sample(int64_t ns)
{
    if (n_samples < MAX_SAMPLES) {
        samples[n_samples++] = ns;
    }
}

static void put_op(struct bare *b, const char *op, const struct bare_fh *root, const struct bare_fh *file)
{
    static const uint8_t data[4096];
    if (strcmp(op, "getattr") == 0) {
        bare_begin(b, BARE_NFS, 1);
        bare_opaque(b, file->data, file->len);
    } else if (strcmp(op, "lookup") == 0) {
        bare_begin(b, BARE_NFS, 3);
        bare_opaque(b, root->data, root->len);
        bare_opaque(b, "probe", 5);
    } else if (strcmp(op, "read") == 0) {
        bare_begin(b, BARE_NFS, 6);
        bare_opaque(b, file->data, file->len);
        bare_u64(b, 0);
        bare_u32(b, 4096);
    } else if (strcmp(op, "write") == 0) {
        bare_begin(b, BARE_NFS, 7);
        bare_opaque(b, file->data, file->len);
        bare_u64(b, 0);
        bare_u32(b, sizeof data);
        bare_u32(b, 0);
        bare_opaque(b, data, sizeof data);
    } else if (strcmp(op, "commit") == 0) {
        bare_begin(b, BARE_NFS, 21);
        bare_opaque(b, file->data, file->len);
        bare_u64(b, 0);
        bare_u32(b, 0);
    } else {
        fprintf(stderr, "target_probe: no operation %s\n", op);
        exit(2);
    }
    bare_end(b);
}

static void measure_latency(struct bare *b, const char *op, unsigned n, const struct bare_fh *root,
                            const struct bare_fh *file)
{
    struct bare_reply reply;
    int64_t begin = bare_wall_ns();
    for (unsigned i = 0; i < n; i++) {
        put_op(b, op, root, file);
        int64_t sent = bare_wall_ns();
        bare_flush(b);
        bare_receive(b, &reply);
        sample(b->arrived_ns - sent);
    }
    print_samples((double)(bare_wall_ns() - begin) / 1e9);
}

/* Takes the replies that are there; counts those that came after `from`. */
static unsigned take_replies(struct bare *b, int64_t from)
{
    struct bare_reply reply;
    unsigned n = 0;
    do {
        bare_receive(b, &reply);
        if (b->arrived_ns >= from) {
            sample(b->arrived_ns - started[reply.xid % MAX_IN_FLIGHT]);
        }
        n++;
    } while (bare_has_reply(b));
    return n;
}

static void start_getattr(struct bare *b, const struct bare_fh *root, const struct bare_fh *file)
{
    put_op(b, "getattr", root, file);
    started[b->xid % MAX_IN_FLIGHT] = bare_wall_ns();
}

static void measure_closed(struct bare *b, unsigned n, double seconds, const struct bare_fh *root,
                           const struct bare_fh *file)
{
    int64_t begin = bare_wall_ns(), from = begin + (int64_t)(seconds * 5e8), end = begin + (int64_t)(seconds * 1e9);
    for (unsigned i = 0; i < n; i++) {
        start_getattr(b, root, file);
    }
    while (bare_wall_ns() < end) {
        bare_flush(b);
        unsigned done = take_replies(b, from);
        for (unsigned i = 0; i < done; i++) {
            start_getattr(b, root, file);
        }
    }
    print_samples((double)(bare_wall_ns() - from) / 1e9);
}

static void measure_open(struct bare *b, double ops_per_s, double seconds, const struct bare_fh *root,
                         const struct bare_fh *file)
{
    int64_t begin = bare_wall_ns(), from = begin + (int64_t)(seconds * 5e8), end = begin + (int64_t)(seconds * 1e9);
    uint64_t n_sent = 0, n_done = 0;
    for (int64_t now = begin; now < end; now = bare_wall_ns()) {
        while ((double)n_sent < (double)(now - begin) / 1e9 * ops_per_s && n_sent - n_done < MAX_IN_FLIGHT) {
            start_getattr(b, root, file);
            n_sent++;
        }
        bare_flush(b);
        int64_t next = begin + (int64_t)((double)(n_sent + 1) / ops_per_s * 1e9) - bare_wall_ns();
        struct timespec wait = {.tv_nsec = next < 0 ? 0 : next > 999999999 ? 999999999 : next};
        struct pollfd pfd = {.fd = b->fd, .events = POLLIN};
        if (ppoll(&pfd, 1, &wait, NULL) > 0) {
            n_done += take_replies(b, from);
        }
    }
    print_samples((double)(bare_wall_ns() - from) / 1e9);
}

static void put_create(struct bare *b, const struct bare_fh *dir, unsigned number, uint64_t bytes)
{
    char name[32];
    bare_begin(b, BARE_NFS, 8);
    bare_opaque(b, dir->data, dir->len);
    bare_opaque(b, name, (uint32_t)snprintf(name, sizeof name, "file_en.%05u", number));
    const uint32_t words[] = {0, 0, 0, 0, 1, (uint32_t)(bytes >> 32), (uint32_t)bytes, 0, 0};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        bare_u32(b, words[i]);
    }
    bare_end(b);
}

static void populate(struct bare *b, const struct bare_fh *root, unsigned n_dirs, unsigned n_files, uint64_t bytes)
{
    struct bare_reply reply;
    unsigned n_bad = 0, n_in_flight = 0;
    int64_t begin = bare_wall_ns();
    for (unsigned d = 0; d < n_dirs; d++) {
        char name[32];
        struct bare_fh dir;
        snprintf(name, sizeof name, "dir_ent.%05u", d);
        bare_make_dir(b, root, name, &dir);
        for (unsigned f = 0; f < n_files; f++) {
            put_create(b, &dir, f, bytes);
            n_in_flight++;
            if (n_in_flight == WINDOW || f + 1 == n_files) {
                bare_flush(b);
                for (; n_in_flight > 0; n_in_flight--) {
                    bare_receive(b, &reply);
                    n_bad += bare_word(&reply, 0) != 0;
                }
            }
        }
    }
    printf("{\"files\": %u, \"failed\": %u, \"seconds\": %.3f}\n", n_dirs * n_files, n_bad,
           (double)(bare_wall_ns() - begin) / 1e9);
}

int main(int argc, char **argv)
{
    if (argc < 7) {
        fprintf(stderr, "usage: target_probe ADDRESS PORT EXPORT latency OP N | open RATE SECONDS | closed N SECONDS | "
                        "populate DIRS FILES BYTES\n");
        return 2;
    }
    struct bare b;
    struct bare_fh root, file;
    const char *mode = argv[4];
    bare_connect(&b, argv[1], atoi(argv[2]));
    bare_mount(&b, argv[3], &root);
    if (strcmp(mode, "populate") == 0 && argc == 8) {
        populate(&b, &root, (unsigned)atoi(argv[5]), (unsigned)atoi(argv[6]), strtoull(argv[7], NULL, 10));
        bare_close(&b);
        return 0;
    }
    bare_make_file(&b, &root, "probe", &file);
    bare_set_size(&b, &file, 8192);
    if (strcmp(mode, "latency") == 0) {
        measure_latency(&b, argv[5], (unsigned)atoi(argv[6]), &root, &file);
    } else if (strcmp(mode, "open") == 0) {
        measure_open(&b, atof(argv[5]), atof(argv[6]), &root, &file);
    } else if (strcmp(mode, "closed") == 0) {
        measure_closed(&b, (unsigned)atoi(argv[5]), atof(argv[6]), &root, &file);
    }
    bare_close(&b);
    return 0;
}
