#include "target_harness.h"
#include "log.h"
#include "mount_service.h"
#include "worker.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define INSTANCE UINT64_C(0x1122334455667788) /* fixed, so that seeds can hold valid handles */

struct target_harness {
    struct nfs3_shared shared;
    struct mount_table *mounts;
    struct worker worker;
    int client;
};

static void populate(struct target_harness *h)
{
    static const uint8_t data[100000] = "data";
    const struct fs_who root_user = {0};
    struct fs_handle root, made;
    struct fs_object object;
    struct fs_wcc wcc = {0};
    uint64_t verifier;
    memory_fs_add_root(h->shared.fs, 0777, &root);
    mount_table_export(h->mounts, "/export", root);
    struct fs_creation dir = {.type = FS_DIR, .how = FS_CREATE_GUARDED}, file = {.type = FS_REG},
                       link = {.type = FS_LNK, .how = FS_CREATE_GUARDED, .target = {"f", 1}};
    memory_fs_make(h->shared.fs, &root_user, root, (struct fs_name){"d", 1}, &dir, &made, &object, &wcc);
    memory_fs_make(h->shared.fs, &root_user, root, (struct fs_name){"f", 1}, &file, &made, &object, &wcc);
    memory_fs_write(h->shared.fs, &root_user, made, 0, data, sizeof data, true, &wcc, &verifier);
    memory_fs_make(h->shared.fs, &root_user, root, (struct fs_name){"l", 1}, &link, &made, &object, &wcc);
}

struct target_harness *target_harness_create(void)
{
    char message[128];
    struct target_harness *h = calloc(1, sizeof *h);
    int pair[2];
    log_init("fuzz", LOG_LEVEL_ERROR);
    h->shared.instance = INSTANCE;
    h->shared.rtmax = h->shared.wtmax = FS_MAX_TRANSFER;
    h->shared.dtpref = 65536;
    h->shared.fs =
        memory_fs_create(&(struct memory_fs_options){.capacity_bytes = 4 << 20, .max_files = 64, .verifier = INSTANCE});
    h->shared.faults = fault_set_create(1);
    h->shared.latency = latency_create("none", message, sizeof message);
    h->mounts = mount_table_create();
    populate(h);
    if (worker_init(&h->worker,
                    &(struct worker_options){.shared = &h->shared, .mounts = h->mounts, .max_connections = 4}) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0 ||
        rpc_server_adopt(h->worker.server, pair[1]) < 0) {
        abort();
    }
    h->client = pair[0];
    return h;
}

void target_harness_feed(struct target_harness *h, const uint8_t *data, size_t n)
{
    static uint8_t sink[1 << 18];
    for (int rest = 0; rest < 3;) {
        ssize_t wrote = n > 0 ? send(h->client, data, n, MSG_NOSIGNAL) : 0;
        if (wrote > 0) {
            data += wrote;
            n -= (size_t)wrote;
        } else if (wrote < 0 && n > 0 && rest == 2) {
            break; /* closed by the server */
        }
        event_base_loop(h->worker.base, EVLOOP_NONBLOCK);
        ssize_t got = recv(h->client, sink, sizeof sink, 0);
        rest = wrote > 0 || got > 0 ? 0 : rest + 1;
    }
}

void target_harness_destroy(struct target_harness *h)
{
    close(h->client);
    event_base_loop(h->worker.base, EVLOOP_NONBLOCK);
    worker_fini(&h->worker);
    mount_table_destroy(h->mounts);
    latency_destroy(h->shared.latency);
    fault_set_destroy(h->shared.faults);
    memory_fs_destroy(h->shared.fs);
    free(h);
}
