/* fileset.c - see fileset.h. */
#include "fileset.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAMP_CELL_BYTES 1024u /* verify_data: see data_pattern.h */

static void *table(uint64_t n, size_t bytes)
{
    return calloc(n > 0 ? n : 1, bytes);
}

int fileset_init(struct fileset *fs, const struct workload *workload, const struct process_layout *layout,
                 char *message, size_t message_bytes)
{
    memset(fs, 0, sizeof *fs);
    fs->workload = workload;
    fs->layout = *layout;
    if (layout->n_working_set == 0) {
        snprintf(
            message, message_bytes,
            "process %u has %llu files and none of them in the working set: raise fileset_mb_per_op or the load, or "
            "lower processes_per_loadgen",
            layout->process, (unsigned long long)layout->n_files);
        return -EINVAL;
    }
    if (layout->n_working_set > UINT32_MAX || layout->n_directories == 0 || layout->n_directories > UINT32_MAX ||
        layout->n_symlinks > UINT32_MAX || layout->n_non_io_files > UINT32_MAX ||
        layout->n_files < layout->n_working_set || layout->n_access_groups == 0) {
        snprintf(message, message_bytes,
                 "a layout of %llu files in %llu directories with %llu in the working set and %u access groups is "
                 "impossible",
                 (unsigned long long)layout->n_files, (unsigned long long)layout->n_directories,
                 (unsigned long long)layout->n_working_set, layout->n_access_groups);
        return -EINVAL;
    }
    fs->n_ws = (uint32_t)layout->n_working_set;
    fs->n_dirs = (uint32_t)layout->n_directories;
    fs->n_symlinks = (uint32_t)layout->n_symlinks;
    fs->n_slots = (uint32_t)layout->n_non_io_files;
    fs->max_slot_handles = (uint32_t)layout_fileset_handle_reserve(fs->n_slots);
    fs->free_slot_handle = FILESET_NONE;
    fs->ws_handles = table(fs->n_ws, sizeof *fs->ws_handles);
    fs->ws_sizes = table(fs->n_ws, sizeof *fs->ws_sizes);
    fs->dir_handles = table(fs->n_dirs, sizeof *fs->dir_handles);
    fs->symlink_handles = table(fs->n_symlinks, sizeof *fs->symlink_handles);
    fs->slots = table(fs->n_slots, sizeof *fs->slots);
    fs->slot_handles = table(fs->max_slot_handles, sizeof *fs->slot_handles);
    if (fs->ws_handles == NULL || fs->ws_sizes == NULL || fs->dir_handles == NULL || fs->symlink_handles == NULL ||
        fs->slots == NULL || fs->slot_handles == NULL) {
        fileset_fini(fs);
        snprintf(message, message_bytes, "not enough memory for a fileset table of %llu bytes",
                 (unsigned long long)layout_memory_bytes(layout));
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < fs->n_slots; i++) {
        fs->slots[i].handle = FILESET_NONE;
    }
    fs->n_in_state[SLOT_EMPTY] = fs->n_slots;
    for (uint32_t k = 0; k < fs->n_ws; k++) {
        uint64_t bytes = fileset_file_bytes(fs, fileset_ws_file(fs, k));
        if (bytes > FILESET_MAX_FILE_BYTES / 2) {
            fileset_fini(fs);
            snprintf(message, message_bytes, "a file of %llu bytes is too large: 512 GiB at most",
                     (unsigned long long)bytes);
            return -EINVAL;
        }
        fileset_set_ws_bytes(fs, k, bytes);
    }
    fs->io_bytes = layout->file_bytes;
    fs->limit_bytes = (uint64_t)((double)layout->file_bytes * (1 + workload->growth_limit_percent / 100));
    return 0;
}

void fileset_fini(struct fileset *fs)
{
    free(fs->ws_handles);
    free(fs->ws_sizes);
    free(fs->dir_handles);
    free(fs->symlink_handles);
    free(fs->slots);
    free(fs->slot_handles);
    memset(fs, 0, sizeof *fs);
}

uint64_t fileset_memory_bytes(const struct fileset *fs)
{
    uint64_t per_ws = sizeof *fs->ws_handles + sizeof *fs->ws_sizes;
    return fs->n_ws * per_ws + ((uint64_t)fs->n_dirs + fs->n_symlinks + fs->max_slot_handles) * sizeof(struct nfs3_fh) +
           (uint64_t)fs->n_slots * sizeof *fs->slots;
}

