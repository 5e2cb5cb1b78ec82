/* sfs_mix.c - see sfs_mix.h. The text is a user's: every line and word is bounded by the text itself. */
#include "sfs_mix.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 32
#define WORD_MAX  64

/* One line cut into words; words beyond the limits are cut off, which no mix has. */
struct words {
    char text[MAX_WORDS][WORD_MAX];
    size_t n;
};

struct mix_reader {
    const char *name; /* of the file, for messages */
    unsigned line;
    double value[NFS_OP_COUNT]; /* percent or count */
    bool is_seen[NFS_OP_COUNT];
    char *message;
    size_t message_bytes;
};

static int complain(struct mix_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int complain(struct mix_reader *r, const char *fmt, ...)
{
    int n = r->line > 0 ? snprintf(r->message, r->message_bytes, "%s:%u: ", r->name, r->line)
                        : snprintf(r->message, r->message_bytes, "%s: ", r->name);
    va_list ap;
    va_start(ap, fmt);
    if (n >= 0 && (size_t)n < r->message_bytes) {
        vsnprintf(r->message + n, r->message_bytes - (size_t)n, fmt, ap);
    }
    va_end(ap);
    return -EINVAL;
}

/* Cuts the line at *text (up to '#' when has_comments) and moves on to the next. */
static void next_line(const char **text, bool has_comments, struct words *out)
{
    const char *p = *text;
    out->n = 0;
    while (*p != '\0' && *p != '\n' && !(has_comments && *p == '#')) {
        if (*p == ' ' || *p == '\t' || *p == '\r') {
            p++;
            continue;
        }
        size_t n = strcspn(p, " \t\r\n");
        if (has_comments) {
            n = strcspn(p, " \t\r\n#");
        }
        if (out->n < MAX_WORDS) {
            snprintf(out->text[out->n++], WORD_MAX, "%.*s", (int)(n < WORD_MAX ? n : WORD_MAX - 1), p);
        }
        p += n;
    }
    p += strcspn(p, "\n");
    *text = *p == '\n' ? p + 1 : p;
}

static bool parse_number(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*value) && *value >= 0;
}

static int finish(struct mix_reader *r, bool is_count, double percent[NFS_OP_COUNT])
{
    double sum = 0;
    r->line = 0;
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        sum += r->value[op];
    }
    if (!is_count && fabs(sum - 100) > 0.01) {
        return complain(r, "shares sum to %g %%; they must sum to 100", sum);
    }
    if (sum <= 0) {
        return complain(r, "no calls were counted");
    }
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        percent[op] = 100 * r->value[op] / sum;
    }
    return 0;
}

/* --- version 2 --- */

static int read_v2_line(struct mix_reader *r, const struct words *words)
{
    enum nfs_op op;
    double percent;
    if (words->n == 0) {
        return 0;
    }
    if (words->n != 2) {
        return complain(r, "expected \"opname percent\"");
    }
    if (nfs_op_parse(words->text[0], &op) != 0) {
        return complain(r, "\"%s\" is no NFSv3 operation", words->text[0]);
    }
    /* Some files write "27%". */
    char number[WORD_MAX];
    snprintf(number, sizeof number, "%s", words->text[1]);
    if (number[0] != '\0' && number[strlen(number) - 1] == '%') {
        number[strlen(number) - 1] = '\0';
    }
    if (!parse_number(number, &percent) || percent > 100) {
        return complain(r, "\"%s\" is no percentage", words->text[1]);
    }
    if (r->is_seen[op]) {
        return complain(r, "%s is listed twice", words->text[0]);
    }
    r->is_seen[op] = true;
    r->value[op] = percent;
    return 0;
}

static int parse_v2(struct mix_reader *r, const char *text, double percent[NFS_OP_COUNT])
{
    struct words words;
    for (r->line = 1; *text != '\0'; r->line++) {
        next_line(&text, true, &words);
        if (r->line == 1) {
            continue; /* the version */
        }
        int rc = read_v2_line(r, &words);
        if (rc != 0) {
            return rc;
        }
    }
    return finish(r, false, percent);
}

/* --- version 1: nfsstat --- */

