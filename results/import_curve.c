/* import_curve.c - sfssum and CSV as results.
 *
 * An sfssum line (sfs-facts: one per point):
 *   sfs3:    [INVALID] requested achieved ms ops seconds 3 T       filesetKB clients processes biod_r biod_w 3.0
 * [INVALID] sfs2008: [INVALID] requested achieved ms ops seconds NFS3 T 4  filesetKB clients processes biod_r biod_w
 * 2008 [INVALID] CSV: with a header (names below, ours or a spreadsheet's), or bare: "ops/s,ms" or
 * "requested,ops/s,ms".
 */
#include "import_curve.h"
#include "json_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIELDS_MAX 64

struct line {
    const char *file;
    unsigned number;
    char text[4096];
    char *fields[FIELDS_MAX];
    size_t n;
};

static int complain(struct result_error *error, const struct line *l, const char *what)
{
    snprintf(error->message, sizeof error->message, "%.200s:%u: %.250s", l->file, l->number, what);
    return -EINVAL;
}

/* Next line of *at into l->text; 0 when there is none, -EINVAL when it is too long. */
static int next_line(struct line *l, const char **at, const char *end, struct result_error *error)
{
    if (*at >= end) {
        return 0;
    }
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    size_t n = (size_t)((newline ? newline : end) - *at);
    l->number++;
    if (n >= sizeof l->text) {
        return complain(error, l, "line too long");
    }
    memcpy(l->text, *at, n);
    l->text[n] = '\0';
    if (n && l->text[n - 1] == '\r') {
        l->text[n - 1] = '\0';
    }
    *at = newline ? newline + 1 : end;
    return 1;
}

static void split_blanks(struct line *l)
{
    l->n = 0;
    char *save, *word = strtok_r(l->text, " \t", &save);
    for (; word && l->n < FIELDS_MAX; word = strtok_r(NULL, " \t", &save)) {
        l->fields[l->n++] = word;
    }
}

/* Commas, semicolons or tabs; quoted fields with doubled quotes. */
static void split_csv(struct line *l, char separator)
{
    char *in = l->text;
    l->n = 0;
    while (l->n < FIELDS_MAX) {
        while (*in == ' ') {
            in++;
        }
        char *out, *start = in;
        if (*in == '"') {
            for (in++, start = out = in; *in; in++) {
                if (*in == '"' && in[1] == '"') {
                    in++;
                } else if (*in == '"') {
                    break;
                }
                *out++ = *in;
            }
            while (*in && *in != separator) {
                in++;
            }
        } else {
            while (*in && *in != separator) {
                in++;
            }
            out = in;
            while (out > start && out[-1] == ' ') {
                out--;
            }
        }
        bool is_last = *in == '\0';
        *out = '\0';
        l->fields[l->n++] = start;
        if (is_last) {
            break;
        }
        in++;
    }
}

/* A finite number of at least 0 and nothing behind it; "1,027" of a spreadsheet too. */
static bool parse_figure(const char *text, double *out)
{
    char plain[64], *end;
    size_t n = 0;
    for (; *text && n < sizeof plain - 1; text++) {
        if (*text != ',') {
            plain[n++] = *text;
        }
    }
    plain[n] = '\0';
    *out = strtod(plain, &end);
    return n > 0 && !*text && *end == '\0' && isdigit((unsigned char)plain[n - 1]) && isfinite(*out) && *out >= 0;
}

static int add_point(struct result *r, struct point_result *p)
{
    p->index = r->n_points;
    int error = result_add_point(r, p);
    if (error) {
        point_fini(p);
    }
    return error;
}

static void begin(struct result *r, const char *name, const char *what)
{
    char source[512];
    const char *slash = strrchr(name, '/');
    result_init(r);
    r->is_published = true;
    result_set(&r->name, slash ? slash + 1 : name);
    snprintf(source, sizeof source, "imported from %s %.400s", what, slash ? slash + 1 : name);
    result_set(&r->source, source);
}

