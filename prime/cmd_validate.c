/* cmd_validate.c - nfscurve validate: checks a server's answers without putting load on it. */
#include "campaign.h"
#include "campaign_args.h"
#include "campaign_config.h"
#include "campaign_layout.h"
#include "commands.h"
#include "exit_status.h"
#include "run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_LEVEL 3u

/* Only for the logs of local programs; nothing is kept. */
static int make_scratch(struct run_dir *dir)
{
    const char *tmp = getenv("TMPDIR");
    *dir = (struct run_dir){.n_repeats = 1};
    if (asprintf(&dir->path, "%s/nfscurve-validate-XXXXXX", tmp != NULL && tmp[0] == '/' ? tmp : "/tmp") < 0) {
        dir->path = NULL;
    }
    if (dir->path == NULL || mkdtemp(dir->path) == NULL) {
        fprintf(stderr, "nfscurve validate: no temporary directory: %s\n", strerror(errno));
        return EXIT_STATUS_COULD_NOT_RUN;
    }
    return 0;
}

static void remove_scratch(const struct run_dir *dir)
{
    DIR *entries = opendir(dir->path);
    for (struct dirent *e = entries != NULL ? readdir(entries) : NULL; e != NULL; e = readdir(entries)) {
        if (e->d_name[0] != '.') {
            unlinkat(dirfd(entries), e->d_name, 0);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    rmdir(dir->path);
}

int cmd_validate(int argc, char **argv)
{
    struct campaign_args args;
    int status = campaign_args_parse(argc, argv, "slq", &args);
    if (status != 0) {
        return status < 0 ? EXIT_STATUS_VALID : status;
    }

    struct campaign_config config;
    struct campaign_layout *layouts;
    struct run_dir dir = {0};
    status = campaign_args_load(&args, &config, &layouts);
    if (status == 0) {
        status = make_scratch(&dir);
    }
    if (status == 0) {
        uint32_t level = args.level > 0              ? (uint32_t)args.level
                         : config.validate_level > 0 ? (uint32_t)config.validate_level
                                                     : DEFAULT_LEVEL;
        struct campaign_options options = {.goal = CAMPAIGN_VALIDATE_ONLY,
                                           .config = &config,
                                           .layouts = layouts,
                                           .dir = &dir,
                                           .validate_level = level,
                                           .is_quiet = args.is_quiet};
        status = campaign_run(&options);
        remove_scratch(&dir);
    }
    run_dir_fini(&dir);
    campaign_args_free_layouts(layouts, config.n_loads);
    campaign_config_fini(&config);
    return status;
}
