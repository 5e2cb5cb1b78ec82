/* workload_rows.h - the rows of the workload table that are more than a number or a word. Internal to
 * common/workload*.c.
 *
 * Each pair reads a value of the shape that its row's help describes, and writes it back in the same shape.
 */
#ifndef NFSCURVE_COMMON_WORKLOAD_ROWS_H
#define NFSCURVE_COMMON_WORKLOAD_ROWS_H

#include <jansson.h>

struct config_ctx;
struct workload;

/* field: double[NFS_OP_COUNT] */
void workload_row_parse_mix(const struct config_ctx *ctx, const json_t *value, void *field);
json_t *workload_row_dump_mix(const void *field);

/* field: struct workload */
void workload_row_parse_file_sizes(const struct config_ctx *ctx, const json_t *value, void *field);
json_t *workload_row_dump_file_sizes(const void *field);
void workload_row_parse_data(const struct config_ctx *ctx, const json_t *value, void *field);
json_t *workload_row_dump_data(const void *field);

/* field: struct size_table */
void workload_row_parse_requests(const struct config_ctx *ctx, const json_t *value, void *field);
json_t *workload_row_dump_requests(const void *field);

/* field: uint32_t, bytes; 0 is "auto" */
void workload_row_parse_block_size(const struct config_ctx *ctx, const json_t *value, void *field);
void workload_row_parse_block_size_max(const struct config_ctx *ctx, const json_t *value, void *field);
json_t *workload_row_dump_block_size(const void *field);

/* field: json_t * */
void workload_row_parse_tunable(const struct config_ctx *ctx, const json_t *value, void *field);
json_t *workload_row_dump_tunable(const void *field);

/* Fills n_cycle, cycle_bytes and cycle from the file size keys. 0 or -ENOMEM, -ERANGE. */
int workload_make_cycle(struct workload *w);

#endif
