/* nfs3_probe.c - drives the NFS client of the load generator from the command line, for the tests of its engines.
 *
 *   nfs3_probe [options] ops          every procedure once, in a directory of its own; one line each: "lookup ok 0 ..."
 *   nfs3_probe [options] storm N W    N GETATTRs, W in flight; one line per completion: "k result"; then the counters
 *   nfs3_probe [options] runs A B N W run k = A..B-1: FSSTAT until it is answered, then N GETATTRs, W in flight; one
 * line each: "k: ok=.. broken=.. ... not_ok=1,2,3" nfs3_probe [options] mixed N W    the same with procedures in turn,
 * errors of the server allowed; the counters only nfs3_probe [options] connect N    N connections; the seconds that
 * took, then waits for end of file on stdin
 *
 * Options: -e native|libnfs  -s SERVER  -x EXPORT  -n NFS_PORT  -m MOUNT_PORT  -t TIMEOUT_MS  -c CONNECTIONS  -a
 * SOURCE_ADDRESS  -r (reserved) Exit status: 0, or 1 when the client did not get ready (the message is on stderr) or a
 * call completed twice or never.
 */
#include "nfs3_client.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static struct event_base *base;
static struct nfs3_client *client;
static int ready_error = 1;

static const char *const result_names[] = {"ok", "rpc_error", "broken", "timeout", "malformed"};

static void on_ready(struct nfs3_client *c, int error, const char *message, void *arg)
{
    (void)c, (void)arg;
    ready_error = error;
    if (error)
        fprintf(stderr, "%s (%s)\n", message, strerror(-error));
    event_base_loopbreak(base);
}

/* ---- ops ---- */

/* What outlives a call. */
struct answer {
    bool is_done;
    enum nfs3_call_result result;
    uint32_t status;
    struct nfs3_fh fh;
    bool has_fh, has_attributes, has_dir_attributes;
    struct nfs3_attributes attributes;
    uint64_t verifier;
    char detail[512];
};

static void describe(struct answer *a, const struct nfs3_call *call, const struct nfs3_reply *r)
{
    char *out = a->detail;
    size_t cap = sizeof a->detail;
    if (r->result != NFS3_CALL_OK) {
        snprintf(out, cap, "%s", r->message);
        return;
    }
    if (r->status)
        return;
    switch (call->op) {
    case NFS_OP_ACCESS:
        snprintf(out, cap, "access=%#x", r->access.access);
        break;
    case NFS_OP_READLINK:
        snprintf(out, cap, "path=%.*s", (int)r->readlink.len, r->readlink.path);
        break;
    case NFS_OP_READ:
        snprintf(out, cap, "count=%u eof=%d data=%.*s", r->read.count, r->read.eof,
                 (int)(r->read.count < 16 ? r->read.count : 16), (const char *)r->read.data);
        break;
    case NFS_OP_WRITE:
        a->verifier = r->write.verifier;
        snprintf(out, cap, "count=%u committed=%u", r->write.count, r->write.committed);
        break;
    case NFS_OP_COMMIT:
        snprintf(out, cap, "same_verifier=%d", r->commit.verifier == *(uint64_t *)call->owner);
        break;
    case NFS_OP_READDIR:
    case NFS_OP_READDIRPLUS: {
        size_t n = (size_t)snprintf(out, cap, "n=%u eof=%d", r->readdir.n, r->readdir.eof);
        for (uint32_t i = 0; i < r->readdir.n && n < cap - 64; i++) {
            const struct nfs3_dir_entry *e = &r->readdir.entries[i];
            n += (size_t)snprintf(out + n, cap - n, " %.*s%s%s", (int)(e->name_len < 40 ? e->name_len : 40), e->name,
                                  e->attributes ? "+a" : "", e->fh ? "+h" : "");
        }
        break;
    }
    case NFS_OP_FSSTAT:
        snprintf(out, cap, "tbytes=%llu", (unsigned long long)r->fsstat.tbytes);
        break;
    case NFS_OP_FSINFO:
        snprintf(out, cap, "rtmax=%u wtmax=%u maxfilesize=%llu properties=%#x", r->fsinfo.rtmax, r->fsinfo.wtmax,
                 (unsigned long long)r->fsinfo.maxfilesize, r->fsinfo.properties);
        break;
    case NFS_OP_PATHCONF:
        snprintf(out, cap, "linkmax=%u name_max=%u", r->pathconf.linkmax, r->pathconf.name_max);
        break;
    default:
        break;
    }
}

