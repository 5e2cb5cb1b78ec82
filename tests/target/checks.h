/* checks.h - claims of the target's test programs: each is counted, each failure is printed with its place. */
#ifndef NFSCURVE_TESTS_CHECKS_H
#define NFSCURVE_TESTS_CHECKS_H

#include "libnfs_client.h"

void check_that(bool is_true, const char *claim, const char *file, int line);
void check_status(uint32_t got, uint32_t expected, const char *claim, const char *file, int line);

#define CHECK(condition)   check_that((condition), #condition, __FILE__, __LINE__)
#define IS(call, expected) check_status((call), (expected), #call, __FILE__, __LINE__)
#define OK(call)           check_status((call), NFS3_OK, #call, __FILE__, __LINE__)

unsigned checks_failed(void);
unsigned checks_made(void);

#endif
