/* main.c - nfscurve: everything a person types. One table row a command: dispatch, help and the list of commands come
 * from it. */
#include "campaign_config.h"
#include "cmd_report.h"
#include "commands.h"
#include "exit_status.h"
#include "log.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* one line for the list */
    const char *usage;
    const char *text; /* the rest of `nfscurve help NAME` */
};

static int cmd_help(int argc, char **argv);

static const struct command commands[] = {
    {.name = "run",
     .run = cmd_run,
     .summary = "measure a campaign point by point, and draw its curve",
     .usage = "nfscurve run CAMPAIGN.json [--out DIR] [--set KEY=VALUE]... [--quiet]\n"
              "       nfscurve run [CAMPAIGN.json] --resume DIR",
     .text = "Connects to every load generator, makes the fileset, and measures each\n"
             "requested load from low to high. Every point is on disk before the next one\n"
             "starts. At the end the run directory holds result.json, report.html, curve.svg,\n"
             "curve.csv and sfssum; the curve is drawn here as well.\n"
             "\n"
             "  --out DIR        the run directory; default runs/NAME-DATE-TIME\n"
             "  --set KEY=VALUE  change a key of the campaign, e.g. --set run_s=60 or --set\n"
             "                   targets[0].server=10.0.0.7\n"
             "  --resume DIR     go on with an earlier run at the first point that it did not\n"
             "                   finish; the campaign must be the same\n"
             "  --quiet          no progress\n"
             "\n"
             "Ctrl-C stops the load within a second and keeps everything measured (exit\n"
             "status 130); --resume goes on from there.\n"},
    {.name = "plan",
     .run = cmd_plan,
     .summary = "print what a campaign will do, without touching anything",
     .usage = "nfscurve plan CAMPAIGN.json [--set KEY=VALUE]... [--json]",
     .text = "Checks the campaign and prints its layout: points, files, bytes and memory at\n"
             "each load, which load generator drives which target, and what every process\n"
             "will do at the last point.\n"
             "\n"
             "  --set KEY=VALUE  change a key, e.g. --set run_s=60 or --set\n"
             "                   targets[0].server=10.0.0.7\n"
             "  --json           the same for programs, with every point and process\n"},
    {.name = "validate",
     .run = cmd_validate,
     .summary = "check that a server answers as RFC 1813 says, without load",
     .usage = "nfscurve validate CAMPAIGN.json [--level 1|2|3] [--set KEY=VALUE]...",
     .text = "Every load generator checks its targets: level 1 that each op works, level 2\n"
             "attributes, sizes, times, directory contents, cookies and verifiers, level 3\n"
             "(the default) data as well. Exit status 0 when no rule is broken, 1 when one\n"
             "is; each broken rule is named with the op, what was expected and what came.\n"},
    {.name = "report",
     .run = cmd_report,
     .summary = "draw any result in any form, or check its disclosure",
     .usage = "nfscurve report RESULT [--format FORMAT] [--out FILE] [--point N]\n"
              "       nfscurve report RESULT --check",
     .text = "RESULT is a result file (ours, an sfssum file of either generation, or CSV) or\n"
             "a run directory. Without --format the ending of FILE decides, and else it is\n"
             "text.\n"
             "\n"
             "  --format FORMAT  html text csv csv-ops csv-intervals svg png json sfssum\n"
             "                   gnuplot markdown hgrm hlog\n"
             "                   (hgrm, hlog: histograms for HdrHistogram's tools)\n"
             "  --out FILE       write there, as a whole or not at all\n"
             "  --point N        only the N-th point\n"
             "  --check          list what is missing or inconsistent for a full disclosure:\n"
             "                   errors and warnings\n"
             "\n"
             "Exit status 1 when the result is invalid, or with --check when there is an\n"
             "error.\n"},
    {.name = "compare",
     .run = cmd_compare,
     .summary = "lay curves over each other, and say which differences exceed the noise",
     .usage = "nfscurve compare RESULT RESULT... [--format FORMAT] [--out FILE]",
     .text = "Each RESULT is a result file or a run directory, as for report; published\n"
             "curves too. A run directory with repeats counts as one result with that\n"
             "scatter; repeats that lie apart are joined by commas: RUN1,RUN2,RUN3. Each is\n"
             "held against the first.\n"
             "\n"
             "  --format FORMAT  text (default), html svg png csv json gnuplot markdown\n"
             "  --out FILE       write there; its ending can choose the format\n"},
    {.name = "import",
     .run = cmd_import,
     .summary = "turn files of the SPECsfs world into campaigns, op mixes and results",
     .usage = "nfscurve import sfs_rc FILE [--out FILE]\n"
              "       nfscurve import mix|nfsstat FILE [--out FILE]\n"
              "       nfscurve import sfssum|csv FILE [--out FILE]",
     .text = "sfs_rc becomes a campaign; a mix file (version 2, or what nfsstat -s -3 prints)\n"
             "becomes the key op_mix_percent, to be put beside \"workload\"; an sfssum or CSV\n"
             "file becomes a result, to be drawn beside others. Keys without a meaning here,\n"
             "and everything that is not standard, are named on standard error.\n"},
    {.name = "hosts",
     .run = cmd_hosts,
     .summary = "ask every load generator of a campaign who it is, and whether it is free",
     .usage = "nfscurve hosts CAMPAIGN.json [--set KEY=VALUE]...",
     .text = "Shows host name, version, processors, memory, system, addresses, round trip and\n"
             "clock of each load generator, and who holds it. One that is at work is not\n"
             "disturbed. Exit status 3 when one is unreachable, has another key, or is held.\n"},
    {.name = "keygen",
     .run = cmd_keygen,
     .summary = "make the key that load generators ask for",
     .usage = "nfscurve keygen FILE",
     .text = "Writes 32 random bytes that only you can read. Give the file to every load\n"
             "generator (nfscurve-loadgen --key-file FILE) and name it in the campaign:\n"
             "\"control\": {\"key_file\": \"FILE\"}. An existing file is never overwritten.\n"},
    {.name = "help",
     .run = cmd_help,
     .summary = "explain a command, or the keys of a campaign",
     .usage = "nfscurve help [COMMAND | keys]",
     .text = "nfscurve help keys prints every key of a campaign and of a workload: unit,\n"
             "range, default and meaning.\n"},
};

