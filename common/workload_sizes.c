/* workload_sizes.c - how long files and requests are.
 *
 * All kinds of file sizes become one cycle of sizes, computed once: a table of whole percentages gives 100 of them, a
 * fixed size 1, a lognormal its 1024 quantiles. After that the size of a file is a look-up, whatever the kind.
 */
#include "workload.h"

#include "dist.h"
#include "rng.h"
#include "workload_rows.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KIB              1024
#define FRAGMENT_MAX_KIB 7
#define CYCLE_MAX        10000
#define CYCLE_LOGNORMAL  1024

/* The shortest of 100, 1000 and 10,000 files that holds every percentage exactly; else 10,000, which rounds to 0.01 %.
 */
static uint32_t table_cycle_length(const struct size_table *table)
{
    for (uint32_t n = 100; n < CYCLE_MAX; n *= 10) {
        bool is_exact = true;
        for (uint32_t i = 0; i < table->n; i++) {
            double count = table->steps[i].percent * n / 100;
            is_exact &= fabs(count - round(count)) < 1e-6;
        }
        if (is_exact) {
            return n;
        }
    }
    return CYCLE_MAX;
}

/* How often each step comes in n files: rounded down, then the largest remainders get one more until the sum is n. */
static void count_steps(const struct size_table *table, uint32_t n, uint32_t counts[WORKLOAD_MAX_STEPS])
{
    double remainders[WORKLOAD_MAX_STEPS] = {0};
    uint32_t sum = 0;
    for (uint32_t i = 0; i < table->n; i++) {
        double count = table->steps[i].percent * n / 100;
        counts[i] = (uint32_t)(count + 1e-6);
        remainders[i] = count - counts[i];
        sum += counts[i];
    }
    for (; sum < n; sum++) {
        uint32_t largest = 0;
        for (uint32_t i = 1; i < table->n; i++) {
            if (remainders[i] > remainders[largest]) {
                largest = i;
            }
        }
        counts[largest]++;
        remainders[largest] -= 1;
    }
}

/* Spreads the steps evenly: each place goes to the step that is furthest behind its share. */
static void fill_from_table(const struct size_table *table, uint32_t n, uint64_t *cycle)
{
    uint32_t counts[WORKLOAD_MAX_STEPS] = {0}, given[WORKLOAD_MAX_STEPS] = {0};
    count_steps(table, n, counts);
    for (uint32_t place = 0; place < n; place++) {
        uint32_t best = table->n;
        double most_due = -INFINITY;
        for (uint32_t i = 0; i < table->n; i++) {
            double due = (double)counts[i] * (place + 0.5) / n - given[i];
            if (given[i] < counts[i] && due > most_due) {
                most_due = due;
                best = i;
            }
        }
        assert(best < table->n);
        given[best]++;
        cycle[place] = table->steps[best].bytes;
    }
}

/* Mean sizes of equally likely slices of the distribution, so that the cycle's mean is the distribution's; placed by a
 * stride, so that neighbours are not of like size. */
static void fill_from_lognormal(double mean, double sigma, uint32_t n, uint64_t *cycle)
{
    uint32_t stride = 391; /* about 0.382 of the cycle, the golden section, and odd: reaches every place of it */
    for (uint32_t i = 0; i < n; i++) {
        double bytes = round(dist_lognormal_slice_mean(mean, sigma, (double)i / n, (double)(i + 1) / n));
        cycle[(uint64_t)i * stride % n] = bytes < 1 ? 1 : (uint64_t)bytes;
    }
}

int workload_make_cycle(struct workload *w)
{
    uint32_t n = w->file_size_kind == FILE_SIZE_FIXED       ? 1
                 : w->file_size_kind == FILE_SIZE_LOGNORMAL ? CYCLE_LOGNORMAL
                                                            : table_cycle_length(&w->file_sizes);
    uint64_t *cycle = malloc(n * sizeof *cycle);
    if (!cycle) {
        return -ENOMEM;
    }

    switch (w->file_size_kind) {
    case FILE_SIZE_FIXED:
        cycle[0] = w->file_size_bytes;
        break;
    case FILE_SIZE_LOGNORMAL:
        fill_from_lognormal((double)w->file_size_bytes, w->file_size_sigma, n, cycle);
        break;
    case FILE_SIZE_TABLE:
        fill_from_table(&w->file_sizes, n, cycle);
        break;
    }
    free(w->cycle);
    w->cycle = cycle;
    w->n_cycle = n;
    w->cycle_bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        w->cycle_bytes += cycle[i];
    }
    return w->cycle_bytes > 0 ? 0 : -ERANGE; /* files of no bytes: no number of them would fill a fileset */
}

