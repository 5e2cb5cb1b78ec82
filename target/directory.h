/* directory.h - the names of one directory, with cookies that stay valid whatever is created and removed meanwhile.
 *
 *   entries   [cookie 3 "a"] [cookie 4, removed] [cookie 5 "c"] ...      ascending by cookie, appended only
 *   index     hash(name) -> position in entries                         open addressing; rebuilt when entries are
 * compacted names     one byte of length and the text, one after the other
 *
 * A cookie is given once and never again, so a listing that goes on from cookie c sees every entry with a greater
 * cookie: each name that existed all the time exactly once, removed ones not, new ones at the end. Removed entries are
 * squeezed out when they outnumber the others. About 16 + 4..8 + the name's bytes an entry.
 */
#ifndef NFSCURVE_TARGET_DIRECTORY_H
#define NFSCURVE_TARGET_DIRECTORY_H

#include "fs_types.h"

#include <stddef.h>
#include <stdint.h>

/* Cookies 1 and 2 are "." and "..", which the directory does not store. */
#define DIRECTORY_COOKIE_DOT     1u
#define DIRECTORY_COOKIE_DOT_DOT 2u

struct directory;

struct directory_entry {
    uint64_t cookie;
    uint32_t fileid;
    struct fs_name name; /* valid until the directory changes */
};

struct directory *directory_create(uint32_t parent_fileid);
void directory_destroy(struct directory *dir);

uint32_t directory_parent(const struct directory *dir);
void directory_set_parent(struct directory *dir, uint32_t parent_fileid);
uint32_t directory_count(const struct directory *dir);

/* File number of a name, or 0. */
uint32_t directory_find(const struct directory *dir, struct fs_name name);

/* The name must not exist. 0 or -ENOMEM. */
int directory_add(struct directory *dir, struct fs_name name, uint32_t fileid);

/* The name must exist. */
void directory_remove(struct directory *dir, struct fs_name name);
void directory_replace(struct directory *dir, struct fs_name name, uint32_t fileid);

/* The first entry with a cookie greater than the given one. False at the end. */
bool directory_next(const struct directory *dir, uint64_t cookie, struct directory_entry *entry);

/* Bytes of memory held. */
size_t directory_bytes(const struct directory *dir);

#endif
