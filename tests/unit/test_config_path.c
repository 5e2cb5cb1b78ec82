#include "config_path.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Test(config_path, presets_are_found_from_the_program_s_own_place)
{
    char *path = NULL;
    unsetenv("NFSCURVE_CONFIGS");
    cr_assert_eq(chdir("/"), 0); /* not from the working directory */
    cr_assert_eq(config_path_find("workloads", "sfs3", &path), 0);
    cr_assert_eq(access(path, R_OK), 0);
    cr_assert_not_null(strstr(path, "/configs/workloads/sfs3.json"));
    free(path);
    char *list = config_path_list("workloads");
    cr_assert_not_null(strstr(list, "sfs2008, sfs3"), "%s", list);
    free(list);
}

Test(config_path, environment_comes_first_and_adds_names)
{
    char directory[] = P_tmpdir "/test_config_path.XXXXXX", kind[64], file[96], *path = NULL;
    cr_assert_not_null(mkdtemp(directory));
    snprintf(kind, sizeof kind, "%s/workloads", directory);
    snprintf(file, sizeof file, "%s/sfs3.json", kind);
    cr_assert_eq(mkdir(kind, 0700), 0);
    fclose(fopen(file, "w"));
    setenv("NFSCURVE_CONFIGS", directory, 1);
    cr_assert_eq(config_path_find("workloads", "sfs3", &path), 0);
    cr_assert_str_eq(path, file);
    free(path);
    cr_assert_eq(config_path_find("workloads", "sfs2008", &path), 0); /* what it lacks is found elsewhere */
    free(path);
    unlink(file);

    snprintf(file, sizeof file, "%s/aaa.json", kind);
    fclose(fopen(file, "w"));
    char *list = config_path_list("workloads");
    cr_assert_eq(strncmp(list, "aaa, ", 5), 0, "%s", list);
    free(list);
    unlink(file);
    rmdir(kind);
    rmdir(directory);
}

Test(config_path, names_that_could_leave_the_directory_are_refused)
{
    char *path, longest[400];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    cr_assert_eq(config_path_find("workloads", "../workloads/sfs3", &path), -EINVAL);
    cr_assert_eq(config_path_find("workloads", "sfs3.json", &path), -EINVAL);
    cr_assert_eq(config_path_find("workloads", "", &path), -EINVAL);
    cr_assert_eq(config_path_find("workloads", longest, &path), -EINVAL);
    cr_assert_eq(config_path_find("workloads", "sfs4", &path), -ENOENT);
}

Test(config_path, kind_without_files_lists_none)
{
    char *list = config_path_list("nothing");
    cr_assert_str_eq(list, "none");
    free(list);
}
