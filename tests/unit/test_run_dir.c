/* test_run_dir.c - a run directory belongs to one campaign. */
#include "run_dir.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[64], path[128], message[1024];

static void make_root(void)
{
    snprintf(root, sizeof root, "/tmp/test-run-dir-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/a/b", root);
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    cr_assert_eq(system(command), 0);
}

TestSuite(run_dir, .init = make_root, .fini = remove_root);

static json_t *campaign(double run_s, const char *name)
{
    return json_pack("{s:f, s:s, s:[f,f]}", "run_s", run_s, "name", name, "load_ops_per_s", 0.1, 1.0 / 3);
}

static int create(int n_repeats, struct run_dir *dir)
{
    json_t *c = campaign(60, "n");
    int rc = run_dir_create(path, "n", n_repeats, c, dir, message, sizeof message);
    json_decref(c);
    return rc;
}

static int resume(double run_s, const char *name, struct run_dir *dir)
{
    json_t *c = campaign(run_s, name);
    int rc = run_dir_resume(path, 1, c, dir, message, sizeof message);
    json_decref(c);
    return rc;
}

Test(run_dir, is_made_with_all_its_parents_and_a_place_for_points)
{
    struct run_dir dir;
    cr_assert_eq(create(1, &dir), 0, "%s", message);
    char *points = run_dir_file(&dir, "points"), *file = run_dir_file(&dir, "campaign.json");
    cr_assert_eq(access(points, W_OK), 0);
    cr_assert_eq(access(file, R_OK), 0);
    free(points);
    free(file);
    run_dir_fini(&dir);
}

Test(run_dir, holds_one_run_only)
{
    struct run_dir dir;
    cr_assert_eq(create(1, &dir), 0);
    run_dir_fini(&dir);
    cr_assert_eq(create(1, &dir), -EEXIST);
    cr_assert_not_null(strstr(message, "--resume"));
    run_dir_fini(&dir);
}

Test(run_dir, repeats_have_directories_of_their_own)
{
    struct run_dir dir;
    cr_assert_eq(create(3, &dir), 0);
    for (int k = 0; k < 3; k++) {
        char expected[256];
        char *repeat = run_dir_of_repeat(&dir, k);
        snprintf(expected, sizeof expected, "%s/repeat-%d", path, k + 1);
        cr_assert_str_eq(repeat, expected);
        strncat(expected, "/points", sizeof expected - strlen(expected) - 1);
        cr_assert_eq(access(expected, W_OK), 0);
        free(repeat);
    }
    run_dir_fini(&dir);
}

Test(run_dir, is_resumed_with_the_same_campaign_only)
{
    struct run_dir dir;
    cr_assert_eq(create(1, &dir), 0);
    run_dir_fini(&dir);
    cr_assert_eq(resume(60, "n", &dir), 0, "%s", message);
    cr_assert(dir.is_resumed);
    run_dir_fini(&dir);
    cr_assert_eq(resume(61, "m", &dir), -EINVAL);
    cr_assert_not_null(strstr(message, "changed: run_s, name"), "%s", message);
    run_dir_fini(&dir);
}

Test(run_dir, is_used_by_one_at_a_time)
{
    struct run_dir first, second;
    cr_assert_eq(create(1, &first), 0);
    cr_assert_eq(resume(60, "n", &second), -EBUSY);
    cr_assert_not_null(strstr(message, "in use by another nfscurve"), "%s", message);
    run_dir_fini(&second);
    cr_assert_eq(create(1, &second), -EBUSY);
    run_dir_fini(&second);
    run_dir_fini(&first);
    cr_assert_eq(resume(60, "n", &second), 0, "%s", message);
    run_dir_fini(&second);
}

Test(run_dir, what_is_not_there_cannot_be_resumed)
{
    struct run_dir dir;
    cr_assert_eq(resume(60, "n", &dir), -ENOENT);
    cr_assert_not_null(strstr(message, "campaign.json"));
    run_dir_fini(&dir);
}
