/* config_lines.h - internal to common/config_*.c: what --set has changed has no line. */
#ifndef NFSCURVE_COMMON_CONFIG_LINES_H
#define NFSCURVE_COMMON_CONFIG_LINES_H

#include <stdbool.h>

struct config_source;

/* Whether `path` is, or lies below, a path that --set has changed. */
bool config_is_set(const struct config_source *src, const char *path);

#endif