uint64_t workload_file_bytes(const struct workload *w, uint64_t file_index)
{
    return w->cycle[file_index % w->n_cycle];
}

double workload_mean_file_bytes(const struct workload *w)
{
    return (double)w->cycle_bytes / w->n_cycle;
}

uint64_t workload_range_bytes(const struct workload *w, uint64_t first, uint64_t n)
{
    uint64_t sum = 0;
    for (; n > 0 && first % w->n_cycle != 0; n--) {
        sum += workload_file_bytes(w, first++);
    }
    sum += n / w->n_cycle * w->cycle_bytes;
    first += n / w->n_cycle * w->n_cycle;
    for (n %= w->n_cycle; n > 0; n--) {
        sum += workload_file_bytes(w, first++);
    }
    return sum;
}

static const struct size_table *requests_of(const struct workload *w, enum nfs_op op)
{
    assert(op == NFS_OP_READ || op == NFS_OP_WRITE);
    return op == NFS_OP_READ ? &w->read_requests : &w->write_requests;
}

static uint64_t whole_bytes(const struct size_table *table, uint32_t step, uint32_t block_bytes)
{
    return table->steps[step].bytes + (uint64_t)table->steps[step].blocks * block_bytes;
}

uint64_t workload_request_bytes(const struct workload *w, enum nfs_op op, uint32_t step, uint32_t block_bytes,
                                struct rng *rng)
{
    const struct size_table *table = requests_of(w, op);
    assert(step < table->n);
    uint64_t fragment = table->steps[step].has_fragment ? (1 + rng_below(rng, FRAGMENT_MAX_KIB)) * KIB : 0;
    return whole_bytes(table, step, block_bytes) + fragment;
}

uint64_t workload_request_max_bytes(const struct workload *w, enum nfs_op op, uint32_t block_bytes)
{
    const struct size_table *table = requests_of(w, op);
    uint64_t max = 0;
    for (uint32_t i = 0; i < table->n; i++) {
        uint64_t bytes =
            whole_bytes(table, i, block_bytes) + (table->steps[i].has_fragment ? FRAGMENT_MAX_KIB * KIB : 0);
        if (table->steps[i].percent > 0 && bytes > max) {
            max = bytes;
        }
    }
    return max;
}

double workload_rpcs_per_request(const struct workload *w, enum nfs_op op)
{
    if (op != NFS_OP_READ && op != NFS_OP_WRITE) {
        return 1;
    }
    const struct size_table *table = requests_of(w, op);
    uint32_t block = w->block_size_bytes ? w->block_size_bytes : w->block_size_max_bytes;
    double mean = 0;
    for (uint32_t i = 0; i < table->n; i++) {
        uint32_t n_fragments = table->steps[i].has_fragment ? FRAGMENT_MAX_KIB : 1;
        double rpcs = 0;
        for (uint32_t f = 1; f <= n_fragments; f++) {
            uint64_t bytes = whole_bytes(table, i, block) + (table->steps[i].has_fragment ? (uint64_t)f * KIB : 0);
            rpcs += ceil((double)bytes / block);
        }
        mean += table->steps[i].percent / 100 * rpcs / n_fragments;
    }
    return mean;
}

double workload_request_weight(const struct workload *w, enum nfs_op op)
{
    double share = w->mix_percent[op];
    if (w->counting == COUNTING_LOGICAL) {
        return share;
    }
    if (op != NFS_OP_COMMIT) {
        return share / workload_rpcs_per_request(w, op);
    }
    double by_products = w->mix_percent[NFS_OP_WRITE] / workload_rpcs_per_request(w, NFS_OP_WRITE);
    return share > by_products ? share - by_products : 0;
}

double workload_requests_per_op(const struct workload *w)
{
    double sum = 0;
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        sum += workload_request_weight(w, (enum nfs_op)i);
    }
    return sum / 100;
}
