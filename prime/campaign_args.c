/* campaign_args.c - see campaign_args.h. */
#include "campaign_args.h"

#include "campaign_config.h"
#include "campaign_layout.h"
#include "commands.h"
#include "exit_status.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option long_options[] = {
    {"out", required_argument, NULL, 'o'},    {"set", required_argument, NULL, 's'},
    {"resume", required_argument, NULL, 'r'}, {"level", required_argument, NULL, 'l'},
    {"json", no_argument, NULL, 'j'},         {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
};

static const char *long_name(int letter)
{
    for (size_t i = 0; long_options[i].name != NULL; i++) {
        if (long_options[i].val == letter) {
            return long_options[i].name;
        }
    }
    return "?";
}

static int usage_error(const char *command, const char *what, const char *arg)
{
    fprintf(stderr, "nfscurve %s: %s%s; see nfscurve help %s\n", command, what, arg, command);
    return EXIT_STATUS_USAGE;
}

static int take_option(struct campaign_args *out, int letter, const char *command)
{
    switch (letter) {
    case 'o':
        out->out_dir = optarg;
        return 0;
    case 'r':
        out->resume = optarg;
        return 0;
    case 's':
        if (out->n_assignments == CAMPAIGN_ARGS_MAX_SET) {
            return usage_error(command, "too many --set", "");
        }
        out->assignments[out->n_assignments++] = optarg;
        return 0;
    case 'l':
        if (strlen(optarg) != 1 || optarg[0] < '1' || optarg[0] > '3') {
            return usage_error(command, "--level takes 1, 2 or 3, not ", optarg);
        }
        out->level = optarg[0] - '0';
        return 0;
    case 'j':
        out->is_json = true;
        return 0;
    default:
        out->is_quiet = true;
        return 0;
    }
}

int campaign_args_parse(int argc, char **argv, const char *allowed, struct campaign_args *out)
{
    *out = (struct campaign_args){.level = -1};
    optind = 1;
    opterr = 0;
    for (;;) {
        int letter = getopt_long(argc, argv, ":o:s:r:l:jqh", long_options, NULL);
        if (letter == -1) {
            break;
        }
        if (letter == ':') {
            return usage_error(argv[0], "a value is missing after ", argv[optind - 1]);
        }
        if (letter == '?') {
            return usage_error(argv[0], "unknown option ", argv[optind - 1]);
        }
        if (letter == 'h') {
            command_print_help(argv[0], stdout);
            return -1;
        }
        if (strchr(allowed, letter) == NULL) {
            return usage_error(argv[0], "has no option --", long_name(letter));
        }
        int rc = take_option(out, letter, argv[0]);
        if (rc != 0) {
            return rc;
        }
    }
    if (optind < argc) {
        out->campaign = argv[optind++];
    }
    if (optind < argc) {
        return usage_error(argv[0], "takes one campaign file; unexpected ", argv[optind]);
    }
    if (out->campaign == NULL && out->resume == NULL) {
        return usage_error(argv[0], "needs a campaign file", "");
    }
    return 0;
}

static int print_errors(const struct config_errors *errors, const char *path)
{
    for (size_t i = 0; i < errors->n; i++) {
        fprintf(stderr, "%s\n", errors->messages[i]);
    }
    fprintf(stderr, "nfscurve: %s: %zu error%s; nothing was started\n", path, errors->n, errors->n == 1 ? "" : "s");
    return EXIT_STATUS_USAGE;
}

int campaign_args_load(const struct campaign_args *args, struct campaign_config *c, struct campaign_layout **layouts)
{
    *layouts = NULL;
    struct config_errors errors;
    config_errors_init(&errors);
    int status = 0;
    int rc = campaign_config_load(args->campaign, args->assignments, args->n_assignments, c, &errors);
    if (rc == -ENOENT) {
        fprintf(stderr, "nfscurve: a campaign file is needed; configs/campaigns holds examples\n");
    }
    if (rc != 0) {
        status = print_errors(&errors, args->campaign);
        goto out;
    }
    *layouts = calloc(c->n_loads, sizeof **layouts);
    if (*layouts == NULL) {
        fprintf(stderr, "nfscurve: out of memory\n");
        status = EXIT_STATUS_COULD_NOT_RUN;
        goto out;
    }
    for (size_t i = 0; i < c->n_loads; i++) {
        char message[512] = "out of memory";
        if (campaign_layout_compute(c, c->loads[i], &(*layouts)[i], message, sizeof message) != 0) {
            config_errors_add(&errors, "%s: point %zu: %s", args->campaign, i + 1, message);
            status = print_errors(&errors, args->campaign);
            break;
        }
    }
out:
    config_errors_fini(&errors);
    return status;
}

void campaign_args_free_layouts(struct campaign_layout *layouts, size_t n)
{
    for (size_t i = 0; layouts != NULL && i < n; i++) {
        campaign_layout_fini(&layouts[i]);
    }
    free(layouts);
}
