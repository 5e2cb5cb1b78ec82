/* import_curve.h - curves that others have left: sfssum files of both generations, and CSV. */
#ifndef NFSCURVE_RESULTS_IMPORT_CURVE_H
#define NFSCURVE_RESULTS_IMPORT_CURVE_H

#include "result.h"

#include <stddef.h>

/* text[0..n) is terminated. 0 or -EINVAL with file name and line in the error. result_finish has been called on `r`.
 */
int import_sfssum(const char *name, const char *text, size_t n, struct result *r, struct result_error *error);
int import_csv(const char *name, const char *text, size_t n, struct result *r, struct result_error *error);

/* Does the text look like an sfssum file rather than CSV? */
int import_is_sfssum(const char *text, size_t n);

#endif