/* A non-standard result stays one however often it is written and read. */
static void mark_nonstandard(struct result *r, const char *what)
{
    if (r->is_standard) {
        r->is_standard = false;
        json_array_append_new(r->nonstandard_reasons, json_string(what));
    }
}

/* The comment of our own sfssum files. */
static bool says_nonstandard(const char *comment)
{
    comment += strspn(comment, "# \t");
    return strncasecmp(comment, "non-standard", 12) == 0;
}

int import_is_sfssum(const char *text, size_t n)
{
    struct line l = {.file = ""};
    struct result_error ignored;
    const char *at = text, *end = text + n;
    while (next_line(&l, &at, end, &ignored) > 0) {
        char *start = l.text + strspn(l.text, " \t");
        if (*start == '\0' || (*start == '#' && strncasecmp(start, "#INVALID", 8) != 0)) {
            continue;
        }
        if (strpbrk(start, ",;")) {
            return 0;
        }
        split_blanks(&l);
        return l.n >= 13;
    }
    return 0;
}

struct sfssum_common {
    double clients, processes, biod_read, biod_write;
    bool is_set;
};

static void put_parameters(struct result *r, const struct sfssum_common *c)
{
    if (!c->is_set) {
        return;
    }
    json_t *parameters = json_object();
    json_put_count(parameters, "load_generators", (uint64_t)c->clients);
    json_put_count(parameters, "processes_per_loadgen", (uint64_t)c->processes);
    json_put_count(parameters, "biod_max_read", (uint64_t)c->biod_read);
    json_put_count(parameters, "biod_max_write", (uint64_t)c->biod_write);
    r->disclosure = json_object();
    json_object_set_new(r->disclosure, "benchmark_parameters", parameters);
}

/* The fields behind a leading INVALID, and before a trailing one. */
static int sfssum_point(const struct line *l, struct point_result *p, struct sfssum_common *common,
                        const char **generation, struct result_error *error)
{
    size_t first = 0, n = l->n;
    bool is_invalid = false;
    if (n && (strcasecmp(l->fields[0], "INVALID") == 0 || strcasecmp(l->fields[0], "#INVALID") == 0)) {
        is_invalid = true;
        first = 1;
    }
    if (n && strcasecmp(l->fields[n - 1], "INVALID") == 0) {
        is_invalid = true;
        n--;
    }
    char *const *f = l->fields + first;
    n -= first;
    bool is_2008 = n == 14 && strcmp(f[13], "2008") == 0, is_sfs3 = n == 13 && strcmp(f[12], "3.0") == 0;
    if (!is_2008 && !is_sfs3) {
        return complain(error, l, "not an sfssum line: expected 13 columns that end in 3.0, or 14 that end in 2008");
    }
    double ops, seconds, fileset_kb;
    size_t behind = is_2008 ? 8 : 7; /* the protocol is three words, or two */
    if (!parse_figure(f[0], &p->requested_ops_per_s) || !parse_figure(f[1], &p->achieved_ops_per_s) ||
        !parse_figure(f[2], &p->response_ms) || !parse_figure(f[3], &ops) || !parse_figure(f[4], &seconds) ||
        !parse_figure(f[behind], &fileset_kb) || !parse_figure(f[behind + 1], &common->clients) ||
        !parse_figure(f[behind + 2], &common->processes) || !parse_figure(f[behind + 3], &common->biod_read) ||
        !parse_figure(f[behind + 4], &common->biod_write)) {
        return complain(error, l, "not an sfssum line: a column that should be a number is none");
    }
    common->is_set = true;
    p->n_ops = ops < 9e18 ? (uint64_t)ops : RESULT_UNKNOWN;
    p->run_s = seconds;
    p->fileset_bytes = fileset_kb < 9e15 ? (uint64_t)fileset_kb * 1024 : RESULT_UNKNOWN;
    if (is_invalid) {
        point_invalidate(p, "marked INVALID in the sfssum file");
    }
    *generation = is_2008 ? "sfs2008" : "sfs3";
    return 0;
}

