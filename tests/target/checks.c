#include "checks.h"

#include <stdio.h>

static unsigned n_made, n_failed;

void check_that(bool is_true, const char *claim, const char *file, int line)
{
    n_made++;
    if (!is_true) {
        n_failed++;
        printf("FAIL %s:%d: %s\n", file, line, claim);
    }
}

void check_status(uint32_t got, uint32_t expected, const char *claim, const char *file, int line)
{
    n_made++;
    if (got != expected) {
        n_failed++;
        printf("FAIL %s:%d: %s is %s (%u), expected %s\n", file, line, claim,
               got == UINT32_MAX ? "no reply" : nfsstat3_to_str((int)got), got, nfsstat3_to_str((int)expected));
    }
}

unsigned checks_failed(void)
{
    return n_failed;
}

unsigned checks_made(void)
{
    return n_made;
}
