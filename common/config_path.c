#include "config_path.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVELS_UP  4
#define NAMES_MAX  256
#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/* Directory of the running program, without the name; "" when unknown. */
static void program_directory(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(out, '/');
    if (slash) {
        *slash = '\0';
    }
}

/* The i-th directory that may hold configurations, into out; false when there are no more. "" is one to skip. */
static bool candidate(int i, char *out, size_t cap)
{
    char directory[PATH_MAX];
    const char *from_environment = getenv("NFSCURVE_CONFIGS");
    out[0] = '\0';
    if (i == 0) {
        if (from_environment && *from_environment) {
            snprintf(out, cap, "%s", from_environment);
        }
        return true;
    }
    program_directory(directory);
    if (i <= 1 + LEVELS_UP) {
        for (int up = 1; up < i; up++) {
            char *slash = strrchr(directory, '/');
            if (!slash) {
                return true;
            }
            *slash = '\0';
        }
        snprintf(out, cap, "%s/configs", directory);
        return true;
    }
    if (i == 2 + LEVELS_UP) {
        snprintf(out, cap, "%s/../share/nfscurve/configs", directory);
        return true;
    }
    if (i == 3 + LEVELS_UP) {
        snprintf(out, cap, "%s", NFSCURVE_CONFIG_DIR);
        return true;
    }
    return false;
}

int config_path_find(const char *kind, const char *name, char **path)
{
    char directory[PATH_MAX + 64];
    if (!*name || name[strspn(name, NAME_CHARS)] || strlen(name) > NAME_MAX - 5) {
        return -EINVAL;
    }
    for (int i = 0; candidate(i, directory, sizeof directory); i++) {
        char *full;
        if (!*directory) {
            continue;
        }
        if (asprintf(&full, "%s/%s/%s.json", directory, kind, name) < 0) {
            return -ENOMEM;
        }
        if (access(full, R_OK) == 0) {
            *path = full;
            return 0;
        }
        free(full);
    }
    return -ENOENT;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the names of one directory that are not there yet. */
static size_t list_directory(const char *directory, const char *kind, char *names[NAMES_MAX], size_t n)
{
    char full[PATH_MAX + 128];
    snprintf(full, sizeof full, "%s/%s", directory, kind);
    DIR *dir = opendir(full);
    if (!dir) {
        return n;
    }
    // cppcheck-suppress readdirCalled
    for (struct dirent *entry; n < NAMES_MAX && (entry = readdir(dir));) {
        size_t stem = strspn(entry->d_name, NAME_CHARS);
        if (stem == 0 || strcmp(entry->d_name + stem, ".json") != 0) {
            continue;
        }
        entry->d_name[stem] = '\0';
        bool is_known = false;
        for (size_t i = 0; i < n && !is_known; i++) {
            is_known = strcmp(names[i], entry->d_name) == 0;
        }
        if (!is_known && (names[n] = strdup(entry->d_name))) {
            n++;
        }
    }
    closedir(dir);
    return n;
}

char *config_path_list(const char *kind)
{
    char directory[PATH_MAX + 64], *names[NAMES_MAX] = {NULL}, *list = NULL;
    size_t n = 0, list_bytes;
    for (int i = 0; candidate(i, directory, sizeof directory); i++) {
        if (*directory) {
            n = list_directory(directory, kind, names, n);
        }
    }
    qsort(names, n, sizeof *names, compare_names);

    FILE *out = open_memstream(&list, &list_bytes);
    if (out) {
        for (size_t i = 0; i < n; i++) {
            fprintf(out, "%s%s", i ? ", " : "", names[i]);
        }
        if (n == 0) {
            fputs("none", out);
        }
        fclose(out);
    }
    for (size_t i = 0; i < n; i++) {
        free(names[i]);
    }
    return list;
}
