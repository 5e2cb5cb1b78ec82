#include "nfs_op.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

Test(nfs_op, every_name_parses_back_to_its_procedure_in_any_case)
{
    for (unsigned i = 0; i < NFS_OP_COUNT; i++) {
        enum nfs_op op = NFS_OP_COUNT;
        const char *name = nfs_op_name((enum nfs_op)i);
        cr_assert_eq(nfs_op_parse(name, &op), 0);
        cr_assert_eq((unsigned)op, i);
        char upper[32];
        for (size_t c = 0; c <= strlen(name); c++) {
            upper[c] = name[c] >= 'a' && name[c] <= 'z' ? (char)(name[c] - 32) : name[c];
        }
        cr_assert_eq(nfs_op_parse(upper, &op), 0);
        cr_assert_eq((unsigned)op, i);
    }
}

Test(nfs_op, numbers_are_the_procedures_of_rfc_1813)
{
    cr_assert_str_eq(nfs_op_name(0), "null");
    cr_assert_str_eq(nfs_op_name(1), "getattr");
    cr_assert_str_eq(nfs_op_name(6), "read");
    cr_assert_str_eq(nfs_op_name(17), "readdirplus");
    cr_assert_str_eq(nfs_op_name(21), "commit");
}

Test(nfs_op, other_spellings_are_understood_and_nonsense_is_not)
{
    enum nfs_op op;
    cr_assert_eq(nfs_op_parse("RdirPlus", &op), 0);
    cr_assert_eq(op, NFS_OP_READDIRPLUS);
    cr_assert_eq(nfs_op_parse("statfs", &op), 0);
    cr_assert_eq(op, NFS_OP_FSSTAT);
    cr_assert_eq(nfs_op_parse("", &op), -EINVAL);
    cr_assert_eq(nfs_op_parse("open", &op), -EINVAL);
    cr_assert_eq(nfs_op_parse("read ", &op), -EINVAL);
}

Test(nfs_op, classes_tell_reading_writing_asking_and_changing_apart)
{
    cr_assert_eq(nfs_op_class(NFS_OP_READ), OP_CLASS_READ);
    cr_assert_eq(nfs_op_class(NFS_OP_WRITE), OP_CLASS_WRITE);
    cr_assert_eq(nfs_op_class(NFS_OP_COMMIT), OP_CLASS_WRITE);
    cr_assert_eq(nfs_op_class(NFS_OP_LOOKUP), OP_CLASS_METADATA);
    cr_assert_eq(nfs_op_class(NFS_OP_SETATTR), OP_CLASS_NAMESPACE);
    cr_assert_eq(nfs_op_class(NFS_OP_REMOVE), OP_CLASS_NAMESPACE);
    for (unsigned i = 0; i < OP_CLASS_COUNT; i++) {
        cr_assert_not_null(op_class_name((enum op_class)i));
    }
}

Test(nfs_op, statuses_map_both_ways_and_unknown_ones_to_the_last_index)
{
    unsigned n_known = 0;
    for (uint32_t status = 0; status < 10020; status++) {
        unsigned index = nfs_status_index(status);
        cr_assert_lt(index, NFS_STATUS_COUNT);
        if (index == NFS_STATUS_COUNT - 1) {
            continue;
        }
        n_known++;
        cr_assert_eq(nfs_status_value(index), status);
        cr_assert_eq(nfs_status_index(nfs_status_value(index)), index);
    }
    cr_assert_eq(n_known, 29); /* RFC 1813 2.6: OK and 28 errors */
    cr_assert_eq(nfs_status_index(0), 0);
    cr_assert_eq(nfs_status_index(UINT32_MAX), NFS_STATUS_COUNT - 1);
    cr_assert_eq(nfs_status_value(NFS_STATUS_COUNT - 1), UINT32_MAX);
    cr_assert_str_eq(nfs_status_name(nfs_status_index(2)), "NFS3ERR_NOENT");
    cr_assert_str_eq(nfs_status_name(nfs_status_index(10008)), "NFS3ERR_JUKEBOX");
    cr_assert_str_eq(nfs_status_name(nfs_status_index(3)), "NFS3ERR_?");
}
