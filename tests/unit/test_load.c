/* The load phase against a client made here: replies come at the next turn of the loop, right or wrong by index. */
#include "load.h"

#include <criterion/criterion.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_WAITING 256

struct nfs3_client {
    struct event *event;
    struct load *load;
    struct nfs3_call *waiting[MAX_WAITING];
    uint32_t n_waiting, n_sent[NFS_OP_COUNT], n_done[NFS_OP_COUNT];
    uint32_t most_outstanding[NFS_OP_COUNT];
    uint64_t verifier;
    uint32_t n_replies, n_replies_until_run, n_replies_until_end, n_refused;
    /* faults by index (from 1) of the procedure */
    uint32_t bad_commit, short_write, short_read, empty_read;
    bool refuses, holds;
    /* WRITE requests seen: bytes written since the last COMMIT of each file */
    uint32_t n_commits_without_writes;
    uint64_t uncommitted[16];
};

static struct nfs3_client client;

static uint32_t row_of(const struct nfs3_fh *fh)
{
    return fh->data[0];
}

static void answer_read(const struct nfs3_call *call, struct nfs3_reply *reply)
{
    static const uint8_t data[65536];
    uint64_t size = fileset_ws_bytes(client.load->options.fileset, row_of(call->fh));
    uint64_t left = call->read.offset < size ? size - call->read.offset : 0;
    reply->read.data = data;
    reply->read.count = left < call->read.count ? (uint32_t)left : call->read.count;
    if (client.n_done[NFS_OP_READ] == client.short_read) {
        reply->read.count /= 2;
    }
    if (client.n_done[NFS_OP_READ] == client.empty_read) {
        reply->read.count = 0;
        reply->read.eof = true;
    }
}

static void answer(struct nfs3_call *call)
{
    struct nfs3_reply reply = {.result = NFS3_CALL_OK, .message = ""};
    client.n_done[call->op]++;
    switch (call->op) {
    case NFS_OP_READ:
        answer_read(call, &reply);
        break;
    case NFS_OP_WRITE:
        reply.write.count =
            client.n_done[NFS_OP_WRITE] == client.short_write ? call->write.count / 2 : call->write.count;
        reply.write.verifier = client.verifier;
        client.uncommitted[row_of(call->fh)] += reply.write.count;
        break;
    case NFS_OP_COMMIT:
        if (client.n_done[NFS_OP_COMMIT] == client.bad_commit) {
            client.verifier++;
        }
        reply.commit.verifier = client.verifier;
        client.n_commits_without_writes += client.uncommitted[row_of(call->fh)] == 0;
        client.uncommitted[row_of(call->fh)] = 0;
        break;
    default:
        break;
    }
    call->done = mono_now();
    /* The end comes by count, not by the clock: the run of a test does not depend on how busy the machine is. */
    if (++client.n_replies == client.n_replies_until_end) {
        client.load->end = call->done;
    }
    if (client.n_replies == client.n_replies_until_run + 1) {
        client.load->record.start = call->done;
    }
    call->on_done(call, &reply);
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    struct nfs3_call *batch[MAX_WAITING];
    uint32_t n = client.holds ? 0 : client.n_waiting;
    memcpy(batch, client.waiting, n * sizeof batch[0]);
    client.n_waiting -= n;
    for (uint32_t i = 0; i < n; i++) {
        answer(batch[i]);
    }
}

int nfs3_send(struct nfs3_client *c, struct nfs3_call *call)
{
    if (c->refuses) {
        if (++c->n_refused == 5) {
            c->load->end = mono_now();
        }
        return -107;
    }
    uint32_t n = 1;
    for (uint32_t i = 0; i < c->n_waiting; i++) {
        n += c->waiting[i]->op == call->op;
    }
    if (n > c->most_outstanding[call->op]) {
        c->most_outstanding[call->op] = n;
    }
    c->n_sent[call->op]++;
    call->started = call->sent = mono_now();
    c->waiting[c->n_waiting++] = call;
    struct timeval now = {0, 0};
    event_add(c->event, &now);
    return 0;
}

void nfs3_client_counters(const struct nfs3_client *c, struct nfs3_client_counters *out)
{
    (void)c;
    memset(out, 0, sizeof *out);
}

struct fixture {
    struct event_base *base;
    struct workload workload;
    struct fileset fileset;
    struct process_shared *shared;
    struct interval_writer *intervals;
    struct load *load;
    bool has_ended;
};

static struct fixture f;

static void on_end(struct load *load, void *arg)
{
    (void)load;
    (void)arg;
    f.has_ended = true;
    event_base_loopbreak(f.base);
}

