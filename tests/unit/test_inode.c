#include "inode.h"

#include <criterion/criterion.h>

Test(inode, used_place_has_another_generation)
{
    struct inode_table *table = inode_table_create(100);
    uint32_t first, second;
    struct inode *inode = inode_alloc(table, &first);
    inode->nlink = 1;
    uint32_t generation = inode->generation;
    cr_assert_eq(inode_get(table, first), inode);
    inode_free(table, first);
    cr_assert_null(inode_get(table, first));
    inode = inode_alloc(table, &second);
    cr_assert_eq(second, first);
    cr_assert_neq(inode->generation, generation);
    inode_table_destroy(table);
}

Test(inode, pointers_stay_while_the_table_grows)
{
    struct inode_table *table = inode_table_create(20000);
    uint32_t fileid, first_id;
    struct inode *first = inode_alloc(table, &first_id);
    first->nlink = 1;
    for (unsigned i = 1; i < 20000; i++) {
        struct inode *inode = inode_alloc(table, &fileid);
        cr_assert_not_null(inode);
        inode->nlink = 1;
    }
    cr_assert_eq(inode_get(table, first_id), first);
    cr_assert_eq(inode_table_count(table), 20000);
    inode_table_destroy(table);
}

Test(inode, table_is_full_at_its_limit)
{
    struct inode_table *table = inode_table_create(3);
    uint32_t fileid;
    for (int i = 0; i < 3; i++) {
        cr_assert_not_null(inode_alloc(table, &fileid));
    }
    cr_assert_null(inode_alloc(table, &fileid));
    inode_table_destroy(table);
}

Test(inode, wild_numbers_are_no_files)
{
    struct inode_table *table = inode_table_create(10);
    cr_assert_null(inode_get(table, 0));
    cr_assert_null(inode_get(table, 1));
    cr_assert_null(inode_get(table, UINT32_MAX));
    inode_table_destroy(table);
}
