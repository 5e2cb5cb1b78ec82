/* run_dir.c - see run_dir.h. Points and results are written by the results layer; here are the directories and
 * campaign.json. */
#include "run_dir.h"

#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int make_path(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL) {
        return -ENOMEM;
    }
    int rc = 0;
    for (char *p = copy + 1; rc == 0; p++) {
        if (*p != '/' && *p != '\0') {
            continue;
        }
        char saved = *p;
        *p = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
            rc = -errno;
        }
        *p = saved;
        if (saved == '\0') {
            break;
        }
    }
    free(copy);
    return rc;
}

/* runs/NAME-20261130-210500, with a number behind when two start in the same second. */
static char *fresh_path(const char *name)
{
    char stamp[32], plain[64];
    time_t now = time(NULL);
    struct tm tm;
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
    snprintf(plain, sizeof plain, "%s", name);
    for (char *p = plain; *p != '\0'; p++) {
        if (*p == '/' || (unsigned char)*p <= ' ' || (p == plain && *p == '.')) {
            *p = '_';
        }
    }
    char *path = text_format("runs/%s-%s", plain, stamp);
    for (int i = 2; path != NULL && access(path, F_OK) == 0 && i < 1000; i++) {
        free(path);
        path = text_format("runs/%s-%s-%d", plain, stamp, i);
    }
    return path;
}

/* Written beside, synced and renamed: a run directory never holds half a campaign. */
static int write_json(const char *path, const json_t *root)
{
    int rc = -ENOMEM;
    char *temporary = text_format("%s.tmp", path), *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    FILE *file = NULL;
    if (temporary == NULL || text == NULL) {
        goto out;
    }
    file = fopen(temporary, "we");
    if (file == NULL || fprintf(file, "%s\n", text) < 0 || fflush(file) != 0 || fsync(fileno(file)) != 0) {
        rc = -errno;
        goto out;
    }
    rc = rename(temporary, path) == 0 ? 0 : -errno;
out:
    if (file != NULL) {
        fclose(file);
    }
    if (rc != 0 && temporary != NULL) {
        unlink(temporary);
    }
    free(temporary);
    free(text);
    return rc;
}

char *run_dir_file(const struct run_dir *dir, const char *name)
{
    return text_format("%s/%s", dir->path, name);
}

char *run_dir_of_repeat(const struct run_dir *dir, int repeat)
{
    return dir->n_repeats > 1 ? text_format("%s/repeat-%d", dir->path, repeat + 1) : strdup(dir->path);
}

int run_dir_make_points(const struct run_dir *dir, const char *name)
{
    char *path = text_format("%s/%s%spoints", dir->path, name, name[0] ? "/" : "");
    int rc = path != NULL ? make_path(path) : -ENOMEM;
    free(path);
    return rc;
}

static int make_all(struct run_dir *dir)
{
    int rc = make_path(dir->path);
    if (dir->n_repeats <= 1) {
        return rc != 0 ? rc : run_dir_make_points(dir, "");
    }
    for (int i = 0; i < dir->n_repeats && rc == 0; i++) {
        char name[32];
        snprintf(name, sizeof name, "repeat-%d", i + 1);
        rc = run_dir_make_points(dir, name);
    }
    return rc;
}

/* Two runs in one directory would write over each other's points. The lock is the kernel's: it goes with the process,
 * and children do not inherit it. A file system without locks has none. */
