/* main.c - nfscurve-target: an NFSv3 server in memory that can be told how to behave. */
#include "log.h"
#include "target.h"

int main(int argc, char **argv)
{
    struct target_options options;
    log_init("nfscurve-target", LOG_LEVEL_INFO);
    switch (options_parse(argc, argv, &options)) {
    case OPTIONS_OK:
        return target_run(&options);
    case OPTIONS_SHOWN:
        return 0;
    default:
        return 2;
    }
}
