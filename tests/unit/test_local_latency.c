/* test_local_latency.c - which models of a local target can be switched by its control file. */
#include "campaign_config.h"
#include "local_latency.h"

#include <criterion/criterion.h>
#include <string.h>

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
