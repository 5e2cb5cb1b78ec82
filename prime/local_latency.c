/* local_latency.c - see local_latency.h. */
#include "local_latency.h"

#include "campaign_config.h"
#include "log.h"
#include "text.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX 8192u
#define MODEL_BYTES_MAX  1000u /* the target's lines are not much longer */

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

char *local_latency_answer_file(const char *control_file)
{
    return text_format("%s.answer", control_file);
}

int local_latency_set(const struct local_target *target, const char *control_file, bool is_on, pid_t pid)
{
    char *answer = local_latency_answer_file(control_file);
    int rc = answer != NULL ? write_file(control_file, is_on ? target->latency : "none") : -ENOMEM;
    if (rc == 0 && unlink(answer) != 0 && errno != ENOENT) {
        rc = -errno;
    }
    free(answer);
    if (rc == 0 && pid > 0 && kill(pid, SIGHUP) != 0) {
        rc = -errno;
    }
    return rc;
}

/* The answer is renamed into place: what is there is whole. */
static int take_answer(json_t *answer, char *message, size_t cap)
{
    json_t *error = json_object_get(answer, "error");
    if (!json_is_integer(json_object_get(answer, "reads")) || (!json_is_null(error) && !json_is_string(error))) {
        snprintf(message, cap, "its answer cannot be read");
        return -EPROTO;
    }
    if (json_is_null(error)) {
        return 0;
    }
    log_quote(message, cap, json_string_value(error), json_string_length(error));
    return -EINVAL;
}

int local_latency_answer(const char *control_file, char *message, size_t cap)
{
    char *path = local_latency_answer_file(control_file), text[ANSWER_BYTES_MAX];
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    if (file == NULL) {
        int rc = path == NULL ? -ENOMEM : errno == ENOENT ? -EAGAIN : -errno;
        snprintf(message, cap, "its answer cannot be read: %s", strerror(-rc));
        free(path);
        return rc;
    }
    size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    json_t *answer = json_loadb(text, n, 0, NULL);
    int rc = take_answer(answer, message, cap);
    json_decref(answer);
    unlink(path);
    free(path);
    return rc;
}
