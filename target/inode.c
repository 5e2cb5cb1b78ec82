#include "inode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BITS 12u
#define CHUNK_SIZE (1u << CHUNK_BITS)

static_assert(sizeof(struct inode) <= 72, "millions of files are kept: count the bytes");

struct inode_table {
    struct inode **chunks;
    uint32_t n_chunks;
    uint32_t end;        /* first number never used */
    uint32_t first_free; /* list of freed numbers; 0: empty */
    uint32_t n_used, max;
};

struct inode_table *inode_table_create(uint32_t max_inodes)
{
    struct inode_table *table = calloc(1, sizeof *table);
    if (!table) {
        return NULL;
    }
    table->max = max_inodes;
    table->end = 1; /* number 0 means no file */
    table->chunks = calloc(max_inodes / CHUNK_SIZE + 2, sizeof *table->chunks);
    if (!table->chunks) {
        free(table);
        return NULL;
    }
    return table;
}

void inode_table_destroy(struct inode_table *table)
{
    if (table) {
        for (uint32_t i = 0; i < table->n_chunks; i++) {
            free(table->chunks[i]);
        }
        free(table->chunks);
        free(table);
    }
}

static struct inode *at(const struct inode_table *table, uint32_t fileid)
{
    return &table->chunks[fileid >> CHUNK_BITS][fileid & (CHUNK_SIZE - 1)];
}

struct inode *inode_alloc(struct inode_table *table, uint32_t *fileid)
{
    if (table->n_used >= table->max) {
        return NULL;
    }
    uint32_t number = table->first_free;
    if (number != 0) {
        table->first_free = at(table, number)->next_free;
    } else {
        number = table->end;
        if (number >> CHUNK_BITS == table->n_chunks) {
            struct inode *chunk = calloc(CHUNK_SIZE, sizeof *chunk);
            if (!chunk) {
                return NULL;
            }
            table->chunks[table->n_chunks++] = chunk;
        }
        table->end++;
    }
    struct inode *inode = at(table, number);
    uint32_t generation = inode->generation + 1;
    memset(inode, 0, sizeof *inode);
    inode->generation = generation;
    table->n_used++;
    *fileid = number;
    return inode;
}

void inode_free(struct inode_table *table, uint32_t fileid)
{
    struct inode *inode = at(table, fileid);
    inode->nlink = 0;
    inode->next_free = table->first_free;
    table->first_free = fileid;
    table->n_used--;
}

struct inode *inode_get(const struct inode_table *table, uint32_t fileid)
{
    if (fileid == 0 || fileid >= table->end) {
        return NULL;
    }
    struct inode *inode = at(table, fileid);
    return inode->nlink > 0 ? inode : NULL;
}

uint32_t inode_table_count(const struct inode_table *table)
{
    return table->n_used;
}

uint32_t inode_table_end(const struct inode_table *table)
{
    return table->end;
}