static int lock_directory(struct run_dir *dir)
{
    dir->lock = opendir(dir->path);
    if (dir->lock == NULL) {
        return -errno;
    }
    return flock(dirfd(dir->lock), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK ? 0 : -EBUSY;
}

static void say_in_use(const struct run_dir *dir, char *message, size_t message_bytes)
{
    snprintf(message, message_bytes, "%s is in use by another nfscurve", dir->path);
}

static int write_campaign(const struct run_dir *dir, const json_t *campaign)
{
    int rc = 0;
    /* A copy in every repeat's directory makes each a run directory of its own, which report and compare can read. */
    for (int i = dir->n_repeats > 1 ? -1 : 0; i < (dir->n_repeats > 1 ? dir->n_repeats : 1) && rc == 0; i++) {
        char *path = i < 0 ? strdup(dir->path) : run_dir_of_repeat(dir, i);
        char *file = path != NULL ? text_format("%s/campaign.json", path) : NULL;
        rc = file != NULL ? write_json(file, campaign) : -ENOMEM;
        free(file);
        free(path);
    }
    return rc;
}

int run_dir_create(const char *path, const char *name, int n_repeats, const json_t *campaign, struct run_dir *out,
                   char *message, size_t message_bytes)
{
    *out = (struct run_dir){.n_repeats = n_repeats};
    out->path = path != NULL ? strdup(path) : fresh_path(name);
    char *existing = out->path != NULL ? run_dir_file(out, "campaign.json") : NULL;
    int rc = existing != NULL ? make_path(out->path) : -ENOMEM;
    if (rc == 0) {
        rc = lock_directory(out);
    }
    if (rc == -EBUSY) {
        say_in_use(out, message, message_bytes);
        goto out;
    }
    if (rc == 0 && access(existing, F_OK) == 0) {
        snprintf(message, message_bytes,
                 "%s holds a run already: go on with it by --resume %s, or name another directory by --out", out->path,
                 out->path);
        rc = -EEXIST;
        goto out;
    }
    if (rc == 0) {
        rc = make_all(out);
    }
    if (rc == 0) {
        rc = write_campaign(out, campaign);
    }
    if (rc != 0) {
        snprintf(message, message_bytes, "run directory %s cannot be written: %s; name another by --out",
                 out->path != NULL ? out->path : "?", strerror(-rc));
    }
out:
    free(existing);
    return rc;
}

/* Names the keys in which two campaigns differ. */
static void list_changes(const json_t *was, const json_t *is, char *out, size_t cap)
{
    const char *key;
    json_t *value;
    size_t n = 0;
    out[0] = '\0';
    json_object_foreach((json_t *)is, key, value)
    {
        if (!json_equal(value, json_object_get(was, key)) && n < cap) {
            n += (size_t)snprintf(out + n, cap - n, "%s%s", n > 0 ? ", " : "", key);
        }
    }
    json_object_foreach((json_t *)was, key, value)
    {
        if (json_object_get(is, key) == NULL && n < cap) {
            n += (size_t)snprintf(out + n, cap - n, "%s%s", n > 0 ? ", " : "", key);
        }
    }
}

int run_dir_resume(const char *path, int n_repeats, const json_t *campaign, struct run_dir *out, char *message,
                   size_t message_bytes)
{
    *out = (struct run_dir){.n_repeats = n_repeats, .is_resumed = true};
    out->path = strdup(path);
    char *file = out->path != NULL ? run_dir_file(out, "campaign.json") : NULL;
    json_error_t error;
    json_t *was = file != NULL ? json_load_file(file, 0, &error) : NULL;
    /* Through text, so that numbers compare as they were written. */
    char *text = json_dumps(campaign, JSON_REAL_PRECISION(17));
    json_t *is = text != NULL ? json_loads(text, 0, NULL) : NULL;
    int rc = 0;
    if (was == NULL || is == NULL) {
        snprintf(message, message_bytes, "%s cannot be resumed: %s: %s", path, file != NULL ? file : "", error.text);
        rc = -ENOENT;
    } else if (!json_equal(was, is)) {
        char changes[512];
        list_changes(was, is, changes, sizeof changes);
        snprintf(message, message_bytes,
                 "%s was begun with another campaign (changed: %s): points would not belong together; start a new run, "
                 "or resume with the "
                 "campaign as it was",
                 path, changes);
        rc = -EINVAL;
    } else {
        rc = lock_directory(out);
        if (rc == 0) {
            rc = make_all(out);
        }
        if (rc == -EBUSY) {
            say_in_use(out, message, message_bytes);
        } else if (rc != 0) {
            snprintf(message, message_bytes, "run directory %s cannot be written: %s", path, strerror(-rc));
        }
    }
    json_decref(was);
    json_decref(is);
    free(text);
    free(file);
    return rc;
}

void run_dir_fini(struct run_dir *dir)
{
    free(dir->path);
    if (dir->lock != NULL) {
        closedir(dir->lock);
    }
    *dir = (struct run_dir){0};
}