static struct answer *current;

static void on_answer(struct nfs3_call *call, const struct nfs3_reply *reply)
{
    struct answer *a = current;
    if (a->is_done) {
        fprintf(stderr, "completed twice\n");
        exit(1);
    }
    a->is_done = true;
    a->result = reply->result;
    a->status = reply->status;
    a->has_fh = reply->fh;
    if (reply->fh)
        a->fh = *reply->fh;
    a->has_attributes = reply->attributes;
    if (reply->attributes)
        a->attributes = *reply->attributes;
    a->has_dir_attributes = reply->dir_attributes;
    describe(a, call, reply);
    event_base_loopbreak(base);
}

/* Sends the call and waits for its answer. */
static struct answer ask_quietly(struct nfs3_call *call)
{
    static uint64_t verifier;
    struct answer a = {0};
    current = &a;
    call->on_done = on_answer;
    call->owner = &verifier;
    int error = nfs3_send(client, call);
    if (error) {
        printf("%s not sent: %s\n", nfs_op_name(call->op), strerror(-error));
        exit(1);
    }
    if (a.is_done) {
        printf("%s completed inside nfs3_send\n", nfs_op_name(call->op));
        exit(1);
    }
    event_base_dispatch(base);
    if (call->op == NFS_OP_WRITE)
        verifier = a.verifier;
    return a;
}

/* The same, and prints it. */
static struct answer ask(struct nfs3_call *call)
{
    struct answer a = ask_quietly(call);
    bool are_times_right = call->started.ns <= call->sent.ns && call->sent.ns <= call->done.ns;
    printf("%s %s %u times=%s attributes=%d dir=%d fh=%d %s\n", nfs_op_name(call->op), result_names[a.result], a.status,
           are_times_right ? "right" : "wrong", a.has_attributes, a.has_dir_attributes, a.has_fh, a.detail);
    return a;
}

