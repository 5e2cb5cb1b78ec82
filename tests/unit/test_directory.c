#include "directory.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fs_name name_of(char *buffer, const char *prefix, unsigned i)
{
    sprintf(buffer, "%s.%06u", prefix, i);
    return (struct fs_name){.text = buffer, .len = (uint32_t)strlen(buffer)};
}

static void add(struct directory *dir, const char *prefix, unsigned i, uint32_t fileid)
{
    char buffer[64];
    cr_assert_eq(directory_add(dir, name_of(buffer, prefix, i), fileid), 0);
}

static void drop(struct directory *dir, const char *prefix, unsigned i)
{
    char buffer[64];
    directory_remove(dir, name_of(buffer, prefix, i));
}

Test(directory, finds_what_was_added_and_nothing_else)
{
    struct directory *dir = directory_create(7);
    char buffer[64];
    cr_assert_eq(directory_find(dir, name_of(buffer, "a", 1)), 0);
    for (unsigned i = 0; i < 1000; i++) {
        add(dir, "a", i, i + 1);
    }
    for (unsigned i = 0; i < 1000; i++) {
        cr_assert_eq(directory_find(dir, name_of(buffer, "a", i)), i + 1);
        cr_assert_eq(directory_find(dir, name_of(buffer, "b", i)), 0);
    }
    cr_assert_eq(directory_count(dir), 1000);
    cr_assert_eq(directory_parent(dir), 7);
    directory_destroy(dir);
}

Test(directory, name_of_255_bytes_is_kept)
{
    struct directory *dir = directory_create(1);
    char text[255];
    memset(text, 'x', sizeof text);
    cr_assert_eq(directory_add(dir, (struct fs_name){text, 255}, 9), 0);
    cr_assert_eq(directory_find(dir, (struct fs_name){text, 255}), 9);
    cr_assert_eq(directory_find(dir, (struct fs_name){text, 254}), 0);
    directory_destroy(dir);
}

Test(directory, removed_name_is_gone_and_may_come_again)
{
    struct directory *dir = directory_create(1);
    char buffer[64];
    add(dir, "a", 1, 5);
    drop(dir, "a", 1);
    cr_assert_eq(directory_find(dir, name_of(buffer, "a", 1)), 0);
    cr_assert_eq(directory_count(dir), 0);
    add(dir, "a", 1, 6);
    cr_assert_eq(directory_find(dir, name_of(buffer, "a", 1)), 6);
    directory_replace(dir, name_of(buffer, "a", 1), 8);
    cr_assert_eq(directory_find(dir, name_of(buffer, "a", 1)), 8);
    directory_destroy(dir);
}

Test(directory, cookies_ascend_and_list_everything_once)
{
    struct directory *dir = directory_create(1);
    for (unsigned i = 0; i < 500; i++) {
        add(dir, "a", i, i + 1);
    }
    uint64_t cookie = DIRECTORY_COOKIE_DOT_DOT;
    struct directory_entry entry;
    for (unsigned i = 0; i < 500; i++) {
        cr_assert(directory_next(dir, cookie, &entry));
        cr_assert_gt(entry.cookie, cookie);
        cr_assert_eq(entry.fileid, i + 1);
        cookie = entry.cookie;
    }
    cr_assert(!directory_next(dir, cookie, &entry));
    directory_destroy(dir);
}

/* 100,000 names that stay; between any two steps of the listing names come and go, so that entries are squeezed many
 * times. */
Test(directory, listing_sees_every_staying_name_once_whatever_happens_meanwhile)
{
    enum { STAYING = 100000 };
    struct directory *dir = directory_create(1);
    uint8_t *seen = calloc(STAYING, 1);
    for (unsigned i = 0; i < STAYING; i++) {
        add(dir, "stays", i, i + 1);
    }
    uint64_t cookie = 0;
    struct directory_entry entry;
    unsigned n = 0, n_comers = 0, n_listed = 0;
    for (unsigned i = 0; i < 150000; i++) {
        add(dir, "old", i, STAYING + 1);
    }
    for (unsigned i = 0; directory_next(dir, cookie, &entry) && n_listed < 500000; i++) {
        cookie = entry.cookie;
        n_listed++;
        if (entry.fileid <= STAYING) {
            cr_assert_eq(seen[entry.fileid - 1]++, 0, "listed twice");
            n++;
        }
        if (i < 150000) {
            drop(dir, "old", i);
        }
        if (i % 3 == 0 && n_comers < 20000) {
            add(dir, "comes", n_comers++, STAYING + 2);
        }
    }
    cr_assert_eq(n, STAYING);
    cr_assert_eq(directory_count(dir), STAYING + n_comers + 150000 - (n_listed < 150000 ? n_listed : 150000));
    free(seen);
    directory_destroy(dir);
}

Test(directory, churn_does_not_grow_memory)
{
    struct directory *dir = directory_create(1);
    for (unsigned i = 0; i < 10; i++) {
        add(dir, "a", i, 1);
    }
    for (unsigned i = 0; i < 100000; i++) {
        add(dir, "t", i, 2);
        drop(dir, "t", i);
    }
    cr_assert_leq(directory_bytes(dir), 4096, "%zu bytes for ten names", directory_bytes(dir));
    directory_destroy(dir);
}

Test(directory, thirty_files_cost_about_forty_bytes_each)
{
    struct directory *dir = directory_create(1);
    for (unsigned i = 0; i < 30; i++) {
        add(dir, "file_en", i, 1);
    }
    cr_assert_leq(directory_bytes(dir), 30 * 48, "%zu bytes", directory_bytes(dir));
    directory_destroy(dir);
}
