/* test_local_latency.c - which models of a local target can be switched by its control file, and what its answers say.
 */
#include "campaign_config.h"
#include "local_latency.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_switched(const char *model, size_t n_args)
{
    struct local_target target = {.latency = (char *)model, .n_args = n_args};
    return local_latency_is_switched(&target);
}

Test(local_latency, models_that_fit_a_line_are_switched)
{
    cr_assert(is_switched("fixed:1ms", 0));
    cr_assert(is_switched("curve:/a b/my curve.txt", 0));
    cr_assert(!is_switched("", 0));
    cr_assert(!is_switched("fixed:1ms", 1)); /* its fault rules would be replaced */
}

Test(local_latency, models_that_a_line_cannot_say_stay_on)
{
    char model[2000];
    cr_assert(!is_switched("curve:/a#b", 0));
    cr_assert(!is_switched("curve:/a\nb", 0));
    cr_assert(!is_switched("curve:/a ", 0));
    memset(model, 'x', sizeof model);
    model[sizeof model - 1] = '\0';
    cr_assert(!is_switched(model, 0));
}

/* What local_latency_answer() makes of an answer file that holds `text` (NULL: there is none). */
static int answer(const char *text, char *message, size_t cap)
{
    char directory[] = "/tmp/local_latency.XXXXXX", control[64];
    cr_assert_not_null(mkdtemp(directory));
    snprintf(control, sizeof control, "%s/control", directory);
    char *path = local_latency_answer_file(control);
    if (text != NULL) {
        FILE *file = fopen(path, "we");
        cr_assert_not_null(file);
        fputs(text, file);
        fclose(file);
    }
    int rc = local_latency_answer(control, message, cap);
    cr_assert_neq(access(path, F_OK), 0, "an answer is taken once");
    free(path);
    rmdir(directory);
    return rc;
}

Test(local_latency, an_answer_is_awaited_taken_or_a_refusal)
{
    char message[200];
    cr_assert_eq(answer(NULL, message, sizeof message), -EAGAIN);
    cr_assert_eq(answer("{\"reads\": 1, \"error\": null}", message, sizeof message), 0);
    cr_assert_eq(answer("{\"reads\": 2, \"error\": \"f:1: no curve\\u0007\"}", message, sizeof message), -EINVAL);
    cr_assert_str_eq(message, "f:1: no curve\\x07");
}

Test(local_latency, an_answer_that_says_neither_is_no_consent)
{
    char message[200];
    static const char *const texts[] = {
        "", "{}", "null", "{\"error\": null}", "{\"reads\": 1, \"error\": 0}", "{\"reads\": 1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_assert_eq(answer(texts[i], message, sizeof message), -EPROTO, "%s", texts[i]);
    }
}

Test(local_latency, what_a_running_target_is_told_voids_its_former_answer)
{
    char directory[] = "/tmp/local_latency.XXXXXX", control[64], message[200];
    struct local_target target = {.latency = (char[]){"fixed:1ms"}};
    cr_assert_not_null(mkdtemp(directory));
    snprintf(control, sizeof control, "%s/control", directory);
    char *path = local_latency_answer_file(control);
    FILE *file = fopen(path, "we");
    fputs("{\"reads\": 1, \"error\": null}", file);
    fclose(file);
    cr_assert_eq(local_latency_set(&target, control, true, 0), 0);
    cr_assert_eq(local_latency_answer(control, message, sizeof message), -EAGAIN);
    unlink(control);
    rmdir(directory);
    free(path);
}
