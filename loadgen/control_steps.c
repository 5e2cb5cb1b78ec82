/* control_steps.c - see control_steps.h. */
#include "control_steps.h"

#include "clock.h"
#include "control_collect.h"
#include "daemon.h"
#include "log.h"
#include "tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_START_IN_NS (60 * NS_PER_S)

_Static_assert(HISTOGRAM_BUCKETS == LG_MAX_BUCKETS && NFS_OP_COUNT == LG_MAX_OPS,
               "histogram.h and loadgen_prot.x agree");
_Static_assert(NFS_STATUS_COUNT <= LG_MAX_STATUS && OP_OUTCOME_COUNT <= LG_MAX_OUTCOMES &&
                   ANOMALY_COUNT <= LG_MAX_ANOMALIES && OP_CLASS_COUNT <= LG_MAX_CLASSES,
               "tally.h fits loadgen_prot.x");

/* One genuine call, whose lease is held where the step needs it. */
struct step_call {
    struct control_steps *steps;
    uint64_t session;
    mono_t at; /* when the call was read */
    const lg_request *request;
    lg_answer *answer;
    char *message;
    size_t cap;
};

static char *text_of(const char *text, size_t max)
{
    char cut[LG_MAX_TEXT + 1];

    snprintf(cut, max < LG_MAX_TEXT ? max + 1 : sizeof(cut), "%s", text ? text : "");
    return strdup(cut);
}

static int step_facts(struct step_call *call)
{
    struct daemon_holder holder = daemon_holder(call->steps->daemon);
    lg_facts *out = &call->answer->lg_answer_u.facts;

    out->hostname = text_of(call->steps->facts.hostname, LG_MAX_NAME);
    out->software = text_of(NFSCURVE_VERSION, LG_MAX_NAME);
    out->cpu_model = text_of(call->steps->facts.cpu_model, LG_MAX_NAME);
    out->os = text_of(call->steps->facts.os, LG_MAX_NAME);
    out->addresses = text_of(call->steps->facts.addresses, LG_MAX_TEXT);
    out->held_by_campaign = text_of(holder.campaign, LG_MAX_NAME);
    out->held_by_host = text_of(holder.prime_host, LG_MAX_NAME);
    out->n_cpus = call->steps->facts.n_cpus;
    out->memory_bytes = call->steps->facts.memory_bytes;
    out->wall_ns = wall_now().ns;
    out->lease_ns = daemon_lease_ns(call->steps->daemon);
    return 0;
}

static void forget_merged(struct control_steps *s)
{
    free(s->merged);
    s->merged = NULL;
}

static int step_configure(struct step_call *call)
{
    const lg_configure *c = &call->request->lg_request_u.configure;
    char campaign[LG_MAX_NAME + 1], prime_host[LG_MAX_NAME + 1];
    struct daemon_target *targets = calloc(c->targets.targets_len + 1, sizeof(*targets));
    int error = -ENOMEM;

    snprintf(call->message, call->cap, "out of memory");
    if (!targets) {
        return error;
    }
    for (u_int i = 0; i < c->targets.targets_len; i++) {
        const lg_target *t = &c->targets.targets_val[i];
        if (t->nfs_port > UINT16_MAX || t->mount_port > UINT16_MAX) {
            snprintf(call->message, call->cap, "target %u: a port is beyond 65535", i);
            error = -EINVAL;
            goto out;
        }
        targets[i] =
            (struct daemon_target){t->name, t->server, t->export_path, (uint16_t)t->nfs_port, (uint16_t)t->mount_port};
    }
    /* They are shown to others (busy: held by ...) and logged. */
    log_quote(campaign, sizeof(campaign), c->campaign, strlen(c->campaign));
    log_quote(prime_host, sizeof(prime_host), c->prime_host, strlen(c->prime_host));
    struct daemon_config config = {
        .campaign = campaign,
        .prime_host = prime_host,
        .workload_json = c->workload,
        .engine = c->engine,
        .n_targets = c->targets.targets_len,
        .targets = targets,
        .n_processes = c->process_targets.process_targets_len,
        .process_targets = c->process_targets.process_targets_val,
        .n_connections = c->n_connections,
        .timeout_ns = c->timeout_ns,
        .uid = c->uid,
        .gid = c->gid,
        .n_gids = c->gids.gids_len,
        .reserved_port = c->reserved_port,
        .source_address = c->source_address,
        .machine_name = c->machine_name,
    };
    for (u_int i = 0; i < c->gids.gids_len; i++) {
        config.gids[i] = c->gids.gids_val[i];
    }
    error = daemon_configure(call->steps->daemon, call->session, &config, call->message, call->cap);
    if (!error) {
        forget_merged(call->steps);
    }
out:
    free(targets);
    return error;
}

static int step_layout(struct step_call *call)
{
    u_int n = call->request->lg_request_u.layout.layouts.layouts_len;
    struct process_layout *layouts = calloc(n + 1, sizeof(*layouts));

    if (!layouts) {
        snprintf(call->message, call->cap, "out of memory");
        return -ENOMEM;
    }
    for (u_int i = 0; i < n; i++) {
        const lg_layout *l = &call->request->lg_request_u.layout.layouts.layouts_val[i];
        layouts[i] = (struct process_layout){
            .loadgen = l->loadgen,
            .process = l->process,
            .target = l->target,
            .client = l->client,
            .seed = l->seed,
            .ops_per_s = l->ops_per_s,
            .first_file = l->first_file,
            .n_files = l->n_files,
            .file_bytes = l->file_bytes,
            .lg_n_files = l->lg_n_files,
            .lg_n_working_set = l->lg_n_working_set,
            .first_working_set = l->first_working_set,
            .n_working_set = l->n_working_set,
            .n_access_groups = l->n_access_groups,
            .n_directories = l->n_directories,
            .n_symlinks = l->n_symlinks,
            .n_non_io_files = l->n_non_io_files,
            .memory_bytes = l->memory_bytes,
        };
    }
    int error = daemon_set_layouts(call->steps->daemon, layouts, n, call->message, call->cap);
    free(layouts);
    return error;
}

