/* test_host_facts.c - CPU percent by arithmetic, and that this host tells something of itself. */
#include "host_facts.h"

#include <criterion/criterion.h>
#include <string.h>

Test(host_facts, busy_is_everything_but_idle_and_iowait)
{
    struct host_cpu cpu = host_cpu_parse("cpu  10 20 30 400 50 6 7 8 9 10\ncpu0 1 2 3 4\n");

    cr_assert_eq(cpu.total, 10 + 20 + 30 + 400 + 50 + 6 + 7 + 8);
    cr_assert_eq(cpu.busy, 10 + 20 + 30 + 6 + 7 + 8);
}

Test(host_facts, old_kernels_have_fewer_columns)
{
    struct host_cpu cpu = host_cpu_parse("cpu  1 2 3 4\n");

    cr_assert_eq(cpu.total, 10);
    cr_assert_eq(cpu.busy, 6);
}

Test(host_facts, nonsense_is_zero)
{
    cr_assert_eq(host_cpu_parse("").total, 0);
    cr_assert_eq(host_cpu_parse("intr 1 2 3").total, 0);
}

Test(host_facts, percent_is_of_the_time_between)
{
    struct host_cpu from = {100, 1000}, to = {175, 1100};

    cr_assert_float_eq(host_cpu_percent(from, to), 75.0, 1e-9);
    cr_assert_float_eq(host_cpu_percent(from, from), 0, 1e-9);
    cr_assert_float_eq(host_cpu_percent(to, from), 0, 1e-9);
}

Test(host_facts, this_host_has_cpus_and_memory)
{
    struct host_facts facts;

    host_facts_read(&facts);
    cr_assert_geq(facts.n_cpus, 1);
    cr_assert_gt(facts.memory_bytes, 1 << 20);
    cr_assert_neq(facts.hostname[0], 0);
    cr_assert_neq(facts.cpu_model[0], 0);
    cr_assert_not_null(strstr(facts.os, "Linux"));
    cr_assert_gt(host_cpu_read().total, 0);
}