int import_sfssum(const char *name, const char *text, size_t n, struct result *r, struct result_error *error)
{
    struct line l = {.file = name};
    struct sfssum_common common = {0};
    const char *at = text, *end = text + n;
    const char *generation = "";
    int status;
    begin(r, name, "sfssum");
    while ((status = next_line(&l, &at, end, error)) > 0) {
        char *start = l.text + strspn(l.text, " \t");
        if (*start == '\0' || (*start == '#' && strncasecmp(start, "#INVALID", 8) != 0)) {
            if (says_nonstandard(start)) {
                mark_nonstandard(r, "marked non-standard in the sfssum file");
            }
            continue;
        }
        split_blanks(&l);
        struct point_result p;
        point_init(&p);
        status = sfssum_point(&l, &p, &common, &generation, error);
        if (status) {
            point_fini(&p);
        } else {
            status = add_point(r, &p);
        }
        if (status) {
            break;
        }
    }
    if (status == 0 && r->n_points == 0) {
        status = complain(error, &l, "no sfssum line found");
    }
    if (status) {
        result_fini(r);
        return status;
    }
    put_parameters(r, &common);
    result_set(&r->workload, generation);
    r->ceiling_ms = strcmp(generation, "sfs3") == 0 ? 40 : 20;
    result_finish(r);
    return 0;
}

enum column {
    COLUMN_REQUESTED,
    COLUMN_ACHIEVED,
    COLUMN_RESPONSE,
    COLUMN_VALID,
    COLUMN_STANDARD,
    COLUMN_REASONS,
    COLUMN_CI95,
    COLUMN_COUNT
};

static enum column column_of(const char *title)
{
    static const struct {
        const char *title;
        enum column column;
    } titles[] = {
        {"requested_ops_per_s", COLUMN_REQUESTED},
        {"requested", COLUMN_REQUESTED},
        {"requested load", COLUMN_REQUESTED},
        {"requested_load", COLUMN_REQUESTED},
        {"load", COLUMN_REQUESTED},
        {"achieved_ops_per_s", COLUMN_ACHIEVED},
        {"achieved", COLUMN_ACHIEVED},
        {"throughput", COLUMN_ACHIEVED},
        {"throughput (ops/sec)", COLUMN_ACHIEVED},
        {"ops/s", COLUMN_ACHIEVED},
        {"ops/sec", COLUMN_ACHIEVED},
        {"ops_per_s", COLUMN_ACHIEVED},
        {"ops", COLUMN_ACHIEVED},
        {"iops", COLUMN_ACHIEVED},
        {"response_ms", COLUMN_RESPONSE},
        {"response", COLUMN_RESPONSE},
        {"response (msec)", COLUMN_RESPONSE},
        {"response time", COLUMN_RESPONSE},
        {"response_time", COLUMN_RESPONSE},
        {"response_time_ms", COLUMN_RESPONSE},
        {"response (ms)", COLUMN_RESPONSE},
        {"latency_ms", COLUMN_RESPONSE},
        {"latency", COLUMN_RESPONSE},
        {"ms", COLUMN_RESPONSE},
        {"msec", COLUMN_RESPONSE},
        {"valid", COLUMN_VALID},
        {"standard", COLUMN_STANDARD},
        {"invalid_reasons", COLUMN_REASONS},
        {"response_ci95_ms", COLUMN_CI95},
    };
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        if (strcasecmp(titles[i].title, title) == 0) {
            return titles[i].column;
        }
    }
    return COLUMN_COUNT;
}

