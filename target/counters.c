#include "counters.h"

static uint64_t get(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void counters_add(struct counters *sum, const struct counters *counters)
{
    for (unsigned op = 0; op < FAULT_OP_COUNT; op++) {
        counter_add(&sum->ops[op].n_calls, get(&counters->ops[op].n_calls));
        counter_add(&sum->ops[op].n_errors, get(&counters->ops[op].n_errors));
        counter_add(&sum->ops[op].n_faults, get(&counters->ops[op].n_faults));
    }
    counter_add(&sum->n_garbage, get(&counters->n_garbage));
    counter_add(&sum->n_delayed, get(&counters->n_delayed));
    counter_add(&sum->read_bytes, get(&counters->read_bytes));
    counter_add(&sum->write_bytes, get(&counters->write_bytes));
}

const char *counters_op_name(unsigned op)
{
    static const char *const mount_names[] = {"mount_null", "mnt", "dump", "umnt", "umntall", "export"};
    return op < NFS_OP_COUNT ? nfs_op_name(op) : mount_names[op - NFS_OP_COUNT];
}

json_t *counters_to_json(const struct counters *counters)
{
    json_t *ops = json_object();
    for (unsigned op = 0; op < FAULT_OP_COUNT; op++) {
        uint64_t n_calls = get(&counters->ops[op].n_calls);
        if (n_calls > 0) {
            json_object_set_new(ops, counters_op_name(op),
                                json_pack("{s:I, s:I, s:I}", "calls", (json_int_t)n_calls, "errors",
                                          (json_int_t)get(&counters->ops[op].n_errors), "faults",
                                          (json_int_t)get(&counters->ops[op].n_faults)));
        }
    }
    return json_pack("{s:o, s:I, s:I, s:I, s:I}", "ops", ops, "garbage_args", (json_int_t)get(&counters->n_garbage),
                     "delayed", (json_int_t)get(&counters->n_delayed), "read_bytes",
                     (json_int_t)get(&counters->read_bytes), "write_bytes", (json_int_t)get(&counters->write_bytes));
}
