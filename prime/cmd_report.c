/* cmd_report.c - nfscurve report: any result in any form; and what its disclosure lacks. */
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
#include <unistd.h>

struct report_args {
    const char *result_path;
    const char *format_name;
    struct report_output output;
    long point; /* from 1; 0: all */
    bool is_check;
};

/* -1: help was asked for. */
static int parse_args(int argc, char **argv, struct report_args *args)
{
    static const struct option options[] = {
        {"format", required_argument, NULL, 'f'}, {"out", required_argument, NULL, 'o'},
        {"check", no_argument, NULL, 'c'},        {"point", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},         {0},
    };
    char *end;
    int option;
    *args = (struct report_args){.output.command = "report"};
    optind = 1;
    while ((option = getopt_long(argc, argv, "f:o:cp:h", options, NULL)) != -1) {
        switch (option) {
        case 'f':
            args->format_name = optarg;
            break;
        case 'o':
            args->output.out_path = optarg;
            break;
        case 'c':
            args->is_check = true;
            break;
        case 'p':
            args->point = strtol(optarg, &end, 10);
            if (args->point < 1 || *end != '\0') {
                fprintf(stderr, "nfscurve report: --point expects the number of a point, from 1\n");
                return EXIT_STATUS_USAGE;
            }
            break;
        case 'h':
            command_print_help("report", stdout);
            return -1;
        default:
            return EXIT_STATUS_USAGE;
        }
    }
    if (argc - optind != 1) {
        fprintf(
            stderr,
            "nfscurve report: expected one result: a result file or a run directory; nfscurve help report explains\n");
        return EXIT_STATUS_USAGE;
    }
    args->result_path = argv[optind];
    return report_output_choose(&args->output, args->format_name) == 0 ? 0 : EXIT_STATUS_USAGE;
}

/* Leaves only point `number` (from 1). */
static int keep_point(struct result *r, long number)
{
    if ((size_t)number > r->n_points) {
        fprintf(stderr, "nfscurve report: there are %zu points\n", r->n_points);
        return -ENOENT;
    }
    struct point_result kept = r->points[number - 1];
    for (size_t i = 0; i < r->n_points; i++) {
        if (i != (size_t)number - 1) {
            point_fini(&r->points[i]);
        }
    }
    r->points[0] = kept;
    r->n_points = 1;
    r->n_points_planned = RESULT_UNKNOWN;
    result_finish(r);
    return 0;
}

static int render(const void *subject, enum report_format format, FILE *out)
{
    if (format == REPORT_TEXT) {
        return report_render_text(subject, report_output_columns(), out == stdout && isatty(STDOUT_FILENO), out);
    }
    return report_render(subject, format, out);
}

static int check(const struct result *r)
{
    struct disclosure_findings findings;
    int error = disclosure_check(r, &findings);
    if (error != 0) {
        fprintf(stderr, "nfscurve report: %s\n", strerror(-error));
        return EXIT_STATUS_COULD_NOT_RUN;
    }
    disclosure_findings_print(&findings, stdout);
    int status = findings.n_errors > 0 ? EXIT_STATUS_INVALID : EXIT_STATUS_VALID;
    disclosure_findings_fini(&findings);
    return status;
}

int cmd_report(int argc, char **argv)
{
    struct report_args args;
    struct result result;
    struct result_error error;
    int status = parse_args(argc, argv, &args);
    if (status != 0) {
        return status < 0 ? EXIT_STATUS_VALID : status;
    }
    if (result_load(args.result_path, &result, &error) != 0) {
        fprintf(stderr, "nfscurve report: %s\n", error.message);
        return EXIT_STATUS_USAGE;
    }
    if (args.point != 0 && keep_point(&result, args.point) != 0) {
        status = EXIT_STATUS_USAGE;
    } else if (args.is_check) {
        status = check(&result);
    } else {
        status = report_output_write(&args.output, render, &result);
        if (status == EXIT_STATUS_VALID && !result.is_valid) {
            status = EXIT_STATUS_INVALID;
        }
    }
    result_fini(&result);
    return status;
}

int cmd_import_curve(const char *kind, const char *file, const char *out_path)
{
    struct report_output output = {.command = "import", .out_path = out_path, .format = REPORT_JSON};
    struct result result;
    struct result_error error;
    (void)kind; /* the content says which it is */
    if (result_load(file, &result, &error) != 0) {
        fprintf(stderr, "nfscurve import: %s\n", error.message);
        return EXIT_STATUS_USAGE;
    }
    int status = report_output_write(&output, render, &result);
    result_fini(&result);
    return status;
}
