/* working_set.c - see working_set.h. */
#include "working_set.h"

#include "divisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIT_SLACK    8192u /* sfs-facts section 3 */
#define MAX_LOOKS    512u  /* files that are looked at for a fit; large requests fit few files */
#define LARGEST_OF   16u
#define CLASS_TRIES  24u /* classes drawn before a request is clipped to the best file found */
#define WRITER_TRIES 64u

int working_set_init(struct working_set *ws, struct fileset *fileset, struct file_use *uses, uint32_t n_uses,
                     uint64_t seed)
{
    memset(ws, 0, sizeof *ws);
    ws->fileset = fileset;
    ws->uses = uses;
    ws->n_uses = n_uses;
    rng_seed(&ws->rng, seed, 0x66696c65);
    double weights[DIST_ACCESS_GROUPS];
    dist_access_group_weights(weights, DIST_ACCESS_GROUPS);
    int error = dist_discrete_init(&ws->classes, weights, DIST_ACCESS_GROUPS);
    if (error != 0) {
        return error;
    }
    access_groups_init(&ws->groups, fileset->workload->n_cycle, fileset->layout.n_access_groups);
    dist_zipf_init(&ws->zipf, fileset->layout.lg_n_working_set > 0 ? fileset->layout.lg_n_working_set : 1,
                   fileset->workload->zipf_theta);
    ws->stride = (uint32_t)(fileset->n_ws * 0.6180339887498949);
    if (ws->stride == 0) {
        ws->stride = 1;
    }
    while (greatest_common_divisor(ws->stride, fileset->n_ws) != 1) {
        ws->stride++;
    }
    ws->touched = calloc(fileset->n_ws / 8 + 1, 1);
    return ws->touched != NULL ? 0 : -ENOMEM;
}

void working_set_fini(struct working_set *ws)
{
    dist_discrete_fini(&ws->classes);
    free(ws->touched);
    ws->touched = NULL;
}

void working_set_touch(struct working_set *ws, uint32_t k)
{
    uint8_t bit = (uint8_t)(1u << (k & 7));
    ws->n_touched += (ws->touched[k >> 3] & bit) == 0;
    ws->touched[k >> 3] |= bit;
}

static bool is_usable(const struct working_set *ws, uint32_t k, bool is_writer)
{
    if (ws->fileset->ws_handles[k].len == 0) {
        return false; /* its creation failed */
    }
    for (uint32_t i = 0; i < ws->n_uses; i++) {
        if (ws->uses[i].file == k && (is_writer || ws->uses[i].is_writer)) {
            return false;
        }
    }
    return true;
}

/* The best file so far, and how many more are looked at. */
struct search {
    uint32_t row;
    uint32_t n_looks;
    uint64_t bytes;
};

/* The better of two for a request: the smallest that holds it, or else the largest. */
static bool is_better(uint64_t bytes, uint64_t than, uint64_t wanted)
{
    if ((bytes >= wanted) != (than >= wanted)) {
        return bytes >= wanted;
    }
    return bytes >= wanted ? bytes < than : bytes > than;
}

/* Row of the file in a place of group g; FILESET_NONE when the place is empty. */
static uint32_t row_of_place(const struct working_set *ws, uint32_t g, uint64_t place)
{
    uint64_t w;
    return access_groups_file(&ws->groups, g, place, &w) ? (uint32_t)(w - ws->fileset->layout.first_working_set)
                                                         : FILESET_NONE;
}

/* Looks through group g from a random file on. True when one fits. */
static bool look_in_group(struct working_set *ws, uint32_t g, enum file_want want, uint64_t bytes, bool is_writer,
                          struct search *search)
{
    uint64_t first = ws->fileset->layout.first_working_set, place;
    uint64_t n = access_groups_span(&ws->groups, g, first, first + ws->fileset->n_ws, &place);
    if (n == 0) {
        return false;
    }
    uint64_t at; /* an empty place, as a start, would be in favour of the file behind it */
    do {
        at = rng_below(&ws->rng, n);
    } while (row_of_place(ws, g, place + at) == FILESET_NONE);
    for (uint64_t i = 0; i < n && search->n_looks > 0; i++, at = at + 1 < n ? at + 1 : 0) {
        uint32_t row = row_of_place(ws, g, place + at);
        if (row == FILESET_NONE || !is_usable(ws, row, is_writer)) {
            continue;
        }
        search->n_looks--;
        uint64_t size = fileset_ws_bytes(ws->fileset, row);
        bool is_fit = want == WANT_ANY || (want == WANT_FIT && size >= bytes && size <= bytes + FIT_SLACK);
        if (is_fit || search->row == FILESET_NONE ||
            (want == WANT_LARGEST ? size > search->bytes : is_better(size, search->bytes, bytes))) {
            search->row = row;
            search->bytes = size;
        }
        if (is_fit) {
            return true;
        }
    }
    return false;
}

