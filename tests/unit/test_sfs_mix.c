/* test_sfs_mix.c - mix files of both versions. */
#include "sfs_mix.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

static double percent[NFS_OP_COUNT];
static char message[512];

static int parse(const char *text)
{
    return sfs_mix_parse("mix", text, percent, message, sizeof message);
}

Test(sfs_mix, version_2_lists_percentages)
{
    cr_assert_eq(parse("SFS MIXFILE VERSION 2\n# comment\nlookup 60\nread 30 # more\nWRITE 10\n"), 0, "%s", message);
    cr_assert_eq(percent[NFS_OP_LOOKUP], 60);
    cr_assert_eq(percent[NFS_OP_READ], 30);
    cr_assert_eq(percent[NFS_OP_WRITE], 10);
    cr_assert_eq(percent[NFS_OP_GETATTR], 0);
}

Test(sfs_mix, version_2_must_sum_to_100)
{
    cr_assert_eq(parse("SFS MIXFILE VERSION 2\nlookup 60\n"), -EINVAL);
    cr_assert_str_eq(message, "mix: shares sum to 60 %; they must sum to 100");
}

Test(sfs_mix, errors_name_their_line)
{
    cr_assert_eq(parse("SFS MIXFILE VERSION 2\n\nlokup 60\n"), -EINVAL);
    cr_assert_str_eq(message, "mix:3: \"lokup\" is no NFSv3 operation");
    cr_assert_eq(parse("SFS MIXFILE VERSION 2\nread x\n"), -EINVAL);
    cr_assert_str_eq(message, "mix:2: \"x\" is no percentage");
    cr_assert_eq(parse("SFS MIXFILE VERSION 2\nread 50\nread 50\n"), -EINVAL);
    cr_assert_str_eq(message, "mix:3: read is listed twice");
    cr_assert_eq(parse("SFS MIXFILE VERSION 3\n"), -EINVAL);
}

Test(sfs_mix, nfsstat_counts_become_percentages)
{
    cr_assert_eq(parse("Server rpc stats:\ncalls      badcalls   badclnt    badauth    xdrcall\n"
                       "1000       0          0          0          0       \n\n"
                       "Server nfs v2:\nnull             getattr\n5 50% 5 50%\n\n"
                       "Server nfs v3:\nnull             getattr          setattr          lookup           access\n"
                       "0         0%     250      25%     50        5%     400      40%     100      10%\n"
                       "readlink         read             write            create           mkdir\n"
                       "0         0%     150      15%     50        5%     0         0%     0         0%\n"),
                 0, "%s", message);
    cr_assert_lt(fabs(percent[NFS_OP_GETATTR] - 25), 1e-9);
    cr_assert_lt(fabs(percent[NFS_OP_LOOKUP] - 40), 1e-9);
    cr_assert_lt(fabs(percent[NFS_OP_READ] - 15), 1e-9);
    cr_assert_eq(percent[NFS_OP_READLINK], 0);
}

Test(sfs_mix, nfsstat_lists_are_read_too)
{
    cr_assert_eq(parse("nfs v3 server        total:       40\nnfs v3 server      getattr:       30\n"
                       "nfs v3 server       lookup:       10\nnfs v4 server  read: 99\n"),
                 0, "%s", message);
    cr_assert_eq(percent[NFS_OP_GETATTR], 75);
    cr_assert_eq(percent[NFS_OP_LOOKUP], 25);
}

Test(sfs_mix, text_without_a_mix_is_refused)
{
    cr_assert_eq(parse("hello\nworld 5\n"), -EINVAL);
    cr_assert_eq(parse(""), -EINVAL);
    cr_assert_eq(parse("Server nfs v3:\ngetattr lookup\n1 2 3\n"), -EINVAL);
}