static int run_ops(void)
{
    const struct nfs3_fh *root = nfs3_client_root(client);
    static uint8_t data[65536];
    char dir_name[64];
    memset(data, 'd', sizeof data);
    snprintf(dir_name, sizeof dir_name, "probe.%d", getpid());
    struct nfs3_set set = {.has_mode = true, .mode = 0755};
    struct nfs3_set file_set = {.has_mode = true, .mode = 0644, .has_size = true};

    ask(&(struct nfs3_call){.op = NFS_OP_NULL});
    ask(&(struct nfs3_call){.op = NFS_OP_FSINFO, .fh = root});
    ask(&(struct nfs3_call){.op = NFS_OP_FSSTAT, .fh = root});
    ask(&(struct nfs3_call){.op = NFS_OP_PATHCONF, .fh = root});
    struct nfs3_fh dir =
        ask(&(struct nfs3_call){.op = NFS_OP_MKDIR, .fh = root, .name = dir_name, .mkdir = {.set = set}}).fh;
    ask(&(struct nfs3_call){.op = NFS_OP_GETATTR, .fh = &dir});
    struct nfs3_fh file = ask(&(struct nfs3_call){.op = NFS_OP_CREATE,
                                                  .fh = &dir,
                                                  .name = "file",
                                                  .create = {.how = NFS3_CREATE_GUARDED, .set = file_set}})
                              .fh;
    ask(&(struct nfs3_call){.op = NFS_OP_CREATE,
                            .fh = &dir,
                            .name = "exclusive",
                            .create = {.how = NFS3_CREATE_EXCLUSIVE, .verifier = 0x1122334455667788}});
    ask(&(struct nfs3_call){
        .op = NFS_OP_WRITE, .fh = &file, .write = {.count = 4099, .stable = NFS3_UNSTABLE, .data = data}});
    ask(&(struct nfs3_call){.op = NFS_OP_COMMIT, .fh = &file});
    ask(&(struct nfs3_call){.op = NFS_OP_READ, .fh = &file, .read = {.offset = 1, .count = 8192}});
    ask(&(struct nfs3_call){.op = NFS_OP_SETATTR,
                            .fh = &file,
                            .setattr = {.set = {.has_mode = true,
                                                .mode = 0600,
                                                .atime_how = NFS3_TIME_SERVER,
                                                .mtime_how = NFS3_TIME_CLIENT,
                                                .mtime = {1000000000, 5}}}});
    struct answer got = ask(&(struct nfs3_call){.op = NFS_OP_GETATTR, .fh = &file});
    printf("file size=%llu mode=%o mtime=%u type=%u\n", (unsigned long long)got.attributes.size,
           got.attributes.mode & 07777, got.attributes.mtime.seconds, got.attributes.type);
    ask(&(struct nfs3_call){.op = NFS_OP_ACCESS, .fh = &file, .access = {.access = 0x3f}});
    ask(&(struct nfs3_call){.op = NFS_OP_LOOKUP, .fh = &dir, .name = "file"});
    ask(&(struct nfs3_call){.op = NFS_OP_LOOKUP, .fh = &dir, .name = "missing"});
    struct nfs3_fh link =
        ask(&(struct nfs3_call){
                .op = NFS_OP_SYMLINK, .fh = &dir, .name = "symlink", .symlink = {.set = set, .path = "../some/where"}})
            .fh;
    ask(&(struct nfs3_call){.op = NFS_OP_READLINK, .fh = &link});
    ask(&(struct nfs3_call){.op = NFS_OP_MKNOD, .fh = &dir, .name = "fifo", .mknod = {.type = NFS3_FIFO, .set = set}});
    ask(&(struct nfs3_call){.op = NFS_OP_LINK, .fh = &file, .name = "link", .link = {.dir = &dir}});
    ask(&(struct nfs3_call){
        .op = NFS_OP_RENAME, .fh = &dir, .name = "link", .rename = {.to_dir = &dir, .to_name = "renamed"}});
    ask(&(struct nfs3_call){.op = NFS_OP_READDIR, .fh = &dir, .readdir = {.count = 4096}});
    ask(&(struct nfs3_call){
        .op = NFS_OP_READDIRPLUS, .fh = &dir, .readdirplus = {.dircount = 4096, .maxcount = 32768}});
    static const char *const names[] = {"file", "exclusive", "symlink", "fifo", "renamed"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ask(&(struct nfs3_call){.op = NFS_OP_REMOVE, .fh = &dir, .name = names[i]});
    ask(&(struct nfs3_call){.op = NFS_OP_RMDIR, .fh = root, .name = dir_name});
    ask(&(struct nfs3_call){.op = NFS_OP_GETATTR, .fh = &file});
    return 0;
}

/* ---- storm and mixed ---- */

struct storm {
    struct nfs3_call *calls; /* one per slot of the window */
    uint32_t *number;        /* which call of the run the slot holds */
    uint8_t *n_completions;  /* per call of the run */
    uint32_t n, n_sent, n_done, by_result[5];
    enum { STORM_TOLD, STORM_MIXED, STORM_RUN } kind;
    uint8_t *result; /* per call of the run */
    uint8_t *data;
};

static void storm_send(struct storm *s, uint32_t slot);

static void on_storm(struct nfs3_call *call, const struct nfs3_reply *reply)
{
    struct storm *s = call->owner;
    uint32_t slot = (uint32_t)(call - s->calls), k = s->number[slot];
    s->n_completions[k]++;
    s->by_result[reply->result]++;
    s->result[k] = (uint8_t)reply->result;
    if (s->kind == STORM_TOLD)
        printf("%u %s\n", k, result_names[reply->result]);
    if (reply->result != NFS3_CALL_OK && !reply->message)
        abort();
    s->n_done++;
    if (s->n_sent < s->n)
        storm_send(s, slot);
    else if (s->n_done == s->n)
        event_base_loopbreak(base);
}

static void fill_mixed(struct storm *s, struct nfs3_call *call, uint32_t k)
{
    const struct nfs3_fh *root = nfs3_client_root(client);
    struct nfs3_set set = {.has_mode = true, .mode = 0644};
    call->op = (enum nfs_op)(k % NFS_OP_COUNT);
    call->name = "some name";
    switch (call->op) {
    case NFS_OP_SETATTR:
        call->setattr.set = set;
        call->setattr.has_guard = false;
        break;
    case NFS_OP_READ:
        call->read.offset = 0;
        call->read.count = k % 3 ? 4096 : 65536;
        break;
    case NFS_OP_WRITE:
        call->write.offset = 0;
        call->write.count = k % 3 ? 4095 : 65536;
        call->write.stable = NFS3_UNSTABLE;
        call->write.data = s->data;
        break;
    case NFS_OP_CREATE:
        call->create.how = NFS3_CREATE_UNCHECKED;
        call->create.set = set;
        break;
    case NFS_OP_MKDIR:
        call->mkdir.set = set;
        break;
    case NFS_OP_SYMLINK:
        call->symlink.set = set;
        call->symlink.path = "path";
        break;
    case NFS_OP_MKNOD:
        call->mknod.type = NFS3_FIFO;
        call->mknod.set = set;
        break;
    case NFS_OP_RENAME:
        call->rename.to_dir = root;
        call->rename.to_name = "other";
        break;
    case NFS_OP_LINK:
        call->link.dir = root;
        break;
    case NFS_OP_READDIR:
        call->readdir.cookie = call->readdir.cookie_verifier = 0;
        call->readdir.count = 8192;
        break;
    case NFS_OP_READDIRPLUS:
        call->readdirplus.cookie = call->readdirplus.cookie_verifier = 0;
        call->readdirplus.dircount = 4096;
        call->readdirplus.maxcount = 65536;
        break;
    case NFS_OP_COMMIT:
        call->commit.offset = 0;
        call->commit.count = 0;
        break;
    default:
        break;
    }
}

static void storm_send(struct storm *s, uint32_t slot)
{
    struct nfs3_call *call = &s->calls[slot];
    s->number[slot] = s->n_sent++;
    call->op = NFS_OP_GETATTR;
    call->fh = nfs3_client_root(client);
    call->on_done = on_storm;
    call->owner = s;
    if (s->kind == STORM_MIXED)
        fill_mixed(s, call, s->number[slot]);
    int error = nfs3_send(client, call);
    if (error) {
        fprintf(stderr, "nfs3_send: %s\n", strerror(-error));
        exit(1);
    }
}

/* 0, or 1 when a call did not complete exactly once. */
static int storm(struct storm *s, uint32_t n, uint32_t window)
{
    s->n = n;
    s->calls = calloc(window, sizeof *s->calls);
    s->number = calloc(window, sizeof *s->number);
    s->n_completions = calloc(n, 1);
    s->result = calloc(n, 1);
    s->data = calloc(1, 65536);
    if (!s->calls || !s->number || !s->n_completions || !s->result || !s->data)
        exit(1);
    for (uint32_t i = 0; i < window && i < n; i++)
        storm_send(s, i);
    event_base_dispatch(base);
    int status = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (s->n_completions[k] != 1) {
            fprintf(stderr, "call %u completed %u times\n", k, s->n_completions[k]);
            status = 1;
        }
    }
    return status;
}