/* "nfs v3 server   getattr: 1234" of `nfsstat -l`. */
static bool read_list_line(struct mix_reader *r, const struct words *words)
{
    enum nfs_op op;
    double count;
    if (words->n < 5 || strcmp(words->text[0], "nfs") != 0 || strcmp(words->text[1], "v3") != 0) {
        return false;
    }
    char name[WORD_MAX];
    snprintf(name, sizeof name, "%s", words->text[3]);
    name[strcspn(name, ":")] = '\0';
    if (nfs_op_parse(name, &op) != 0 || !parse_number(words->text[4], &count)) {
        return strcmp(name, "total") == 0;
    }
    r->value[op] = count;
    r->is_seen[op] = true;
    return true;
}

/* A line of nothing but op names; they go to ops. */
static size_t read_names(const struct words *words, enum nfs_op ops[MAX_WORDS])
{
    for (size_t i = 0; i < words->n; i++) {
        if (nfs_op_parse(words->text[i], &ops[i]) != 0) {
            return 0;
        }
    }
    return words->n;
}

/* Counts under the names: "1234 11%" each, or the count alone. */
static int read_counts(struct mix_reader *r, const struct words *words, const enum nfs_op *ops, size_t n_ops)
{
    size_t n = 0;
    for (size_t i = 0; i < words->n; i++) {
        double count;
        if (strchr(words->text[i], '%') != NULL) {
            continue;
        }
        if (!parse_number(words->text[i], &count) || n == n_ops) {
            return complain(r, "expected a count for each of the %zu operations named above", n_ops);
        }
        r->value[ops[n]] = count;
        r->is_seen[ops[n++]] = true;
    }
    return n == n_ops ? 0 : complain(r, "%zu counts for %zu operations", n, n_ops);
}

static int parse_v1(struct mix_reader *r, const char *text, double percent[NFS_OP_COUNT])
{
    struct words words;
    enum nfs_op ops[MAX_WORDS];
    size_t n_ops = 0;
    bool is_other_version = false;
    for (r->line = 1; *text != '\0'; r->line++) {
        next_line(&text, false, &words);
        if (words.n == 0 || read_list_line(r, &words)) {
            continue;
        }
        if (n_ops > 0 && !is_other_version) {
            int rc = read_counts(r, &words, ops, n_ops);
            if (rc != 0) {
                return rc;
            }
            n_ops = 0;
            continue;
        }
        /* "Server nfs v3:" or "Version 3: (1234 calls)" begins a block; blocks of other versions are left out. */
        bool is_heading = words.text[words.n - 1][strlen(words.text[words.n - 1]) - 1] == ':' ||
                          strstr(words.text[0], "ersion") != NULL;
        if (is_heading) {
            is_other_version = true;
            for (size_t i = 0; i < words.n; i++) {
                is_other_version &= strcmp(words.text[i], "v3:") != 0 && strcmp(words.text[i], "3:") != 0;
            }
            n_ops = 0;
            continue;
        }
        n_ops = is_other_version ? 0 : read_names(&words, ops);
    }
    bool is_any = false;
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        is_any |= r->is_seen[op];
    }
    r->line = 0;
    if (!is_any) {
        return complain(r, "holds no counts of NFSv3 operations; expected the output of nfsstat -s -3, or a first line "
                           "\"SFS MIXFILE VERSION 2\"");
    }
    return finish(r, true, percent);
}

int sfs_mix_parse(const char *name, const char *text, double percent[NFS_OP_COUNT], char *message, size_t message_bytes)
{
    struct mix_reader r = {.name = name, .message = message, .message_bytes = message_bytes};
    struct words words;
    const char *first = text;
    next_line(&first, false, &words);
    if (words.n == 4 && strcmp(words.text[0], "SFS") == 0 && strcmp(words.text[1], "MIXFILE") == 0) {
        if (strcmp(words.text[3], "2") == 0) {
            return parse_v2(&r, text, percent);
        }
        r.line = 1;
        return complain(&r, "mix file version \"%s\" is not known; expected 2, or the output of nfsstat",
                        words.text[3]);
    }
    return parse_v1(&r, text, percent);
}

json_t *sfs_mix_to_json(const double percent[NFS_OP_COUNT])
{
    json_t *out = json_object();
    for (int op = 0; op < NFS_OP_COUNT; op++) {
        if (percent[op] > 0) {
            json_object_set_new(out, nfs_op_name((enum nfs_op)op),
                                percent[op] == floor(percent[op]) ? json_integer((json_int_t)percent[op])
                                                                  : json_real(percent[op]));
        }
    }
    return out;
}