uint64_t fileset_file_bytes(const struct fileset *fs, uint64_t j)
{
    uint64_t bytes = workload_file_bytes(fs->workload, fs->layout.first_file + j);
    /* A stamp covers a cell; a cell written in two pieces could not be checked. */
    if (fs->workload->verify_data) {
        bytes = (bytes + STAMP_CELL_BYTES - 1) / STAMP_CELL_BYTES * STAMP_CELL_BYTES;
    }
    return bytes;
}

static uint64_t files_per_directory(const struct fileset *fs)
{
    return fs->workload->files_per_directory > 0 ? fs->workload->files_per_directory : 1;
}

uint32_t fileset_file_dir(const struct fileset *fs, uint64_t j)
{
    uint64_t dir = j / files_per_directory(fs);
    return dir < fs->n_dirs ? (uint32_t)dir : fs->n_dirs - 1;
}

uint64_t fileset_dir_files(const struct fileset *fs, uint32_t dir, uint64_t *first)
{
    uint64_t per = files_per_directory(fs);
    *first = dir * per;
    if (*first >= fs->layout.n_files) {
        return 0;
    }
    uint64_t left = fs->layout.n_files - *first;
    return left < per || dir == fs->n_dirs - 1 ? left : per;
}

static void numbered(char *name, const char *prefix, uint64_t number)
{
    snprintf(name, FILESET_NAME_BYTES, "%s%05llu", prefix, (unsigned long long)number);
}

void fileset_file_name(uint64_t j, char name[static FILESET_NAME_BYTES])
{
    numbered(name, FILESET_FILE_PREFIX, j);
}

void fileset_dir_name(const struct fileset *fs, uint32_t dir, uint32_t level, char name[static FILESET_NAME_BYTES])
{
    uint32_t depth = fs->workload->directory_depth > 0 ? fs->workload->directory_depth : 1;
    uint32_t width = fs->workload->directory_width;
    uint64_t number = dir;
    /* Digits of the leaf's number in base `width`, the first level taking what is left; without a width a level has one
     * directory. */
    for (uint32_t l = depth; l > level; l--) {
        number = width > 0 ? number / width : 0;
    }
    if (level > 1 && width > 0) {
        number %= width;
    }
    numbered(name, FILESET_DIR_PREFIX, number);
}

void fileset_symlink_name(uint32_t i, char name[static FILESET_NAME_BYTES])
{
    numbered(name, FILESET_SYMLINK_PREFIX, i);
}

void fileset_symlink_text(uint32_t i, char text[static FILESET_NAME_BYTES])
{
    numbered(text, "target_of_symlink.", i);
}

void fileset_slot_name(uint32_t i, char name[static FILESET_NAME_BYTES])
{
    numbered(name, FILESET_SLOT_PREFIX, i);
}

void fileset_dir_slot_name(uint32_t i, char name[static FILESET_NAME_BYTES])
{
    numbered(name, FILESET_DIR_SLOT_PREFIX, i);
}

/* As few in a directory as possible, in order: when directories are added with the load, slots stay where they are as
 * long as there are more directories than slots. */
static uint32_t slots_per_directory(const struct fileset *fs)
{
    return (fs->n_slots + fs->n_dirs - 1) / fs->n_dirs;
}

uint32_t fileset_slot_dir(const struct fileset *fs, uint32_t i)
{
    return i / slots_per_directory(fs);
}

uint32_t fileset_dir_slots(const struct fileset *fs, uint32_t dir, uint32_t *first)
{
    uint64_t per = slots_per_directory(fs), at = dir * per;
    *first = (uint32_t)at;
    if (at >= fs->n_slots) {
        return 0;
    }
    uint64_t left = fs->n_slots - at;
    return (uint32_t)(left < per ? left : per);
}

bool fileset_parse_name(const char *name, uint32_t len, const char *prefix, uint64_t *number)
{
    size_t n = strlen(prefix);
    if (len < n + 5 || len > n + 15 || memcmp(name, prefix, n) != 0) {
        return false;
    }
    uint64_t value = 0;
    for (uint32_t i = (uint32_t)n; i < len; i++) {
        if (name[i] < '0' || name[i] > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(name[i] - '0');
    }
    if (len > n + 5 && name[n] == '0') {
        return false;
    }
    *number = value;
    return true;
}

uint64_t fileset_file_identity(const struct fileset *fs, uint64_t j)
{
    return (uint64_t)fs->layout.client << 52 | (uint64_t)(fs->layout.process & 0xfff) << 40 | j;
}

uint64_t fileset_ws_file(const struct fileset *fs, uint32_t k)
{
    const struct process_layout *l = &fs->layout;
    return layout_working_set_file(l->lg_n_files, l->lg_n_working_set, fs->workload->n_cycle,
                                   l->first_working_set + k) -
           l->first_file;
}

uint32_t fileset_ws_of_file(const struct fileset *fs, uint64_t j)
{
    const struct process_layout *l = &fs->layout;
    uint64_t file = l->first_file + j;
    uint64_t w = layout_working_set_from(l->lg_n_files, l->lg_n_working_set, fs->workload->n_cycle, file);
    if (w < l->first_working_set || w - l->first_working_set >= fs->n_ws ||
        layout_working_set_file(l->lg_n_files, l->lg_n_working_set, fs->workload->n_cycle, w) != file) {
        return FILESET_NONE;
    }
    return (uint32_t)(w - l->first_working_set);
}

uint64_t fileset_ws_bytes(const struct fileset *fs, uint32_t k)
{
    const uint8_t *s = fs->ws_sizes[k];
    return (uint64_t)s[0] | (uint64_t)s[1] << 8 | (uint64_t)s[2] << 16 | (uint64_t)s[3] << 24 | (uint64_t)s[4] << 32;
}

uint64_t fileset_ws_total_bytes(const struct fileset *fs)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < fs->n_ws; k++) {
        sum += fileset_ws_bytes(fs, k);
    }
    return sum;
}