static void storm_free(struct storm *s)
{
    free(s->calls);
    free(s->number);
    free(s->n_completions);
    free(s->result);
    free(s->data);
}

static void print_results(const struct storm *s)
{
    for (unsigned i = 0; i < 5; i++)
        printf("%s=%u ", result_names[i], s->by_result[i]);
}

static int run_storm(uint32_t n, uint32_t window, bool is_mixed)
{
    struct storm s = {.kind = is_mixed ? STORM_MIXED : STORM_TOLD};
    int status = storm(&s, n, window);
    struct nfs3_client_counters c;
    struct rusage usage;
    nfs3_client_counters(client, &c);
    getrusage(RUSAGE_SELF, &usage);
    print_results(&s);
    printf("reconnects=%llu unknown_xid=%llu in_flight=%u queued=%u sent=%llu received=%llu rss_kib=%ld\n",
           (unsigned long long)c.n_reconnects, (unsigned long long)c.n_unknown_xid, c.n_in_flight, c.n_queued,
           (unsigned long long)c.bytes_sent, (unsigned long long)c.bytes_received, usage.ru_maxrss);
    storm_free(&s);
    return status;
}

static int run_runs(uint32_t from, uint32_t to, uint32_t n, uint32_t window)
{
    int status = 0;
    for (uint32_t k = from; k < to && !status; k++) {
        struct storm s = {.kind = STORM_RUN};
        struct answer a;
        do {
            a = ask_quietly(&(struct nfs3_call){.op = NFS_OP_FSSTAT, .fh = nfs3_client_root(client)});
        } while (a.result != NFS3_CALL_OK);
        status = storm(&s, n, window);
        printf("%u: ", k);
        print_results(&s);
        printf("not_ok=");
        for (uint32_t i = 0, n_told = 0; i < n; i++) {
            if (s.result[i] != NFS3_CALL_OK)
                printf(n_told++ ? ",%u" : "%u", i);
        }
        printf("\n");
        storm_free(&s);
    }
    return status;
}

