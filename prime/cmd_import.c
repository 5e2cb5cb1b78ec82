/* cmd_import.c - nfscurve import: files of the SPECsfs world as campaigns, op mixes and results. */
#include "campaign_config.h"
#include "cmd_report.h"
#include "commands.h"
#include "exit_status.h"
#include "sfs_mix.h"
#include "sfs_rc.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES 1048576u

static char *read_whole(const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    char *text = file != NULL ? calloc(1, FILE_MAX_BYTES + 1) : NULL;
    if (text == NULL) {
        fprintf(stderr, "nfscurve import: %s cannot be read: %s\n", path, strerror(errno));
        goto out;
    }
    size_t n = fread(text, 1, FILE_MAX_BYTES, file);
    if (ferror(file)) {
        fprintf(stderr, "nfscurve import: %s cannot be read: %s\n", path, strerror(errno));
        free(text);
        text = NULL;
    } else if (n == FILE_MAX_BYTES || strlen(text) != n) {
        fprintf(stderr, "nfscurve import: %s is no text file of at most 1 MiB\n", path);
        free(text);
        text = NULL;
    }
out:
    if (file != NULL && file != stdin) {
        fclose(file);
    }
    return text;
}

static int write_json(const char *out_path, json_t *root)
{
    FILE *out = out_path != NULL ? fopen(out_path, "we") : stdout;
    int rc = out != NULL ? json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : -1;
    if (rc == 0 && fputc('\n', out) == EOF) {
        rc = -1;
    }
    if (out != NULL && (out == stdout ? fflush(out) : fclose(out)) != 0) {
        rc = -1;
    }
    if (rc != 0) {
        fprintf(stderr, "nfscurve import: %s cannot be written: %s\n", out_path != NULL ? out_path : "standard output",
                strerror(errno));
    }
    return rc == 0 ? EXIT_STATUS_VALID : EXIT_STATUS_USAGE;
}

/* Says what of the new campaign is not the standard, and whether it is a campaign at all. */
static int mark_nonstandard(const char *path, const json_t *campaign)
{
    char *text = json_dumps(campaign, 0);
    struct campaign_config config;
    struct config_errors errors;
    config_errors_init(&errors);
    int status =
        campaign_config_from_text(path, text, NULL, 0, &config, &errors) == 0 ? EXIT_STATUS_VALID : EXIT_STATUS_USAGE;
    for (size_t i = 0; i < errors.n; i++) {
        fprintf(stderr, "%s\n", errors.messages[i]);
    }
    for (size_t i = 0; status == EXIT_STATUS_VALID && i < json_array_size(config.nonstandard); i++) {
        fprintf(stderr, "%s: non-standard: %s\n", path, json_string_value(json_array_get(config.nonstandard, i)));
    }
    campaign_config_fini(&config);
    config_errors_fini(&errors);
    free(text);
    return status;
}

static int import_rc(const char *path, const char *out_path)
{
    char message[1024];
    struct sfs_rc rc = {0};
    json_t *campaign = NULL;
    int status = EXIT_STATUS_USAGE;
    char *text = read_whole(path);
    if (text == NULL) {
        return status;
    }
    if (sfs_rc_parse(path, text, &rc, message, sizeof message) == 0) {
        campaign = sfs_rc_to_campaign(&rc, path, stderr, message, sizeof message);
    }
    if (campaign == NULL) {
        fprintf(stderr, "nfscurve import: %s\n", message);
    } else {
        status = mark_nonstandard(path, campaign);
        int written = write_json(out_path, campaign);
        status = status != 0 ? status : written;
    }
    json_decref(campaign);
    sfs_rc_fini(&rc);
    free(text);
    return status;
}

static int import_mix(const char *path, const char *out_path)
{
    char message[1024];
    double percent[NFS_OP_COUNT];
    int status = EXIT_STATUS_USAGE;
    char *text = read_whole(path);
    if (text == NULL) {
        return status;
    }
    if (sfs_mix_parse(path, text, percent, message, sizeof message) != 0) {
        fprintf(stderr, "nfscurve import: %s\n", message);
    } else {
        json_t *root = json_pack("{s:o}", "op_mix_percent", sfs_mix_to_json(percent));
        status = write_json(out_path, root);
        json_decref(root);
        if (status == EXIT_STATUS_VALID) {
            fprintf(stderr,
                    "%s: put op_mix_percent beside \"workload\" in a campaign; a mix of your own makes its results "
                    "non-standard\n",
                    path);
        }
    }
    free(text);
    return status;
}

int cmd_import(int argc, char **argv)
{
    const char *words[2] = {NULL, NULL}, *out_path = NULL;
    size_t n = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            command_print_help("import", stdout);
            return EXIT_STATUS_VALID;
        }
        if (strcmp(argv[i], "--out") == 0 && i + 1 < argc) {
            out_path = argv[++i];
        } else if (n < 2 && (argv[i][0] != '-' || argv[i][1] == '\0')) {
            words[n++] = argv[i];
        } else {
            n = 3;
        }
    }
    if (n == 2 && strcmp(words[0], "sfs_rc") == 0) {
        return import_rc(words[1], out_path);
    }
    if (n == 2 && (strcmp(words[0], "mix") == 0 || strcmp(words[0], "nfsstat") == 0)) {
        return import_mix(words[1], out_path);
    }
    if (n == 2 && (strcmp(words[0], "sfssum") == 0 || strcmp(words[0], "csv") == 0)) {
        return cmd_import_curve(words[0], words[1], out_path);
    }
    fprintf(stderr, "nfscurve import: expected one of sfs_rc, mix, nfsstat, sfssum and csv, and a file; see nfscurve "
                    "help import\n");
    return EXIT_STATUS_USAGE;
}
