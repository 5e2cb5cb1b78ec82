/* cmd_plan.c - nfscurve plan: prints the layout without touching anything. */
#include "campaign_args.h"
#include "campaign_config.h"
#include "campaign_layout.h"
#include "commands.h"
#include "exit_status.h"
#include "plan.h"

int cmd_plan(int argc, char **argv)
{
    struct campaign_args args;
    int status = campaign_args_parse(argc, argv, "sj", &args);
    if (status != 0) {
        return status < 0 ? EXIT_STATUS_VALID : status;
    }

    struct campaign_config config;
    struct campaign_layout *layouts;
    status = campaign_args_load(&args, &config, &layouts);
    if (status == 0 && args.is_json) {
        json_t *plan = plan_to_json(&config, layouts);
        json_dumpf(plan, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        putchar('\n');
        json_decref(plan);
    } else if (status == 0) {
        plan_print(&config, layouts, stdout);
    }
    campaign_args_free_layouts(layouts, config.n_loads);
    campaign_config_fini(&config);
    return status;
}
