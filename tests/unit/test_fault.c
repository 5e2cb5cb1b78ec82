#include "fault.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static struct fault_set *rules(const char *rule)
{
    char message[512] = "";
    struct fault_set *set = fault_set_create(1);
    cr_assert_eq(fault_add(set, rule, message, sizeof message), 0, "%s", message);
    return set;
}

/* Which of the first 64 calls are hit, as bits. */
static uint64_t hits_of(struct fault_set *set, unsigned op)
{
    uint64_t bits = 0;
    struct fault_hits hits;
    for (unsigned i = 0; i < 64; i++) {
        fault_match(set, op, &hits);
        bits |= (uint64_t)(hits.n > 0) << i;
    }
    return bits;
}

Test(fault, no_rule_hits_nothing)
{
    struct fault_set *set = fault_set_create(1);
    cr_assert_eq(hits_of(set, NFS_OP_READ), 0);
    fault_set_destroy(set);
}

Test(fault, index_counts_calls_of_the_operation_from_one)
{
    struct fault_set *set = rules("read:index=5:status=NFS3ERR_IO");
    cr_assert_eq(hits_of(set, NFS_OP_WRITE), 0);
    cr_assert_eq(hits_of(set, NFS_OP_READ), 1u << 4);
    fault_set_destroy(set);
}

Test(fault, ranges_periods_and_times)
{
    struct fault_set *set = rules("any:index=2-4:drop");
    cr_assert_eq(hits_of(set, NFS_OP_GETATTR), 0xe);
    fault_set_destroy(set);
    set = rules("getattr+lookup:every=20:reset");
    cr_assert_eq(hits_of(set, NFS_OP_LOOKUP), UINT64_C(1) << 19 | UINT64_C(1) << 39 | UINT64_C(1) << 59);
    fault_set_destroy(set);
    set = rules("read:every=2:times=3:duplicate");
    cr_assert_eq(hits_of(set, NFS_OP_READ), 0x2a);
    fault_set_destroy(set);
}

Test(fault, probability_hits_its_share)
{
    struct fault_set *set = rules("read:probability=0.1:garbage");
    struct fault_hits hits;
    unsigned n = 0;
    for (int i = 0; i < 100000; i++) {
        fault_match(set, NFS_OP_READ, &hits);
        n += hits.n;
    }
    /* sd = sqrt(100000 * 0.1 * 0.9) = 95: six of them either way */
    cr_assert(n > 9430 && n < 10570, "%u hits", n);
    fault_set_destroy(set);
}

Test(fault, actions_carry_their_values)
{
    static const struct {
        const char *rule;
        struct fault_action action;
    } rows[] = {
        {"read:status=NFS3ERR_STALE", {.kind = FAULT_STATUS, .status = 70}},
        {"read:status=10008", {.kind = FAULT_STATUS, .status = 10008}},
        {"read:jukebox", {.kind = FAULT_STATUS, .status = 10008}},
        {"read:delay=20ms", {.kind = FAULT_DELAY, .duration_ns = 20000000}},
        {"read:pause=2s", {.kind = FAULT_PAUSE, .duration_ns = 2000000000}},
        {"read:truncate", {.kind = FAULT_TRUNCATE}},
        {"read:truncate=40", {.kind = FAULT_TRUNCATE, .has_bytes = true, .bytes = 40}},
        {"read:short_read=0", {.kind = FAULT_SHORT_READ, .has_bytes = true, .bytes = 0}},
        {"read:wrong_xid", {.kind = FAULT_WRONG_XID}},
        {"read:wrong_data", {.kind = FAULT_WRONG_DATA}},
        {"read:new_verifier", {.kind = FAULT_NEW_VERIFIER}},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fault_set *set = rules(rows[i].rule);
        struct fault_hits hits;
        fault_match(set, NFS_OP_READ, &hits);
        cr_assert_eq(hits.n, 1);
        const struct fault_action *a = fault_find(&hits, rows[i].action.kind);
        cr_assert_not_null(a, "%s", rows[i].rule);
        cr_assert_eq(a->status, rows[i].action.status);
        cr_assert_eq(a->duration_ns, rows[i].action.duration_ns);
        cr_assert_eq(a->has_bytes, rows[i].action.has_bytes);
        cr_assert_eq(a->bytes, rows[i].action.bytes);
        fault_set_destroy(set);
    }
}

Test(fault, several_rules_may_hit_one_call)
{
    char message[512];
    struct fault_set *set = rules("read:delay=1ms");
    struct fault_hits hits;
    cr_assert_eq(fault_add(set, "any:duplicate", message, sizeof message), 0);
    fault_match(set, NFS_OP_READ, &hits);
    cr_assert_eq(hits.n, 2);
    cr_assert(fault_find(&hits, FAULT_DELAY) && fault_find(&hits, FAULT_DUPLICATE));
    fault_set_destroy(set);
}

Test(fault, mount_procedures_have_rules_of_their_own)
{
    struct fault_set *set = rules("mnt:status=MNT3ERR_ACCES");
    cr_assert_eq(hits_of(set, FAULT_OP_MOUNT + 1), UINT64_MAX);
    cr_assert_eq(hits_of(set, NFS_OP_GETATTR), 0);
    fault_set_destroy(set);
}

Test(fault, replacing_starts_indices_again)
{
    struct fault_set *set = rules("read:index=3:drop"), *fresh = rules("read:index=1:drop");
    hits_of(set, NFS_OP_READ);
    fault_replace(set, fresh);
    cr_assert_eq(hits_of(set, NFS_OP_READ), 1);
    cr_assert_eq(hits_of(fresh, NFS_OP_READ), 0);
    fault_set_destroy(set);
    fault_set_destroy(fresh);
}

Test(fault, what_does_not_read_is_named)
{
    static const char *const wrong[] = {"",
                                        "read",
                                        "reed:drop",
                                        "read:index=0:drop",
                                        "read:index=5-3:drop",
                                        "read:index=x:drop",
                                        "read:every=0:drop",
                                        "read:probability=1.5:drop",
                                        "read:drop=1",
                                        "read:delay",
                                        "read:delay=5",
                                        "read:status=NFS3ERR_NO",
                                        "read:status",
                                        "read:drop:reset",
                                        "read:fly",
                                        "read:index=5",
                                        "read:truncate=-1",
                                        ":drop",
                                        "read:jukebox=1"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char message[512] = "";
        struct fault_set *set = fault_set_create(1);
        cr_assert_eq(fault_add(set, wrong[i], message, sizeof message), -EINVAL, "'%s' was taken", wrong[i]);
        cr_assert_gt(strlen(message), 10);
        cr_assert_eq(hits_of(set, NFS_OP_READ), 0);
        fault_set_destroy(set);
    }
}