/* Ten files of 100,000 bytes; one request at a time unless max_outstanding says otherwise. */
static void set_up(void)
{
    static uint64_t cycle[] = {100000};
    memset(&client, 0, sizeof client);
    client.verifier = 1;
    f.base = event_base_new();
    client.event = event_new(f.base, -1, 0, on_turn, NULL);
    f.workload = (struct workload){.counting = COUNTING_LOGICAL,
                                   .is_commit_byproduct = true,
                                   .file_size_kind = FILE_SIZE_FIXED,
                                   .file_size_bytes = 100000,
                                   .files_per_directory = 30,
                                   .popularity = POPULARITY_UNIFORM,
                                   .growth_limit_percent = 1000000,
                                   .append_percent = 50,
                                   .biod_max_read = 3,
                                   .biod_max_write = 2,
                                   .pacing = PACING_MAX,
                                   .max_outstanding = 1,
                                   .cycle = cycle,
                                   .n_cycle = 1,
                                   .cycle_bytes = 100000};
    f.workload.read_requests.n = f.workload.write_requests.n = 1;
    f.workload.read_requests.steps[0].percent = f.workload.write_requests.steps[0].percent = 100;
    f.workload.read_requests.steps[0].blocks = f.workload.write_requests.steps[0].blocks = 5;
    f.workload.mix_percent[NFS_OP_READ] = f.workload.mix_percent[NFS_OP_WRITE] = 50;
    struct process_layout l = {.client = 1,
                               .n_files = 10,
                               .file_bytes = 1000000,
                               .lg_n_files = 10,
                               .lg_n_working_set = 10,
                               .n_working_set = 10,
                               .n_access_groups = 12,
                               .n_directories = 1};
    char message[100];
    cr_assert_eq(fileset_init(&f.fileset, &f.workload, &l, message, sizeof message), 0);
    for (uint32_t k = 0; k < 10; k++) {
        f.fileset.ws_handles[k] = (struct nfs3_fh){.len = 1, .data = {(uint8_t)k}};
    }
    f.shared = calloc(1, sizeof *f.shared);
    struct interval_log *log =
        mmap(NULL, interval_log_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    f.intervals = interval_writer_create(log);
    f.has_ended = false;
}

static void start(int64_t warmup_ns, int64_t run_ns)
{
    struct load_options o = {.base = f.base,
                             .client = &client,
                             .fileset = &f.fileset,
                             .workload = &f.workload,
                             .shared = f.shared,
                             .intervals = f.intervals,
                             .read_block_bytes = 8192,
                             .write_block_bytes = 8192,
                             .dir_bytes = 8192,
                             .timeout_ns = NS_PER_S,
                             .start = mono_now(),
                             .warmup_ns = warmup_ns,
                             .run_ns = run_ns,
                             .ops_per_s = 1000,
                             .seed = 1,
                             .on_end = on_end};
    cr_assert_eq(load_create(&f.load, &o), 0);
    client.load = f.load;
}

/* Until n_replies have come; what is under way then is finished. */
static void run(uint32_t n_replies)
{
    client.n_replies_until_end = n_replies;
    start(client.n_replies_until_run > 0 ? 50 * NS_PER_S : 0, 100 * NS_PER_S);
    event_base_dispatch(f.base);
    cr_assert(f.has_ended);
    cr_assert_eq(load_n_active(f.load), 0);
}

static void tear_down(void)
{
    load_destroy(f.load);
    interval_writer_destroy(f.intervals);
    fileset_fini(&f.fileset);
    event_free(client.event);
    event_base_free(f.base);
    free(f.shared);
}

TestSuite(load, .init = set_up, .fini = tear_down);

Test(load, biods_of_a_request_never_exceed_their_limits)
{
    run(500);
    cr_expect_eq(client.most_outstanding[NFS_OP_READ], 3);
    cr_expect_eq(client.most_outstanding[NFS_OP_WRITE], 2);
    cr_expect_eq(client.most_outstanding[NFS_OP_COMMIT], 1);
    cr_expect_gt(f.shared->tally.ops[NFS_OP_WRITE].n_logical, 10u);
}

Test(load, each_write_request_ends_in_one_commit_and_is_one_logical_op)
{
    run(500);
    const struct tally *t = &f.shared->tally;
    cr_expect_eq(client.n_sent[NFS_OP_WRITE], 5 * client.n_sent[NFS_OP_COMMIT]);
    cr_expect_eq(client.n_commits_without_writes, 0);
    cr_expect_eq(t->ops[NFS_OP_COMMIT].n_logical, 0);
    cr_expect_eq(t->ops[NFS_OP_WRITE].from_sent.count, t->ops[NFS_OP_WRITE].n_logical);
    cr_expect_eq(tally_failed_rpcs(t), 0);
}

Test(load, a_changed_verifier_has_the_request_written_again_whichever_commit_it_is)
{
    for (uint32_t k = 1; k <= 8; k++) {
        if (k > 1) {
            tear_down();
            set_up();
        }
        client.bad_commit = k;
        run(200);
        const struct tally *t = &f.shared->tally;
        cr_assert_gt(client.n_done[NFS_OP_COMMIT], k);
        cr_expect_eq(t->n_anomaly[ANOMALY_VERIFIER_CHANGED], 1);
        cr_expect_eq(t->n_anomaly[ANOMALY_REWRITE], 1);
        cr_expect_eq(t->ops[NFS_OP_COMMIT].n_outcome[OP_WRONG], 1);
        /* That request's five WRITEs came twice, and it is not among the good ones. */
        cr_expect_eq(client.n_sent[NFS_OP_WRITE], 5 * client.n_sent[NFS_OP_COMMIT]);
    }
}

Test(load, short_writes_are_continued_and_legal_whichever_they_are)
{
    for (uint32_t k = 1; k <= 12; k++) {
        if (k > 1) {
            tear_down();
            set_up();
        }
        client.short_write = k;
        run(200);
        const struct tally *t = &f.shared->tally;
        cr_expect_eq(t->n_anomaly[ANOMALY_SHORT_WRITE], 1);
        cr_expect_eq(tally_failed_rpcs(t), 0);
        cr_expect_eq(client.n_sent[NFS_OP_WRITE], 5 * client.n_sent[NFS_OP_COMMIT] + 1);
    }
}

Test(load, short_reads_are_continued_but_not_good)
{
    for (uint32_t k = 1; k <= 12; k++) {
        if (k > 1) {
            tear_down();
            set_up();
        }
        client.short_read = k;
        run(200);
        const struct tally *t = &f.shared->tally;
        cr_expect_eq(t->n_anomaly[ANOMALY_SHORT_READ], 1);
        cr_expect_eq(t->ops[NFS_OP_READ].n_outcome[OP_WRONG], 1);
        cr_expect_eq(client.n_sent[NFS_OP_READ] % 5, 1, "the tail is one READ more");
    }
}

Test(load, an_end_of_file_that_can_t_be_ends_the_request)
{
    client.empty_read = 2;
    run(200);
    cr_expect_eq(f.shared->tally.n_anomaly[ANOMALY_SHORT_READ], 1);
    cr_expect_gt(f.shared->tally.ops[NFS_OP_READ].n_logical, 1);
}

Test(load, what_ends_in_the_warm_up_is_live_but_not_recorded)
{
    client.n_replies_until_run = 300;
    run(600);
    const struct tally *t = &f.shared->tally;
    uint64_t recorded = tally_good_ops(t, 0), live = atomic_load(&f.shared->live_ops), n_rpcs = 0;
    for (int i = 0; i < NFS_OP_COUNT; i++) {
        n_rpcs += t->ops[i].n_outcome[OP_OK];
    }
    cr_expect_eq(n_rpcs, client.n_replies - 300, "every reply since, the last ones of the drain too");
    cr_expect(recorded > 40 && recorded < 70 && live > 90, "%lu of %lu", recorded, live);
}

Test(load, a_stop_sends_nothing_more_and_waits_for_what_is_in_flight)
{
    start(0, 100 * NS_PER_S);
    client.holds = true;
    event_base_loop(f.base, EVLOOP_ONCE);
    event_base_loop(f.base, EVLOOP_ONCE);
    cr_assert_gt(client.n_waiting, 0);
    uint32_t n_sent = client.n_sent[NFS_OP_READ] + client.n_sent[NFS_OP_WRITE];
    load_stop(f.load);
    cr_expect_not(f.has_ended);
    client.holds = false;
    struct timeval now = {0, 0};
    event_add(client.event, &now);
    event_base_dispatch(f.base);
    cr_expect(f.has_ended);
    cr_expect_eq(client.n_sent[NFS_OP_READ] + client.n_sent[NFS_OP_WRITE], n_sent);
    cr_expect_eq(client.n_sent[NFS_OP_COMMIT], 0);
}

Test(load, requests_that_can_t_be_sent_do_not_spin)
{
    client.refuses = true;
    start(0, 100 * NS_PER_S);
    mono_t begin = mono_now();
    event_base_dispatch(f.base);
    cr_expect(f.has_ended);
    cr_expect_eq(client.n_refused, 5);
    cr_expect_geq(mono_since_ns(mono_now(), begin), 4 * 10 * NS_PER_MS, "a pause of 10 ms after each");
    cr_expect_eq(tally_good_ops(&f.shared->tally, 0), 0);
    cr_expect_eq(tally_failed_rpcs(&f.shared->tally), 5);
}

Test(load, many_at_once_never_share_a_file_with_a_writer)
{
    f.workload.max_outstanding = 8;
    run(500);
    cr_expect_gt(tally_good_ops(&f.shared->tally, 0), 50);
    cr_expect_eq(tally_failed_rpcs(&f.shared->tally), 0);
}
