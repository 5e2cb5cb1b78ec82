/* docs/workloads.md says what the table and the presets say. To bring it up to date: NFSCURVE_UPDATE_DOCS=1
 * test_workload_docs */
#include "config.h"
#include "config_path.h"
#include "units.h"
#include "workload.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const presets[] = {"sfs3",        "sfs2008",   "metadata", "read-heavy",
                                      "write-heavy", "streaming", "database", "all22"};
#define N_PRESETS (sizeof presets / sizeof *presets)

static void print_row_start(FILE *out, const char *name)
{
    fprintf(out, "| %s |", name);
}

static void print_requests(FILE *out, const struct size_table *table)
{
    for (uint32_t i = 0; i < table->n; i++) {
        char size[UNITS_TEXT_MAX];
        fprintf(out, "%s%g %%:", i ? "; " : "", table->steps[i].percent);
        if (table->steps[i].bytes) {
            fprintf(out, " %s", units_format_bytes(size, table->steps[i].bytes));
        }
        if (table->steps[i].blocks) {
            fprintf(out, " %u block%s", table->steps[i].blocks, table->steps[i].blocks == 1 ? "" : "s");
        }
        if (table->steps[i].has_fragment) {
            fputs(table->steps[i].bytes || table->steps[i].blocks ? " + fragment" : " fragment", out);
        }
    }
}

static void print_file_sizes(FILE *out, const struct workload *w)
{
    char size[UNITS_TEXT_MAX];
    switch (w->file_size_kind) {
    case FILE_SIZE_FIXED:
        fprintf(out, "all %s", units_format_bytes(size, w->file_size_bytes));
        break;
    case FILE_SIZE_LOGNORMAL:
        fprintf(out, "lognormal, mean %s, sigma %g", units_format_bytes(size, w->file_size_bytes), w->file_size_sigma);
        break;
    case FILE_SIZE_TABLE:
        print_requests(out, &w->file_sizes);
        break;
    }
}

static void print_popularity(FILE *out, const struct workload *w)
{
    fprintf(out, "%g %% of the files, ", w->working_set_percent);
    switch (w->popularity) {
    case POPULARITY_ACCESS_GROUPS:
        fputs("access groups", out);
        break;
    case POPULARITY_ZIPF:
        fprintf(out, "Zipf %g", w->zipf_theta);
        break;
    case POPULARITY_HOT_SET:
        fprintf(out, "%g %% get %g %%", w->hot_set_percent, w->hot_set_access_percent);
        break;
    case POPULARITY_UNIFORM:
        fputs("uniform", out);
        break;
    }
}

static void print_tunable(FILE *out, const struct workload *w)
{
    size_t i;
    json_t *key;
    if (json_array_size(w->tunable) == 0) {
        fputs("none", out);
    }
    json_array_foreach(w->tunable, i, key)
    {
        fprintf(out, "%s`%s`", i ? ", " : "", json_string_value(key));
    }
}

static void print_mix(FILE *out, const struct workload *w)
{
    fputs("| op |", out);
    for (size_t p = 0; p < N_PRESETS; p++) {
        fprintf(out, " %s |", presets[p]);
    }
    fputs("\n| --- |", out);
    for (size_t p = 0; p < N_PRESETS; p++) {
        fputs(" ---: |", out);
    }
    for (unsigned op = 0; op < NFS_OP_COUNT; op++) {
        fputs("\n", out);
        print_row_start(out, nfs_op_name((enum nfs_op)op));
        for (size_t p = 0; p < N_PRESETS; p++) {
            if (w[p].mix_percent[op] > 0) {
                fprintf(out, " %g |", w[p].mix_percent[op]);
            } else {
                fputs(" |", out);
            }
        }
    }
    fputs("\n\n", out);
}