#define N_COMMANDS (sizeof commands / sizeof commands[0])

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static void print_commands(FILE *out)
{
    fprintf(out, "nfscurve measures an NFSv3 server: operations per second against response time, point by point.\n"
                 "\n"
                 "usage: nfscurve COMMAND ...\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    }
    fprintf(out, "\n"
                 "nfscurve help COMMAND explains one. Start with: nfscurve plan configs/campaigns/demo.json\n"
                 "\n"
                 "exit status: 0 valid result, 1 ran but invalid, 2 usage or configuration (nothing was started),\n"
                 "             3 could not run (server or load generator not reachable), 130 interrupted (finished "
                 "points are kept)\n");
}

void command_print_help(const char *name, FILE *file)
{
    const struct command *command = find_command(name);
    if (command == NULL) {
        print_commands(file);
    } else {
        fprintf(file, "usage: %s\n\n%s%s", command->usage, command->text, command->text[0] ? "" : command->summary);
    }
}

static int cmd_help(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "keys") == 0) {
        campaign_config_print_docs(stdout);
        config_print_docs(workload_key_table(), "Workload (also beside \"workload\" in a campaign)", stdout);
        return EXIT_STATUS_VALID;
    }
    if (argc > 1 && find_command(argv[1]) == NULL) {
        fprintf(stderr, "nfscurve help: there is no command \"%s\"\n", argv[1]);
        return EXIT_STATUS_USAGE;
    }
    command_print_help(argc > 1 ? argv[1] : "", stdout);
    return EXIT_STATUS_VALID;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    log_init("nfscurve", LOG_LEVEL_WARN);
    if (argc < 2) {
        print_commands(stderr);
        return EXIT_STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_commands(stdout);
        return EXIT_STATUS_VALID;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("nfscurve %s\n", NFSCURVE_VERSION);
        return EXIT_STATUS_VALID;
    }
    const struct command *command = find_command(argv[1]);
    if (command == NULL) {
        fprintf(stderr, "nfscurve: there is no command \"%s\"; nfscurve help lists them\n", argv[1]);
        return EXIT_STATUS_USAGE;
    }
    int status = command->run(argc - 1, argv + 1);
    /* What was too long for the buffer failed before; only ferror() still knows. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_STATUS_VALID) {
        fprintf(stderr, "nfscurve %s: standard output cannot be written\n", command->name);
        status = EXIT_STATUS_COULD_NOT_RUN;
    }
    return status;
}
