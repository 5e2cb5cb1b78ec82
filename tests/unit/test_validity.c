#include "result.h"
#include "validity.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct point_result point(void)
{
    struct point_result p;
    point_init(&p);
    p.requested_ops_per_s = p.achieved_ops_per_s = 1000;
    p.n_ops = 10000;
    p.n_failed = 0;
    p.run_s = p.shortest_run_s = p.longest_run_s = 10;
    return p;
}

static void set_mix(struct point_result *p, enum nfs_op op, double target, double percent)
{
    p->ops[op].is_present = true;
    p->ops[op].target_percent = target;
    p->ops[op].percent = percent;
}

static void expect(struct point_result *p, bool is_valid, const char *word)
{
    validity_check_point(p, 10000);
    cr_assert_eq(p->is_valid, is_valid);
    const char *reason = json_string_value(json_array_get(p->invalid_reasons, 0));
    cr_assert(is_valid || strstr(reason, word), "%s", reason);
    point_fini(p);
}

Test(validity, good_point_is_valid)
{
    struct point_result p = point();
    set_mix(&p, NFS_OP_READ, 18, 18.3);
    expect(&p, true, "");
}

Test(validity, mix_may_be_one_and_a_half_points_off_and_no_more)
{
    struct point_result p = point();
    set_mix(&p, NFS_OP_READ, 18, 19.5);
    expect(&p, true, "");
    p = point();
    set_mix(&p, NFS_OP_READ, 18, 19.501);
    expect(&p, false, "read");
    p = point();
    set_mix(&p, NFS_OP_READ, 18, 16.49);
    expect(&p, false, "read");
}

Test(validity, op_with_a_target_of_zero_counts_too)
{
    struct point_result p = point();
    set_mix(&p, NFS_OP_MKDIR, 0, 1.6);
    expect(&p, false, "mkdir");
}

Test(validity, failures_must_be_below_one_percent)
{
    struct point_result p = point();
    p.n_failed = 99;
    expect(&p, true, "");
    p = point();
    p.n_failed = 100;
    expect(&p, false, "failures");
}

Test(validity, run_length_must_be_within_one_percent)
{
    struct point_result p = point();
    p.shortest_run_s = 9.9;
    p.longest_run_s = 10.1;
    expect(&p, true, "");
    p = point();
    p.shortest_run_s = 9.89;
    expect(&p, false, "run length");
    p = point();
    p.longest_run_s = 10.11;
    expect(&p, false, "run length");
}

Test(validity, lost_process_is_named_with_reason_and_time)
{
    struct point_result p = point();
    struct lost_process *lost = calloc(1, sizeof *lost);
    result_set(&lost->loadgen, "lg2");
    result_set(&lost->reason, "killed by signal 9");
    lost->process = 3;
    lost->at_s = 12.3;
    p.lost = lost;
    p.n_lost = 1;
    validity_check_point(&p, 10000);
    cr_assert_str_eq(json_string_value(json_array_get(p.invalid_reasons, 0)),
                     "lost: load generator lg2 process 3 at 12.3 s: killed by signal 9");
    point_fini(&p);
}

Test(validity, nothing_done_is_invalid)
{
    struct point_result p = point();
    p.n_ops = 0;
    expect(&p, false, "no operation succeeded");
}

Test(validity, saturated_is_noted_and_valid)
{
    struct point_result p = point();
    p.achieved_ops_per_s = 949;
    validity_check_point(&p, 10000);
    cr_assert(p.is_valid);
    cr_assert(p.is_saturated);
    cr_assert(strstr(json_string_value(json_array_get(p.notes, 0)), "94.9 %"));
    point_fini(&p);
    p = point();
    p.achieved_ops_per_s = 950;
    validity_check_point(&p, 10000);
    cr_assert_not(p.is_saturated);
    point_fini(&p);
}

static bool is_limited(struct generator_evidence e)
{
    char why[256] = "";
    bool limited = validity_is_generator_limited(&e, why, sizeof why);
    cr_assert_eq(limited, strstr(why, "generator-limited") != NULL);
    return limited;
}

Test(validity, slow_server_at_saturation_is_never_the_generator)
{
    /* all slots wait, loops idle, what could go went at once: whatever the server's response time */
    for (double response_us = 200; response_us < 1e7; response_us *= 3) {
        for (double achieved = 1; achieved < 95; achieved += 10) {
            cr_assert_not(is_limited((struct generator_evidence){achieved, response_us, 60, 450, 30, 40, 0, 0, 0}));
        }
    }
}

Test(validity, full_loop_is_the_generator)
{
    cr_assert(is_limited((struct generator_evidence){100, 100, 20, 90, 40, 96, 0, 0, 0}));
    cr_assert(is_limited((struct generator_evidence){80, 100, 20, 90, 96, 50, 0, 0, 0}));
    cr_assert(is_limited((struct generator_evidence){NAN, 100, NAN, NAN, NAN, 99, 0, 0, 0}));
}

Test(validity, starved_process_is_the_generator_though_its_cpu_is_low)
{
    cr_assert(is_limited((struct generator_evidence){60, 300, 2500, 12000, 30, 45, 0, 0, 0}));
    cr_assert(is_limited((struct generator_evidence){100, 300, 2500, 12000, 30, 45, 0, 0, 0}));
}

Test(validity, loops_that_have_work_and_no_cpu_are_the_generator)
{
    /* two processes beside eight busy loops on one core, as measured: 82 % achieved, lateness too small to tell */
    struct generator_evidence e = {82, 540, 302, 3800, 63, 6.2, 57, 9.3, 0};
    cr_assert(is_limited(e));
    e = (struct generator_evidence){100, 540, 30, 300, 63, 6.2, 57, 0, 0};
    cr_assert(is_limited(e));
    e = (struct generator_evidence){100, 540, 30, 300, 30, 6.2, 24, 0, 0};
    cr_assert_not(is_limited(e));
    e = (struct generator_evidence){82, 540, 30, 300, 18, 6.2, 12, 0, 0};
    cr_assert_not(is_limited(e));
}

Test(validity, lateness_without_waiting_for_slots_is_the_generator)
{
    cr_assert(is_limited((struct generator_evidence){82, 540, 302, 3800, 20, 10, 5, 9.3, 0}));
    cr_assert_not(is_limited((struct generator_evidence){82, 540, 302, 3800, 20, 10, 5, 9.3, 60}));
}

Test(validity, some_lateness_beside_long_response_times_is_noise)
{
    cr_assert_not(is_limited((struct generator_evidence){100, 20000, 1500, 9000, 30, 45, 0, 0, 0}));
    cr_assert_not(is_limited((struct generator_evidence){100, 400, 800, 4000, 30, 45, 0, 0, 0}));
}

Test(validity, unknown_evidence_accuses_nobody)
{
    cr_assert_not(is_limited((struct generator_evidence){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}));
}