/* columns[c] = field number or -1. 1: the line is a header; 0: it is data. */
static int read_header(const struct line *l, int columns[COLUMN_COUNT])
{
    double ignored;
    for (int c = 0; c < COLUMN_COUNT; c++) {
        columns[c] = -1;
    }
    if (parse_figure(l->fields[0], &ignored)) {
        int first = l->n >= 3 && parse_figure(l->fields[2], &ignored) ? 0 : -1;
        columns[COLUMN_REQUESTED] = first;
        columns[COLUMN_ACHIEVED] = first + 1;
        columns[COLUMN_RESPONSE] = first + 2;
        return 0;
    }
    for (size_t i = 0; i < l->n; i++) {
        enum column c = column_of(l->fields[i]);
        if (c < COLUMN_COUNT && columns[c] < 0) {
            columns[c] = (int)i;
        }
    }
    return 1;
}

static const char *field(const struct line *l, int column)
{
    return column >= 0 && (size_t)column < l->n ? l->fields[column] : "";
}

static bool is_no(const char *text)
{
    return strcasecmp(text, "false") == 0 || strcasecmp(text, "no") == 0 || strcmp(text, "0") == 0;
}

static int csv_point(const struct line *l, const int columns[COLUMN_COUNT], struct point_result *p,
                     struct result_error *error)
{
    const char *valid = field(l, columns[COLUMN_VALID]), *reasons = field(l, columns[COLUMN_REASONS]);
    const char *requested = field(l, columns[COLUMN_REQUESTED]), *response = field(l, columns[COLUMN_RESPONSE]);
    if (!parse_figure(field(l, columns[COLUMN_ACHIEVED]), &p->achieved_ops_per_s)) {
        return complain(error, l, "throughput is not a number of at least 0");
    }
    if (*requested && !parse_figure(requested, &p->requested_ops_per_s)) {
        return complain(error, l, "requested load is not a number of at least 0");
    }
    if (!(*response == '\0' && p->achieved_ops_per_s == 0) && !parse_figure(response, &p->response_ms)) {
        return complain(error, l, "response time is not a number of at least 0");
    }
    if (!parse_figure(field(l, columns[COLUMN_CI95]), &p->response_ci95_ms)) {
        p->response_ci95_ms = NAN;
    }
    if (is_no(valid) || strcasecmp(valid, "invalid") == 0) {
        point_invalidate(p, "%s", *reasons ? reasons : "marked invalid in the CSV file");
    }
    return 0;
}

static char separator_of(const char *line)
{
    return strchr(line, ';') ? ';' : strchr(line, '\t') ? '\t' : ',';
}

int import_csv(const char *name, const char *text, size_t n, struct result *r, struct result_error *error)
{
    struct line l = {.file = name};
    int columns[COLUMN_COUNT], status;
    bool has_columns = false;
    char separator = ',';
    const char *at = text, *end = text + n;
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a spreadsheet's byte order mark */
        at += 3;
    }
    begin(r, name, "CSV");
    while ((status = next_line(&l, &at, end, error)) > 0) {
        char *start = l.text + strspn(l.text, " \t");
        if (*start == '\0' || *start == '#') {
            continue;
        }
        if (!has_columns) {
            separator = separator_of(l.text);
        }
        split_csv(&l, separator);
        if (!has_columns) {
            has_columns = true;
            int is_header = read_header(&l, columns);
            if (columns[COLUMN_ACHIEVED] < 0 || columns[COLUMN_RESPONSE] < 0) {
                status = complain(error, &l,
                                  "no columns for throughput (achieved_ops_per_s) and response time (response_ms)");
                break;
            }
            if (is_header) {
                continue;
            }
        }
        struct point_result p;
        point_init(&p);
        status = csv_point(&l, columns, &p, error);
        if (is_no(field(&l, columns[COLUMN_STANDARD]))) {
            mark_nonstandard(r, "marked non-standard in the CSV file");
        }
        if (status) {
            point_fini(&p);
        } else {
            status = add_point(r, &p);
        }
        if (status) {
            break;
        }
    }
    if (status == 0 && !has_columns) {
        status = complain(error, &l, "empty: expected lines of throughput and response time");
    }
    if (status) {
        result_fini(r);
        return status;
    }
    result_finish(r);
    return 0;
}
