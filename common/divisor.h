/* divisor.h - numbers that share no divisor: steps that visit every place of a cycle once. */
#ifndef NFSCURVE_COMMON_DIVISOR_H
#define NFSCURVE_COMMON_DIVISOR_H

#include <stdint.h>

static inline uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