static int usage(void)
{
    fprintf(
        stderr,
        "usage: nfs3_probe [-e ENGINE] [-s SERVER] [-x EXPORT] [-n PORT] [-m PORT] [-t MS] [-c N] [-a ADDRESS] [-r] "
        "ops | storm N W | runs A B N W | mixed N W | connect N\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct nfs3_client_options o = {.engine = NFS3_ENGINE_NATIVE,
                                    .server = "127.0.0.1",
                                    .export_path = "/export",
                                    .n_connections = 1,
                                    .timeout_ns = 10 * NS_PER_S,
                                    .uid = getuid(),
                                    .gid = getgid(),
                                    .n_gids = 2,
                                    .gids = {100, 101},
                                    .machine_name = "probe"};
    int option;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    while ((option = getopt(argc, argv, "e:s:x:n:m:t:c:a:r")) != -1) {
        switch (option) {
        case 'e':
            o.engine = strcmp(optarg, "libnfs") == 0 ? NFS3_ENGINE_LIBNFS : NFS3_ENGINE_NATIVE;
            break;
        case 's':
            o.server = optarg;
            break;
        case 'x':
            o.export_path = optarg;
            break;
        case 'n':
            o.nfs_port = (uint16_t)atoi(optarg);
            break;
        case 'm':
            o.mount_port = (uint16_t)atoi(optarg);
            break;
        case 't':
            o.timeout_ns = atoi(optarg) * NS_PER_MS;
            break;
        case 'c':
            o.n_connections = (uint32_t)atoi(optarg);
            break;
        case 'a':
            o.source_address = optarg;
            break;
        case 'r':
            o.reserved_port = true;
            break;
        default:
            return usage();
        }
    }
    if (optind == argc)
        return usage();
    const char *mode = argv[optind];
    uint32_t n = optind + 1 < argc ? (uint32_t)atoi(argv[optind + 1]) : 0;
    uint32_t window = optind + 2 < argc ? (uint32_t)atoi(argv[optind + 2]) : 1;
    if (strcmp(mode, "connect") == 0)
        o.n_connections = n;

    struct event_config *config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    base = event_base_new_with_config(config);
    event_config_free(config);
    mono_t started = mono_now();
    client = nfs3_client_create(base, &o, on_ready, NULL);
    if (!client)
        return 1;
    event_base_dispatch(base);
    int status = 1;
    if (ready_error == 0) {
        if (strcmp(mode, "ops") == 0)
            status = run_ops();
        else if (strcmp(mode, "storm") == 0 || strcmp(mode, "mixed") == 0)
            status = run_storm(n, window, mode[0] == 'm');
        else if (strcmp(mode, "runs") == 0 && optind + 4 < argc)
            status = run_runs(n, window, (uint32_t)atoi(argv[optind + 3]), (uint32_t)atoi(argv[optind + 4]));
        else if (strcmp(mode, "connect") == 0) {
            char byte;
            printf("connected %u in %.3f s\n", n, (double)mono_since_ns(mono_now(), started) / NS_PER_S);
            status = read(0, &byte, 1) < 0;
        } else
            status = usage();
    }
    nfs3_client_destroy(client);
    event_base_free(base);
    return status;
}
