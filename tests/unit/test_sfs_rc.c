/* test_sfs_rc.c - sfs_rc files as campaigns. */
#include "sfs_rc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char message[512];

static struct sfs_rc parse(const char *text)
{
    struct sfs_rc rc;
    cr_assert_eq(sfs_rc_parse("rc", text, &rc, message, sizeof message), 0, "%s", message);
    return rc;
}

/* The campaign as compact text with sorted keys, and the remarks. */
static char *convert(const char *text, char **remarks)
{
    size_t size;
    struct sfs_rc rc = parse(text);
    FILE *file = open_memstream(remarks, &size);
    json_t *campaign = sfs_rc_to_campaign(&rc, "rc", file, message, sizeof message);
    fclose(file);
    char *out = campaign != NULL ? json_dumps(campaign, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(campaign);
    sfs_rc_fini(&rc);
    return out;
}

Test(sfs_rc, shell_assignments_are_read)
{
    struct sfs_rc rc = parse("# comment\nLOAD=100\nCLIENTS=\"lg1 lg2\" # two\nexport PROCS='8'\nexport PROCS\n"
                             "MNT_POINTS=\"s:/a \\\n s:/b\"; RUNTIME=300\nEMPTY=\nLOAD=200\n");
    cr_assert_str_eq(sfs_rc_get(&rc, "LOAD"), "200");
    cr_assert_str_eq(sfs_rc_get(&rc, "CLIENTS"), "lg1 lg2");
    cr_assert_str_eq(sfs_rc_get(&rc, "PROCS"), "8");
    cr_assert_str_eq(sfs_rc_get(&rc, "MNT_POINTS"), "s:/a   s:/b");
    cr_assert_str_eq(sfs_rc_get(&rc, "RUNTIME"), "300");
    cr_assert_null(sfs_rc_get(&rc, "EMPTY"));
    sfs_rc_fini(&rc);
}

Test(sfs_rc, what_is_no_assignment_is_refused_with_its_line)
{
    struct sfs_rc rc;
    cr_assert_eq(sfs_rc_parse("rc", "LOAD=1\nrm -rf x\n", &rc, message, sizeof message), -EINVAL);
    cr_assert_str_eq(message, "rc:2: expected KEY=value as in an sfs_rc file");
    sfs_rc_fini(&rc);
    cr_assert_eq(sfs_rc_parse("rc", "LOAD=\"1\n", &rc, message, sizeof message), -EINVAL);
    sfs_rc_fini(&rc);
}

Test(sfs_rc, becomes_a_campaign_and_names_what_has_no_meaning)
{
    char *remarks;
    char *campaign = convert("LOAD=1000\nINCR_LOAD=1000\nNUM_RUNS=10\nPROCS=8\nCLIENTS=\"lg1 lg2\"\n"
                             "MNT_POINTS=\"nas:/fs1 nas:/fs2\"\nBIOD_MAX_WRITES=2\nBIOD_MAX_READS=4\nTCP=on\n"
                             "FS_PROTOCOL=nfs\nBLOCK_SIZE=64\nRUNTIME=300\nWARMUP_TIME=300\nDEBUG=1\nODD=3\n"
                             "PRIME_MON_SCRIPT=mon\nPRIME_MON_ARGS=\"a b\"\n",
                             &remarks);
    cr_assert_str_eq(
        campaign,
        "{\"biod_max_read\":4,\"biod_max_write\":2,\"block_size_kib\":64,\"load_ops_per_s\":{\"first\":1000,"
        "\"increment\":1000,\"points\":10},\"loadgens\":[{\"host\":\"lg1\"},{\"host\":\"lg2\"}],\"monitor\":{"
        "\"args\":[\"a\",\"b\"],\"script\":\"mon\"},\"name\":\"imported\",\"processes_per_loadgen\":8,\"run_s\":300,"
        "\"targets\":[{\"export\":\"/fs1\",\"mount_port\":0,\"name\":\"fs1\",\"nfs_port\":0,\"server\":\"nas\"},"
        "{\"export\":\"/fs2\",\"mount_port\":0,\"name\":\"fs2\",\"nfs_port\":0,\"server\":\"nas\"}],\"warmup_s\":300,"
        "\"workload\":\"sfs2008\"}");
    cr_assert_str_eq(remarks, "rc:14: DEBUG has no meaning here: logs are in the run directory\n"
                              "rc:15: ODD is no key of sfs_rc that is known: left out\n");
    free(campaign);
    free(remarks);
}

Test(sfs_rc, without_fs_protocol_it_is_the_older_generation)
{
    char *remarks;
    char *campaign = convert("LOAD=\"100 200 300\"\nCLIENTS=lg1\nMNT_POINTS=nas:/fs1\n", &remarks);
    cr_assert_not_null(strstr(campaign, "\"workload\":\"sfs3\""));
    cr_assert_not_null(strstr(campaign, "\"load_ops_per_s\":[100,200,300]"));
    free(campaign);
    free(remarks);
}

Test(sfs_rc, what_cannot_be_done_is_refused)
{
    static const char *const bad[][2] = {
        {"CLIENTS=a\nMNT_POINTS=s:/a\n", "rc: has no LOAD: no campaign can be made of it"},
        {"LOAD=x\nCLIENTS=a\nMNT_POINTS=s:/a\n",
         "rc:1: LOAD is \"x\": expected a load in ops/s, or a quoted list of loads"},
        {"LOAD=1\nCLIENTS=a\nMNT_POINTS=s\n", "rc:3: MNT_POINTS is \"s\": expected server:/path for every mount point"},
        {"LOAD=1\nCLIENTS=a\nMNT_POINTS=s:/a\nNFS_VERSION=2\n",
         "rc:4: NFS_VERSION is \"2\": nfscurve drives NFS version 3 only"},
        {"LOAD=1\nCLIENTS=a\nMNT_POINTS=s:/a\nFS_PROTOCOL=cifs\n",
         "rc:4: FS_PROTOCOL is \"cifs\": nfscurve drives NFSv3 only"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *remarks;
        cr_assert_null(convert(bad[i][0], &remarks));
        cr_assert_str_eq(message, bad[i][1]);
        free(remarks);
    }
}