static int step_start(struct step_call *call)
{
    static const enum daemon_phase_kind kinds[] = {
        [LG_PHASE_VALIDATE] = DAEMON_VALIDATE,
        [LG_PHASE_POPULATE] = DAEMON_POPULATE,
        [LG_PHASE_LOAD] = DAEMON_LOAD,
        [LG_PHASE_CLEAN] = DAEMON_CLEAN,
    };
    const lg_start *s = &call->request->lg_request_u.start;

    if (s->phase > LG_PHASE_CLEAN || s->start_in_ns < 0 || s->start_in_ns > MAX_START_IN_NS) {
        snprintf(call->message, call->cap, "an unknown phase, or a start that is too far away");
        return -EINVAL;
    }
    struct daemon_phase phase = {
        .kind = kinds[s->phase],
        .serial = s->serial,
        .validate_level = s->validate_level,
        .start_at = mono_plus_ns(call->at, s->start_in_ns), /* from when the call was read, not from now */
        .warmup_ns = s->warmup_ns,
        .run_ns = s->run_ns,
    };
    forget_merged(call->steps);
    return daemon_start(call->steps->daemon, &phase, call->message, call->cap);
}

static int step_status(struct step_call *call)
{
    const struct supervisor *s = daemon_supervisor(call->steps->daemon);
    lg_status *out = &call->answer->lg_answer_u.status;
    mono_t start = daemon_load_start(call->steps->daemon);
    uint32_t n = supervisor_n(s);

    snprintf(call->message, call->cap, "out of memory");
    out->since_start_ns = start.ns == MONO_NEVER.ns ? 0 : mono_since_ns(call->at, start);
    out->processes.processes_val = calloc(n, sizeof(lg_process_status));
    if (!out->processes.processes_val) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct process_shared *p = supervisor_shared(s, i);
        lg_process_status *o = &out->processes.processes_val[out->processes.processes_len++];
        const char *reason = supervisor_death_reason(s, i);
        char said[LG_MAX_TEXT + 1] = "";
        o->state = atomic_load(&p->state);
        o->is_dead = reason != NULL;
        o->done_serial = atomic_load(&p->done_serial);
        o->progress_done = atomic_load(&p->progress_done);
        o->progress_total = atomic_load(&p->progress_total);
        o->live_ops = atomic_load(&p->live_ops);
        o->live_response_sum_ns = atomic_load(&p->live_response_sum_ns);
        o->live_errors = atomic_load(&p->live_errors);
        if (!reason && o->state == PROCESS_FAILED) {
            log_quote(said, sizeof(said), p->message, strnlen(p->message, PROCESS_MESSAGE_MAX));
        } else {
            supervisor_is_silent(s, i, call->at, said, sizeof(said));
        }
        o->message = text_of(reason ? reason : said, LG_MAX_TEXT);
        if (!o->message) {
            return -ENOMEM;
        }
    }
    return 0;
}

static int step_collect(struct step_call *call)
{
    return control_collect(call->steps->daemon, &call->request->lg_request_u.collect, &call->steps->merged,
                           &call->answer->lg_answer_u.collected, call->message, call->cap);
}

static int step_stop(struct step_call *call)
{
    daemon_stop(call->steps->daemon);
    return 0;
}

static int step_release(struct step_call *call)
{
    forget_merged(call->steps);
    daemon_release(call->steps->daemon, "released by the prime");
    return 0;
}

static const struct step {
    const char *name;
    bool needs_lease;
    int (*serve)(struct step_call *call);
} STEPS[] = {
    [LG_FACTS] = {"FACTS", false, step_facts},   [LG_CONFIGURE] = {"CONFIGURE", false, step_configure},
    [LG_LAYOUT] = {"LAYOUT", true, step_layout}, [LG_START] = {"START", true, step_start},
    [LG_STATUS] = {"STATUS", true, step_status}, [LG_COLLECT] = {"COLLECT", true, step_collect},
    [LG_STOP] = {"STOP", true, step_stop},       [LG_RELEASE] = {"RELEASE", true, step_release},
};

void control_steps_init(struct control_steps *s, struct daemon *daemon)
{
    *s = (struct control_steps){.daemon = daemon};
    host_facts_read(&s->facts);
}

void control_steps_fini(struct control_steps *s)
{
    forget_merged(s);
}

int control_steps_serve(struct control_steps *s, uint64_t session, mono_t at, const lg_request *request,
                        lg_answer *answer, char *message, size_t cap)
{
    const struct step *step = &STEPS[request->step];
    struct step_call call = {s, session, at, request, answer, message, cap};

    answer->step = request->step;
    int error = step->needs_lease ? daemon_check_lease(s->daemon, session, message, cap) : 0;
    return error ? error : step->serve(&call);
}

const char *control_steps_name(lg_step step)
{
    return STEPS[step].name;
}
