/* cmd_import.c - nfscurve import: files of the SPECsfs world as campaigns, op mixes and results. */
#include "campaign_config.h"
#include "campaign_rows.h"
#include "cmd_report.h"
#include "commands.h"
#include "exit_status.h"
#include "path_kind.h"
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
    if (path_is_special(path)) {
        fprintf(stderr, "nfscurve import: %s is no regular file\n", path);
        return NULL;
    }
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

/* The script is of another machine, and need not be here yet: that is said, and is no error. */
static void check_monitor(const struct sfs_rc *rc, const char *path, const char *out_path, json_t *campaign)
{
    const struct config_source beside = {.name = (char *)out_path};
    json_t *monitor = json_object_get(campaign, "monitor");
    const char *script = json_string_value(json_object_get(monitor, "script"));
    char *found = script != NULL ? row_absolute_path(&beside, script) : NULL;
    for (size_t i = 0; script != NULL && found == NULL && i < rc->n; i++) {
        if (strcmp(rc->entries[i].key, "PRIME_MON_SCRIPT") == 0) {
            fprintf(stderr,
                    "%s:%u: PRIME_MON_SCRIPT %s is not here (%s): correct monitor.script of the campaign, or take "
                    "\"monitor\" out, before you run it\n",
                    path, rc->entries[i].line, script, strerror(errno));
        }
    }
    free(found);
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

/* SFS had no keys: whoever comes from there does not expect to be asked for one. */
static void say_key(const char *path, const json_t *campaign)
{
    const json_t *loadgens = json_object_get(campaign, "loadgens");
    for (size_t i = 0; i < json_array_size(loadgens); i++) {
        const char *host = json_string_value(json_object_get(json_array_get(loadgens, i), "host"));
        if (host != NULL && !is_loopback(host)) {
            fprintf(stderr,
                    "%s: load generators on other hosts (%s) need a key: nfscurve keygen lab.key makes one, each is "
                    "started with nfscurve-loadgen --listen 0.0.0.0:7049 --key-file lab.key, and the campaign gets "
                    "\"control\": {\"key_file\": \"lab.key\"}\n",
                    path, host);
            return;
        }
    }
}

/* Says what of the new campaign is not the standard, and whether it is a campaign at all: in lines of what is written.
 */
static int mark_nonstandard(const char *path, const char *out_path, const json_t *campaign)
{
    json_t *checked = json_deep_copy(campaign);
    json_t *monitor = json_object_get(checked, "monitor");
    if (monitor != NULL) {
        json_object_set_new(monitor, "script", json_string(""));
    }
    char *text = json_dumps(checked, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    struct campaign_config config;
    struct config_errors errors;
    config_errors_init(&errors);
    int status =
        campaign_config_from_text(out_path != NULL ? out_path : "standard output", text, NULL, 0, &config, &errors) == 0
            ? EXIT_STATUS_VALID
            : EXIT_STATUS_USAGE;
    for (size_t i = 0; i < errors.n; i++) {
        fprintf(stderr, "%s\n", errors.messages[i]);
    }
    for (size_t i = 0; status == EXIT_STATUS_VALID && i < json_array_size(config.nonstandard); i++) {
        fprintf(stderr, "%s: non-standard: %s\n", path, json_string_value(json_array_get(config.nonstandard, i)));
    }
    campaign_config_fini(&config);
    if (status != EXIT_STATUS_VALID) {
        fprintf(stderr, "%s: the campaign made of it is written, but cannot be run before that is corrected\n", path);
    }
    config_errors_fini(&errors);
    json_decref(checked);
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
        status = mark_nonstandard(path, out_path, campaign);
        check_monitor(&rc, path, out_path, campaign);
        say_key(path, campaign);
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
