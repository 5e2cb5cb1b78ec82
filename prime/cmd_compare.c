/* cmd_compare.c - nfscurve compare: any results over each other, and whether they differ by more than they scatter. */
#include "cmd_report.h"
#include "commands.h"
#include "exit_status.h"
#include "report.h"
#include "report_output.h"
#include "result.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_REPEATS 64

/* One thing to compare: a result, or its repeats. */
struct compared {
    char *label;
    struct result *results[MAX_REPEATS];
    size_t n;
};

struct subject {
    const struct compare_group *groups;
    size_t n;
};

static int add_result(struct compared *c, const char *path)
{
    struct result_error error;
    struct result *r = c->n < MAX_REPEATS ? calloc(1, sizeof *r) : NULL;
    if (r == NULL) {
        fprintf(stderr, "nfscurve compare: %s: at most %d repeats\n", path, MAX_REPEATS);
        return -E2BIG;
    }
    if (result_load(path, r, &error) != 0) {
        fprintf(stderr, "nfscurve compare: %s\n", error.message);
        free(r);
        return -EINVAL;
    }
    c->results[c->n++] = r;
    return 0;
}

/* The repeat-K directories of a run directory. Their number, or -errno. */
static int add_repeats(struct compared *c, const char *directory)
{
    int n = 0;
    for (int k = 1; k <= MAX_REPEATS; k++) {
        char path[4096];
        struct stat st;
        snprintf(path, sizeof path, "%s/repeat-%d", directory, k);
        if (stat(path, &st) != 0) {
            break;
        }
        int error = add_result(c, path);
        if (error != 0) {
            return error;
        }
        n++;
    }
    return n;
}

/* "PATH", or "PATH,PATH,..." for repeats that lie apart. */
static int load(struct compared *c, const char *argument)
{
    struct stat st;
    if (stat(argument, &st) == 0 || strchr(argument, ',') == NULL) {
        int n = add_repeats(c, argument);
        return n == 0 ? add_result(c, argument) : n < 0 ? n : 0;
    }
    char *copy = strdup(argument), *save = NULL;
    int error = copy != NULL ? 0 : -ENOMEM;
    for (char *path = copy != NULL ? strtok_r(copy, ",", &save) : NULL; path != NULL && error == 0;
         path = strtok_r(NULL, ",", &save)) {
        error = add_result(c, path);
    }
    free(copy);
    if (error == 0 && c->n == 0) {
        fprintf(stderr,
                "nfscurve compare: \"%.60s\" names no result: give a run directory or file, or several with commas\n",
                argument);
        error = -EINVAL;
    }
    return error;
}

/* Names where they tell the results apart, else names with their paths. */
static void choose_labels(struct compared *compared, char **arguments, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = compared[i].results[0]->name;
        bool is_unique = name != NULL && name[0] != '\0';
        for (size_t k = 0; k < n; k++) {
            const char *other = compared[k].results[0]->name;
            is_unique = is_unique && (k == i || other == NULL || strcmp(name, other) != 0);
        }
        if (is_unique) {
            compared[i].label = strdup(name);
        } else if (asprintf(&compared[i].label, "%s%s%s", name != NULL ? name : "",
                            name != NULL && name[0] != '\0' ? ", " : "", arguments[i]) < 0) {
            compared[i].label = NULL;
        }
    }
}

static int render(const void *subject, enum report_format format, FILE *out)
{
    const struct subject *s = subject;
    return compare_render(s->groups, s->n, format, out);
}

/* -1: help was asked for. The results begin at optind. */
static int parse_args(int argc, char **argv, struct report_output *output)
{
    static const struct option options[] = {
        {"format", required_argument, NULL, 'f'},
        {"out", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *format_name = NULL;
    int option;
    *output = (struct report_output){.command = "compare"};
    optind = 1;
    while ((option = getopt_long(argc, argv, "f:o:h", options, NULL)) != -1) {
        if (option == 'f') {
            format_name = optarg;
        } else if (option == 'o') {
            output->out_path = optarg;
        } else if (option == 'h') {
            command_print_help("compare", stdout);
            return -1;
        } else {
            return EXIT_STATUS_USAGE;
        }
    }
    if (argc - optind < 2) {
        fprintf(stderr, "nfscurve compare: expected at least two results; nfscurve help compare explains\n");
        return EXIT_STATUS_USAGE;
    }
    return report_output_choose(output, format_name) == 0 ? 0 : EXIT_STATUS_USAGE;
}

int cmd_compare(int argc, char **argv)
{
    struct report_output output;
    int status = parse_args(argc, argv, &output);
    if (status != 0) {
        return status < 0 ? EXIT_STATUS_VALID : status;
    }
    size_t n = (size_t)(argc - optind), n_loaded = 0;
    char **arguments = argv + optind;
    struct compared *compared = calloc(n, sizeof *compared);
    struct compare_group *groups = calloc(n, sizeof *groups);
    int error = compared != NULL && groups != NULL ? 0 : -ENOMEM;
    while (n_loaded < n && error == 0) {
        error = load(&compared[n_loaded], arguments[n_loaded]);
        n_loaded++;
    }
    if (error == 0) {
        choose_labels(compared, arguments, n);
        for (size_t i = 0; i < n; i++) {
            groups[i] = (struct compare_group){compared[i].label, (const struct result *const *)compared[i].results,
                                               compared[i].n};
        }
        status = report_output_write(&output, render, &(struct subject){groups, n});
    } else {
        status = EXIT_STATUS_USAGE;
    }
    for (size_t i = 0; i < n_loaded; i++) {
        for (size_t k = 0; k < compared[i].n; k++) {
            result_fini(compared[i].results[k]);
            free(compared[i].results[k]);
        }
        free(compared[i].label);
    }
    free(compared);
    free(groups);
    return status;
}