void fileset_set_ws_bytes(struct fileset *fs, uint32_t k, uint64_t bytes)
{
    assert(bytes <= FILESET_MAX_FILE_BYTES);
    fs->io_bytes += bytes - fileset_ws_bytes(fs, k);
    for (int i = 0; i < 5; i++) {
        fs->ws_sizes[k][i] = (uint8_t)(bytes >> 8 * i);
    }
}

uint32_t fileset_pick_slot(struct fileset *fs, struct rng *rng, uint32_t mask, bool idle)
{
    uint32_t n = 0;
    for (int s = 0; s < SLOT_STATE_COUNT; s++) {
        if (mask >> s & 1) {
            n += fs->n_in_state[s];
        }
    }
    if (n == 0) {
        return FILESET_NONE;
    }
    /* Random probes are uniform; they fail only when few slots qualify, and then a scan from a random place will do. */
    uint32_t i = 0;
    for (int probe = 0; probe < 32; probe++) {
        i = (uint32_t)rng_below(rng, fs->n_slots);
        if ((mask >> fs->slots[i].state & 1) && !(idle && fs->slots[i].n_users > 0)) {
            return i;
        }
    }
    for (uint32_t k = 0; k < fs->n_slots; k++) {
        i = i + 1 < fs->n_slots ? i + 1 : 0;
        if ((mask >> fs->slots[i].state & 1) && !(idle && fs->slots[i].n_users > 0)) {
            return i;
        }
    }
    return FILESET_NONE;
}

void fileset_slot_set(struct fileset *fs, uint32_t slot, enum slot_state state)
{
    fs->n_in_state[fs->slots[slot].state]--;
    fs->slots[slot].state = (uint8_t)state;
    fs->n_in_state[state]++;
}

static int grow_slot_handles(struct fileset *fs)
{
    uint32_t n = fs->max_slot_handles + fs->max_slot_handles / 8 + 16;
    struct nfs3_fh *grown = realloc(fs->slot_handles, n * sizeof *grown);
    if (grown == NULL) {
        return -ENOMEM;
    }
    fs->slot_handles = grown;
    fs->max_slot_handles = n;
    return 0;
}

int fileset_slot_set_handle(struct fileset *fs, uint32_t slot, const struct nfs3_fh *fh)
{
    struct slot *s = &fs->slots[slot];
    if (fh == NULL) {
        if (s->handle != FILESET_NONE) {
            struct nfs3_fh *freed = &fs->slot_handles[s->handle];
            memcpy(freed->data, &fs->free_slot_handle, sizeof fs->free_slot_handle);
            fs->free_slot_handle = s->handle;
            s->handle = FILESET_NONE;
        }
        return 0;
    }
    struct nfs3_fh copy = *fh; /* it may lie in the table that is about to move */
    if (s->handle == FILESET_NONE) {
        if (fs->free_slot_handle != FILESET_NONE) {
            s->handle = fs->free_slot_handle;
            memcpy(&fs->free_slot_handle, fs->slot_handles[s->handle].data, sizeof fs->free_slot_handle);
        } else {
            if (fs->n_slot_handles == fs->max_slot_handles && grow_slot_handles(fs) != 0) {
                return -ENOMEM;
            }
            s->handle = fs->n_slot_handles++;
        }
    }
    fs->slot_handles[s->handle] = copy;
    return 0;
}

const struct nfs3_fh *fileset_slot_handle(const struct fileset *fs, uint32_t slot)
{
    uint32_t handle = fs->slots[slot].handle;
    return handle == FILESET_NONE ? NULL : &fs->slot_handles[handle];
}