static void print_presets(FILE *out)
{
    struct workload w[N_PRESETS];
    struct config_errors errors;
    config_errors_init(&errors);
    for (size_t p = 0; p < N_PRESETS; p++) {
        cr_assert_eq(workload_load_preset(presets[p], &w[p], &errors), 0);
    }
    fputs("| preset | what for |\n| --- | --- |\n", out);
    for (size_t p = 0; p < N_PRESETS; p++) {
        fprintf(out, "| `%s` | %s |\n", presets[p], w[p].description);
    }
    fputs("\nShares of the operations in percent, as each preset counts:\n\n", out);
    print_mix(out, w);
    for (size_t p = 0; p < N_PRESETS; p++) {
        char size[UNITS_TEXT_MAX];
        fprintf(out, "**%s**: counts %s ops; %.9g MB per op/s in files of %s on average (", presets[p],
                w[p].counting == COUNTING_LOGICAL ? "logical" : "physical", w[p].fileset_mb_per_op,
                units_format_bytes(size, (uint64_t)(workload_mean_file_bytes(&w[p]) + 0.5)));
        print_file_sizes(out, &w[p]);
        fputs("); working set: ", out);
        print_popularity(out, &w[p]);
        fprintf(out, "; %g %% of LOOKUPs miss; READs ", w[p].lookup_missing_percent);
        print_requests(out, &w[p].read_requests);
        fputs("; WRITEs ", out);
        print_requests(out, &w[p].write_requests);
        fprintf(out, ", %g %% append; tunable: ", w[p].append_percent);
        print_tunable(out, &w[p]);
        fputs(".\n\n", out);
    }
    for (size_t p = 0; p < N_PRESETS; p++) {
        workload_fini(&w[p]);
    }
    config_errors_fini(&errors);
}

static void print_keys(FILE *out)
{
    config_print_docs(workload_key_table(), NULL, out);
    fputs("\n", out);
}

/* Not inlined: gcc 12 at -O3 takes what a memory stream made for the variable that held its address. */
__attribute__((noinline)) static char *read_file(const char *path)
{
    char *text = NULL;
    size_t n;
    FILE *in = fopen(path, "r"), *out = open_memstream(&text, &n);
    cr_assert_not_null(in, "%s", path);
    for (int c; (c = getc(in)) != EOF;) {
        putc(c, out);
    }
    fclose(in);
    fclose(out);
    return text;
}

/* The text with what stands between "<!-- generated: NAME -->" and "<!-- end -->" made new. */
__attribute__((noinline)) static char *regenerate(const char *text, const char *name, void (*print)(FILE *out))
{
    char marker[64], *made = NULL;
    size_t n;
    snprintf(marker, sizeof marker, "<!-- generated: %s -->\n", name);
    const char *begin = strstr(text, marker);
    cr_assert(begin != NULL, "no marker for %s", name);
    begin += strlen(marker);
    const char *end = strstr(begin, "<!-- end -->");
    cr_assert_not_null(end);
    FILE *out = open_memstream(&made, &n);
    fwrite(text, 1, (size_t)(begin - text), out);
    print(out);
    fputs(end, out);
    fclose(out);
    return made;
}

Test(workload_docs, page_says_what_table_and_presets_say)
{
    char *preset_path, path[4096];
    cr_assert_eq(config_path_find("workloads", "sfs3", &preset_path), 0);
    *strstr(preset_path, "configs/workloads/") = '\0';
    snprintf(path, sizeof path, "%sdocs/workloads.md", preset_path);
    free(preset_path);

    char *text = read_file(path);
    char *with_presets = regenerate(text, "presets", print_presets);
    char *made = regenerate(with_presets, "keys", print_keys);
    if (getenv("NFSCURVE_UPDATE_DOCS")) {
        FILE *out = fopen(path, "w");
        cr_assert_not_null(out);
        fputs(made, out);
        fclose(out);
    } else {
        cr_assert_str_eq(made, text,
                         "docs/workloads.md is not up to date: run NFSCURVE_UPDATE_DOCS=1 test_workload_docs");
    }
    free(made);
    free(with_presets);
    free(text);
}
