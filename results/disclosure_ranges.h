/* disclosure_ranges.h - sets of load generator numbers as people write them: "1..4", "5-8", "9, 11". */
#ifndef NFSCURVE_RESULTS_DISCLOSURE_RANGES_H
#define NFSCURVE_RESULTS_DISCLOSURE_RANGES_H

#include <stddef.h>
#include <stdint.h>

#define RANGES_MAX_NUMBER 65535

struct ranges {
    uint8_t *seen; /* one bit a number */
    size_t n;      /* numbers in the set */
};

void ranges_init(struct ranges *r);
void ranges_fini(struct ranges *r);

/* Adds every number of the text. 0; -EINVAL when it is no list of numbers from 1; -EEXIST when one was there before;
 * -ENOMEM. */
int ranges_add(struct ranges *r, const char *text);

#endif
