/* cmd_run.c - nfscurve run: measures a campaign, or goes on with one. */
#include "campaign.h"
#include "campaign_args.h"
#include "campaign_config.h"
#include "campaign_layout.h"
#include "commands.h"
#include "exit_status.h"
#include "log.h"
#include "run_dir.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_run_dir(const struct campaign_args *args, const struct campaign_config *config, struct run_dir *dir)
{
    char message[1024];
    json_t *campaign = campaign_config_dump(config);
    int rc =
        args->resume != NULL
            ? run_dir_resume(args->resume, (int)config->repeats, campaign, dir, message, sizeof message)
            : run_dir_create(args->out_dir, config->name, (int)config->repeats, campaign, dir, message, sizeof message);
    json_decref(campaign);
    if (rc != 0) {
        fprintf(stderr, "nfscurve run: %s\n", message);
        return EXIT_STATUS_USAGE;
    }
    char *log_file = run_dir_file(dir, "log.txt");
    if (log_file != NULL) {
        log_to_file(log_file);
    }
    free(log_file);
    return 0;
}

/* The result is in the run directory: a reader of standard output who has gone away does not change what was measured.
 */
static void forget_unwritten_output(const struct run_dir *dir)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_warn("standard output cannot be written; the result is in %s", dir->path);
        __fpurge(stdout);
        clearerr(stdout);
    }
}

int cmd_run(int argc, char **argv)
{
    struct campaign_args args;
    int status = campaign_args_parse(argc, argv, "orsq", &args);
    if (status != 0) {
        return status < 0 ? EXIT_STATUS_VALID : status;
    }
    if (args.out_dir != NULL && args.resume != NULL) {
        fprintf(stderr, "nfscurve run: --out and --resume exclude each other: a resumed run stays in its directory\n");
        return EXIT_STATUS_USAGE;
    }
    char *own_campaign = args.campaign == NULL ? text_format("%s/campaign.json", args.resume) : NULL;
    if (own_campaign != NULL && access(own_campaign, F_OK) != 0) {
        fprintf(stderr, "nfscurve run: %s cannot be resumed: it holds no run (%s: %s)\n", args.resume, own_campaign,
                strerror(errno));
        free(own_campaign);
        return EXIT_STATUS_USAGE;
    }
    if (own_campaign != NULL) {
        args.campaign = own_campaign;
    }

    struct campaign_config config;
    struct campaign_layout *layouts;
    struct run_dir dir = {0};
    status = campaign_args_load(&args, &config, &layouts);
    if (status == 0) {
        status = open_run_dir(&args, &config, &dir);
    }
    if (status == 0) {
        struct campaign_options options = {.goal = CAMPAIGN_MEASURE,
                                           .config = &config,
                                           .layouts = layouts,
                                           .dir = &dir,
                                           .validate_level = (uint32_t)config.validate_level,
                                           .is_quiet = args.is_quiet};
        status = campaign_run(&options);
        forget_unwritten_output(&dir);
    }
    run_dir_fini(&dir);
    campaign_args_free_layouts(layouts, config.n_loads);
    campaign_config_fini(&config);
    free(own_campaign);
    return status;
}
