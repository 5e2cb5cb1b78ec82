/* result_file.c - where results are kept: result files, run directories, and files of others. */
#include "file.h"
#include "import_curve.h"
#include "json_text.h"
#include "report.h"
#include "result.h"
#include "utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int result_save(const struct result *r, const char *path)
{
    json_t *root = result_to_json(r);
    if (!root) {
        return -ENOMEM;
    }
    int error = file_write_json(path, root);
    json_decref(root);
    return error;
}

/* Puts the file's name before a message that has none. */
static int named(struct result_error *error, const char *name, int status)
{
    char message[sizeof error->message];
    memcpy(message, error->message, sizeof message);
    if (status && strncmp(message, name, strlen(name)) != 0) {
        snprintf(error->message, sizeof error->message, "%.150s: %.350s", name, message);
    }
    return status;
}

int result_from_text(const char *name, const char *text, size_t n, struct result *out, struct result_error *error)
{
    size_t skip = 0;
    error->message[0] = '\0';
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        skip = 3;
    }
    while (skip < n && strchr(" \t\r\n", text[skip]) && text[skip]) {
        skip++;
    }
    if (skip < n && (text[skip] == '{' || text[skip] == '[')) {
        json_t *root;
        int status = file_parse_json(name, text, n, &root, error->message, sizeof error->message);
        if (status) {
            return status;
        }
        status = result_from_json(root, out, error);
        json_decref(root);
        return named(error, name, status);
    }
    size_t n_clean;
    char *clean = utf8_repair(text, n, &n_clean);
    if (!clean) {
        return -ENOMEM;
    }
    int status = import_is_sfssum(clean, n_clean) ? import_sfssum(name, clean, n_clean, out, error)
                                                  : import_csv(name, clean, n_clean, out, error);
    free(clean);
    return status;
}

static int load_file(const char *path, struct result *out, struct result_error *error)
{
    char *text;
    size_t n;
    int status = file_read(path, &text, &n);
    if (status) {
        snprintf(error->message, sizeof error->message, "%.300s: %s", path,
                 status == -ENXIO ? "is no regular file" : strerror(-status));
        return status;
    }
    status = result_from_text(path, text, n, out, error);
    free(text);
    return status;
}

/* What campaign.json says of a run that was killed before its result was written. */
static void fill_from_campaign(struct result *r, json_t *campaign)
{
    const json_t *workload = json_object_get(campaign, "workload");
    const json_t *from = json_is_object(workload) ? workload : campaign;
    r->campaign = campaign;
    result_set(&r->name, json_text_of(campaign, "name"));
    result_set(&r->workload, json_is_object(workload) ? json_text_of(workload, "name") : json_string_value(workload));
    result_set(&r->pacing, json_text_of(from, "pacing"));
    result_set(&r->counting, json_text_of(from, "counting"));
    result_set(&r->derived, json_text_of(from, "derived"));
    r->ceiling_ms = json_double(from, "response_ceiling_ms");
    if (json_is_object(json_object_get(campaign, "disclosure"))) {
        r->disclosure = json_incref(json_object_get(campaign, "disclosure"));
    }
    result_set(&r->stopped, "the run ended without writing its result");
}

static int load_unfinished(const char *directory, struct result *out, struct result_error *error)
{
    char path[4096], why[400];
    json_t *campaign;
    snprintf(path, sizeof path, "%s/campaign.json", directory);
    int status = file_read_json(path, &campaign, why, sizeof why);
    if (status) {
        snprintf(error->message, sizeof error->message,
                 "%.200s: no run directory: it has neither result.json nor campaign.json", directory);
        return status;
    }
    result_init(out);
    fill_from_campaign(out, campaign);
    for (uint32_t i = 0; i < 1000; i++) {
        struct point_result p;
        status = point_read(directory, i, &p, error);
        if (status == -ENOENT) {
            continue;
        }
        if (!status) {
            status = result_add_point(out, &p);
        }
        if (status) {
            result_fini(out);
            return status;
        }
    }
    result_finish(out);
    return 0;
}

int result_load(const char *path, struct result *out, struct result_error *error)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        int status = -errno;
        snprintf(error->message, sizeof error->message, "%.300s: %s", path, strerror(errno));
        return status;
    }
    if (!S_ISDIR(st.st_mode)) {
        return load_file(path, out, error);
    }
    char file[4096];
    snprintf(file, sizeof file, "%s/result.json", path);
    return stat(file, &st) == 0 ? load_file(file, out, error) : load_unfinished(path, out, error);
}

static int write_report(const struct result *r, enum report_format format, const char *directory, const char *name)
{
    char path[4096], *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out) {
        return -ENOMEM;
    }
    int error = report_render(r, format, out);
    if (fclose(out) != 0 && !error) {
        error = -EIO;
    }
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!error) {
        error = file_write(path, text, n);
    }
    free(text);
    return error;
}

int result_write_run_dir(const struct result *r, const char *run_dir)
{
    static const struct {
        enum report_format format;
        const char *name;
    } files[] = {
        {REPORT_JSON, "result.json"}, {REPORT_HTML, "report.html"}, {REPORT_SVG, "curve.svg"},
        {REPORT_CSV, "curve.csv"},    {REPORT_SFSSUM, "sfssum"},
    };
    int first = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        int error = write_report(r, files[i].format, run_dir, files[i].name);
        first = first ? first : error;
    }
    return first;
}
