/* file.h - whole files in and out, written so that a crash leaves the old file or the new one, never half of it. */
#ifndef NFSCURVE_RESULTS_FILE_H
#define NFSCURVE_RESULTS_FILE_H

#include <jansson.h>
#include <stddef.h>

#define FILE_MAX_BYTES (512u * 1024 * 1024)

/* Makes the directory if it is not there. 0 or -errno. */
int file_make_directory(const char *path);

/* Temporary file beside it, written, synced, renamed, directory synced; a device, FIFO or symbolic link is written
 * into. 0 or -errno. */
int file_write(const char *path, const void *data, size_t n);
int file_write_json(const char *path, const json_t *root);

/* Heap, *n bytes and a NUL. 0 or -errno (-EFBIG over FILE_MAX_BYTES). */
int file_read(const char *path, char **text, size_t *n);

/* Text with invalid UTF-8 repaired. 0, or -errno with the reason. */
int file_read_json(const char *path, json_t **root, char *why, size_t cap);
int file_parse_json(const char *name, const char *text, size_t n, json_t **root, char *why, size_t cap);

#endif
