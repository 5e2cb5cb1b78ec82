/* campaign_rows.h - inside the campaign's configuration: what its files share. Only campaign_*.c of the configuration
 * include it.
 *
 *   campaign_config.c     the table of the campaign's own keys, and the public functions
 *   campaign_targets.c    the rows behind "targets"
 *   campaign_loadgens.c   the rows behind "loadgens", and which process drives which target
 *   campaign_misplaced.c  keys that stand in the wrong place
 *   campaign_standard.c   what makes a campaign non-standard
 *   campaign_rows.c       helpers of the custom rows
 */
#ifndef NFSCURVE_PRIME_CAMPAIGN_ROWS_H
#define NFSCURVE_PRIME_CAMPAIGN_ROWS_H

#include "config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct campaign_config;
struct campaign_loadgen;
struct campaign_target;

bool row_is_empty(const char *text);
void row_set_string(char **field, const char *text);

/* A host name or a numeric address alone: nothing of "server:/path", "host:port", "[fd00::1]" or a URL. */
bool row_is_host(const char *text);

/* A numeric IPv4 or IPv6 address, the latter with or without a zone. */
bool row_is_address(const char *text);

/* A name as results, logs and terminals show it: 1 to ROW_NAME_MAX bytes, without control characters. */
#define ROW_NAME_MAX 128
bool row_is_name(const char *text);

/* A context for a value one step below ctx; `path` must outlive it. */
struct config_ctx row_below(const struct config_ctx *ctx, const char *path);

/* Heap: the absolute path of a file named in the campaign, beside the campaign file, else in the working directory.
 * NULL and errno. */
char *row_absolute_path(const struct config_source *src, const char *path);

void row_parse_strings(const struct config_ctx *ctx, const json_t *value, char ***items, size_t *n);
json_t *row_dump_strings(char *const *items, size_t n);
void row_free_strings(char **items, size_t n);

/* Names the keys that belong somewhere else in a campaign, says where, and takes them out of src. */
void campaign_complain_of_misplaced(struct config_source *src, const struct config_key *campaign_keys,
                                    struct config_errors *errors);

/* The tables of the entries. */
const struct config_key *campaign_target_keys(void);
const struct config_key *campaign_local_target_keys(void);
const struct config_key *campaign_loadgen_keys(void);

/* Custom rows of the campaign: field is the struct campaign_config. */
void campaign_parse_targets(const struct config_ctx *ctx, const json_t *value, void *field);
json_t *campaign_dump_targets(const void *field);
void campaign_target_fini(struct campaign_target *t);
void campaign_print_target_docs(FILE *file);

/* Needs the targets, whose names it resolves: its row stands behind theirs. */
void campaign_parse_loadgens(const struct config_ctx *ctx, const json_t *value, void *field);
json_t *campaign_dump_loadgens(const void *field);
void campaign_loadgen_fini(struct campaign_loadgen *lg);
void campaign_print_loadgen_docs(FILE *file);

/* Fills c->nonstandard. */
void campaign_list_nonstandard(struct campaign_config *c);

#endif
