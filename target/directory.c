#include "directory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_COOKIE     3u
#define FIRST_CAPACITY   8u
#define SQUEEZE_AT_LEAST 16u

struct entry {
    uint64_t cookie;
    uint32_t fileid;  /* 0: removed */
    uint32_t name_at; /* in names */
};

struct directory {
    uint32_t parent;
    uint32_t n_live;
    uint64_t next_cookie;
    struct entry *entries;
    uint32_t n_entries, capacity; /* removed ones included */
    uint32_t *index;              /* position + 1; 0: empty */
    uint32_t index_size;          /* power of two, or 0 */
    uint8_t *names;
    size_t names_used, names_capacity;
};

static uint32_t hash_name(struct fs_name name)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ name.len;
    for (uint32_t i = 0; i < name.len; i++) {
        h = (h ^ (uint8_t)name.text[i]) * 0x100000001b3u;
    }
    return (uint32_t)(h ^ h >> 29);
}

static struct fs_name name_of(const struct directory *dir, const struct entry *entry)
{
    const uint8_t *p = dir->names + entry->name_at;
    return (struct fs_name){.text = (const char *)p + 1, .len = p[0]};
}

struct directory *directory_create(uint32_t parent_fileid)
{
    struct directory *dir = calloc(1, sizeof *dir);
    if (dir) {
        dir->parent = parent_fileid;
        dir->next_cookie = FIRST_COOKIE;
    }
    return dir;
}

void directory_destroy(struct directory *dir)
{
    if (dir) {
        free(dir->entries);
        free(dir->index);
        free(dir->names);
        free(dir);
    }
}

uint32_t directory_parent(const struct directory *dir)
{
    return dir->parent;
}

void directory_set_parent(struct directory *dir, uint32_t parent_fileid)
{
    dir->parent = parent_fileid;
}

uint32_t directory_count(const struct directory *dir)
{
    return dir->n_live;
}

/* Position of a live entry, or UINT32_MAX. */
static uint32_t position_of(const struct directory *dir, struct fs_name name)
{
    if (dir->index_size == 0) {
        return UINT32_MAX;
    }
    uint32_t mask = dir->index_size - 1;
    for (uint32_t slot = hash_name(name) & mask; dir->index[slot] != 0; slot = (slot + 1) & mask) {
        const struct entry *entry = &dir->entries[dir->index[slot] - 1];
        struct fs_name there = name_of(dir, entry);
        if (entry->fileid != 0 && there.len == name.len && memcmp(there.text, name.text, name.len) == 0) {
            return dir->index[slot] - 1;
        }
    }
    return UINT32_MAX;
}

uint32_t directory_find(const struct directory *dir, struct fs_name name)
{
    uint32_t at = position_of(dir, name);
    return at == UINT32_MAX ? 0 : dir->entries[at].fileid;
}

static void put_in_index(struct directory *dir, uint32_t position)
{
    uint32_t mask = dir->index_size - 1;
    uint32_t slot = hash_name(name_of(dir, &dir->entries[position])) & mask;
    while (dir->index[slot] != 0) {
        slot = (slot + 1) & mask;
    }
    dir->index[slot] = position + 1;
}

static void fill_index(struct directory *dir)
{
    memset(dir->index, 0, dir->index_size * sizeof *dir->index);
    for (uint32_t i = 0; i < dir->n_entries; i++) {
        if (dir->entries[i].fileid != 0) {
            put_in_index(dir, i);
        }
    }
}

/* Drops removed entries; cookies stay. Needs no memory. */
static void squeeze(struct directory *dir)
{
    uint32_t n = 0;
    size_t used = 0;
    for (uint32_t i = 0; i < dir->n_entries; i++) {
        struct entry entry = dir->entries[i];
        if (entry.fileid == 0) {
            continue;
        }
        size_t bytes = 1u + dir->names[entry.name_at];
        memmove(dir->names + used, dir->names + entry.name_at, bytes);
        entry.name_at = (uint32_t)used;
        used += bytes;
        dir->entries[n++] = entry;
    }
    dir->n_entries = n;
    dir->names_used = used;
    fill_index(dir);
}

/* Room for one more entry, its name, and an index at most 3/4 full. 0 or -ENOMEM. */
static int reserve(struct directory *dir, size_t name_bytes)
{
    if (dir->n_entries == dir->capacity) {
        uint32_t capacity = dir->capacity ? dir->capacity * 2 : FIRST_CAPACITY;
        struct entry *entries = realloc(dir->entries, capacity * sizeof *entries);
        if (!entries) {
            return -ENOMEM;
        }
        dir->entries = entries;
        dir->capacity = capacity;
    }
    if (dir->names_capacity - dir->names_used < name_bytes) {
        size_t capacity = dir->names_capacity ? dir->names_capacity * 2 : 16 * FIRST_CAPACITY;
        while (capacity - dir->names_used < name_bytes) {
            capacity *= 2;
        }
        if (capacity > UINT32_MAX) {
            return -ENOMEM;
        }
        uint8_t *names = realloc(dir->names, capacity);
        if (!names) {
            return -ENOMEM;
        }
        dir->names = names;
        dir->names_capacity = capacity;
    }
    if (dir->index_size == 0 || dir->n_entries + 1 > dir->index_size / 4 * 3) {
        uint32_t size = dir->index_size ? dir->index_size * 2 : 2 * FIRST_CAPACITY;
        uint32_t *index = malloc(size * sizeof *index);
        if (!index) {
            return -ENOMEM;
        }
        free(dir->index);
        dir->index = index;
        dir->index_size = size;
        fill_index(dir);
    }
    return 0;
}

int directory_add(struct directory *dir, struct fs_name name, uint32_t fileid)
{
    assert(fileid != 0 && name.len <= FS_NAME_MAX);
    int error = reserve(dir, 1u + name.len);
    if (error) {
        return error;
    }
    dir->entries[dir->n_entries] =
        (struct entry){.cookie = dir->next_cookie++, .fileid = fileid, .name_at = (uint32_t)dir->names_used};
    dir->names[dir->names_used] = (uint8_t)name.len;
    memcpy(dir->names + dir->names_used + 1, name.text, name.len);
    dir->names_used += 1u + name.len;
    put_in_index(dir, dir->n_entries++);
    dir->n_live++;
    return 0;
}

void directory_remove(struct directory *dir, struct fs_name name)
{
    uint32_t at = position_of(dir, name);
    assert(at != UINT32_MAX);
    dir->entries[at].fileid = 0;
    dir->n_live--;
    if (dir->n_entries - dir->n_live > dir->n_live + SQUEEZE_AT_LEAST) {
        squeeze(dir);
    }
}

void directory_replace(struct directory *dir, struct fs_name name, uint32_t fileid)
{
    uint32_t at = position_of(dir, name);
    assert(at != UINT32_MAX && fileid != 0);
    dir->entries[at].fileid = fileid;
}

bool directory_next(const struct directory *dir, uint64_t cookie, struct directory_entry *entry)
{
    uint32_t low = 0, high = dir->n_entries;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (dir->entries[middle].cookie > cookie) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    while (low < dir->n_entries && dir->entries[low].fileid == 0) {
        low++;
    }
    if (low == dir->n_entries) {
        return false;
    }
    const struct entry *found = &dir->entries[low];
    *entry = (struct directory_entry){.cookie = found->cookie, .fileid = found->fileid, .name = name_of(dir, found)};
    return true;
}

size_t directory_bytes(const struct directory *dir)
{
    return sizeof *dir + dir->capacity * sizeof *dir->entries + dir->index_size * sizeof *dir->index +
           dir->names_capacity;
}