/* Looks through the groups of a class, beginning with any, until a file fits or enough were looked at. */
static bool look_in_class(struct working_set *ws, uint32_t class, enum file_want want, uint64_t bytes, bool is_writer,
                          struct search *search)
{
    uint32_t n_of_class = ws->groups.n_of_class;
    uint32_t i = (uint32_t)rng_below(&ws->rng, n_of_class);
    for (uint32_t n = 0; n < n_of_class && search->n_looks > 0; n++, i = i + 1 < n_of_class ? i + 1 : 0) {
        if (look_in_group(ws, class + DIST_ACCESS_GROUPS * i, want, bytes, is_writer, search)) {
            return true;
        }
    }
    return want != WANT_FIT && search->row != FILESET_NONE;
}

/* Where no file fits the smallest that is larger is taken, and a small slice may have none of that size in the class
 * drawn. So further classes are drawn until as many files were looked at as a large slice has in the first; of files of
 * the same size, the first wins, so that popularity stays what it is. */
static uint32_t pick_from_groups(struct working_set *ws, enum file_want want, uint64_t bytes, bool is_writer)
{
    struct search search = {.row = FILESET_NONE, .n_looks = want == WANT_LARGEST ? LARGEST_OF : MAX_LOOKS};
    uint32_t seen = 0;
    for (uint32_t i = 0; i < CLASS_TRIES && search.n_looks > 0; i++) {
        uint32_t class = dist_discrete_draw(&ws->classes, &ws->rng);
        if ((seen & 1u << class) == 0 && look_in_class(ws, class, want, bytes, is_writer, &search)) {
            break;
        }
        seen |= 1u << class;
    }
    return search.row;
}

/* A rank of the load generator, brought down to this process's share of them. */
static uint32_t draw_zipf(struct working_set *ws)
{
    return (uint32_t)((unsigned __int128)dist_zipf_draw(&ws->zipf, &ws->rng) * ws->fileset->n_ws / ws->zipf.n);
}

static uint32_t draw_rank(struct working_set *ws)
{
    const struct workload *w = ws->fileset->workload;
    uint32_t n = ws->fileset->n_ws;
    if (w->popularity == POPULARITY_ZIPF) {
        return draw_zipf(ws);
    }
    if (w->popularity == POPULARITY_HOT_SET) {
        /* In fractions of a file, so that small slices have the same share of hot files as large ones. */
        double n_hot = n * w->hot_set_percent / 100, u = rng_unit(&ws->rng);
        bool is_hot = n_hot >= n || rng_unit(&ws->rng) * 100 < w->hot_set_access_percent;
        double rank = is_hot ? u * (n_hot < n ? n_hot : n) : n_hot + u * (n - n_hot);
        return rank < n ? (uint32_t)rank : n - 1;
    }
    return (uint32_t)rng_below(&ws->rng, n);
}

static uint32_t pick_by_rank(struct working_set *ws, enum file_want want, bool is_writer)
{
    struct search best = {.row = FILESET_NONE};
    for (uint32_t i = 0; i < WRITER_TRIES; i++) {
        uint32_t row = (uint32_t)((uint64_t)draw_rank(ws) * ws->stride % ws->fileset->n_ws);
        if (!is_usable(ws, row, is_writer)) {
            continue;
        }
        uint64_t size = fileset_ws_bytes(ws->fileset, row);
        if (want != WANT_LARGEST) {
            return row;
        }
        if (best.row == FILESET_NONE || size > best.bytes) {
            best = (struct search){.row = row, .bytes = size};
        }
        if (i + 1 >= LARGEST_OF) {
            break;
        }
    }
    return best.row;
}

uint32_t working_set_pick(struct working_set *ws, enum file_want want, uint64_t bytes, bool is_writer)
{
    if (ws->fileset->workload->popularity == POPULARITY_ACCESS_GROUPS) {
        return pick_from_groups(ws, want, bytes, is_writer);
    }
    return pick_by_rank(ws, want, is_writer);
}
