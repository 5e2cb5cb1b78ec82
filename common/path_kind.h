/* path_kind.h - what may be replaced by a rename, what has to be written into, and what is too much to read.
 *
 * A file is written whole by a temporary file that is renamed over it. Root can do that to /dev/null and /dev/stdout as
 * well, and then the machine has a regular file in their place.
 */
#ifndef NFSCURVE_COMMON_PATH_KIND_H
#define NFSCURVE_COMMON_PATH_KIND_H

#include <stdbool.h>
#include <sys/stat.h>

/* True for a regular file and for what is not there. Devices, FIFOs and symbolic links are written into. */
static inline bool path_is_replaceable(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 || S_ISREG(st.st_mode);
}

/* True for what is there and is no regular file of at most max_bytes: reading it may never end (/dev/zero), or never
 * begin (a FIFO). */
static inline bool path_is_endless(const char *path, off_t max_bytes)
{
    struct stat st;
    return stat(path, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_size > max_bytes);
}

/* True for a FIFO, a socket or a device by its own name: a FIFO waits for its writer for ever, and opening some devices
 * does something. A directory says by itself that it cannot be read. Links are followed by whoever reads: the shell's
 * <(command) and /dev/stdin are links to pipes that have a writer. */
static inline bool path_is_special(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode);
}

#endif
