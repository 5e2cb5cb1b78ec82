/* local_latency.c - see local_latency.h. */
#include "local_latency.h"

#include "campaign_config.h"
#include "text.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_BYTES_MAX 1000u /* the target's lines are not much longer */

/* A line of the control file ends at '#' and at a line break, and blanks at its end do not count. */
static bool fits_a_line(const char *model)
{
    size_t n = strlen(model);
    return n > 0 && n <= MODEL_BYTES_MAX && strpbrk(model, "#\r\n") == NULL && model[n - 1] != ' ' &&
           model[n - 1] != '\t';
}

bool local_latency_is_switched(const struct local_target *target)
{
    return target->n_args == 0 && fits_a_line(target->latency);
}

/* Renamed into place: the target never reads half a line. */
static int write_file(const char *path, const char *model)
{
    char *temporary = text_format("%s.tmp", path);
    FILE *file = temporary != NULL ? fopen(temporary, "we") : NULL;
    int rc = file != NULL ? 0 : temporary != NULL ? -errno : -ENOMEM;
    if (rc == 0 && fprintf(file, "latency %s\n", model) < 0) {
        rc = -errno;
    }
    if (file != NULL && fclose(file) != 0 && rc == 0) {
        rc = -errno;
    }
    if (rc == 0 && rename(temporary, path) != 0) {
        rc = -errno;
    }
    free(temporary);
    return rc;
}

int local_latency_set(const struct local_target *target, const char *control_file, bool is_on, pid_t pid)
{
    int rc = write_file(control_file, is_on ? target->latency : "none");
    if (rc == 0 && pid > 0 && kill(pid, SIGHUP) != 0) {
        rc = -errno;
    }
    return rc;
}
