/* mount_client.c - see mount_client.h. */
#include "mount_client.h"

#include "clock.h"
#include "nfs3_encode.h"
#include "portmap_client.h"
#include "rpc_client.h"
#include "xdr_cursor.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOUNT_PROGRAM  100005
#define MOUNT_VERSION  3
#define MOUNT_MNT      1
#define MOUNT_UMNT     3
#define NFS3_PORT      2049
#define MOUNT_PATH_MAX 1024 /* MNTPATHLEN */
#define FLAVORS_MAX    64
#define FLAVOR_NONE    0
#define FLAVOR_SYS     1

struct mount_client {
    struct event_base *base; /* (ref) */
    struct mount_options options;
    char *host, *source_address, *export_path, *machine_name;
    uint32_t procedure; /* MNT or UMNT */
    mount_cb on_done;
    void *arg;
    struct portmap_client *portmap;
    struct rpc_client *rpc;
};

static int step(struct mount_client *m);

static void free_client(struct mount_client *m)
{
    if (m->portmap)
        portmap_client_cancel(m->portmap);
    rpc_client_destroy(m->rpc);
    free(m->host);
    free(m->source_address);
    free(m->export_path);
    free(m->machine_name);
    free(m);
}

static void finish(struct mount_client *m, int error, const char *why, const struct nfs3_fh *root)
{
    char message[1024] = "";
    if (error)
        snprintf(message, sizeof message, "mount %s:%s: %s", m->host, m->options.export_path, why);
    mount_cb on_done = m->on_done;
    void *arg = m->arg;
    uint16_t nfs_port = m->options.nfs_port;
    free_client(m);
    on_done(error, message, root, nfs_port, arg);
}

int mount_decode_mnt(const uint8_t *results, size_t bytes, struct nfs3_fh *root)
{
    struct xdr_reader r = xdr_reader_of(results, bytes);
    uint32_t status = xdr_get_u32(&r), len;
    if (r.is_bad || status > INT32_MAX)
        return -EPROTO;
    if (status)
        return xdr_left(&r) ? -EPROTO : (int)status;
    const uint8_t *fh = xdr_get_opaque(&r, NFS3_FH_MAX, &len);
    uint32_t n_flavors = xdr_get_u32(&r);
    if (r.is_bad || n_flavors > FLAVORS_MAX)
        return -EPROTO;
    bool is_ours = n_flavors == 0; /* some servers give none */
    for (uint32_t i = 0; i < n_flavors; i++) {
        uint32_t flavor = xdr_get_u32(&r);
        is_ours = is_ours || flavor == FLAVOR_SYS || flavor == FLAVOR_NONE;
    }
    if (r.is_bad || xdr_left(&r))
        return -EPROTO;
    if (!is_ours)
        return -EPROTONOSUPPORT;
    root->len = (uint8_t)len;
    memcpy(root->data, fh, len);
    return 0;
}

/* mountstat3 in words, with the remedy. */
static const char *status_words(int status, int *error)
{
    switch (status) {
    case 1:
        *error = -EPERM;
        return "refused: not owner (MNT3ERR_PERM): try reserved_port or another uid";
    case 2:
        *error = -ENOENT;
        return "no such export (MNT3ERR_NOENT): see showmount -e for what the server exports";
    case 5:
        *error = -EIO;
        return "I/O error on the server (MNT3ERR_IO)";
    case 13:
        *error = -EACCES;
        return "permission denied (MNT3ERR_ACCES): not exported to this host, or the server wants reserved ports "
               "(reserved_port)";
    case 20:
        *error = -ENOTDIR;
        return "not a directory (MNT3ERR_NOTDIR)";
    case 22:
        *error = -EINVAL;
        return "invalid argument (MNT3ERR_INVAL)";
    case 63:
        *error = -ENAMETOOLONG;
        return "export path too long (MNT3ERR_NAMETOOLONG)";
    case 10004:
        *error = -EOPNOTSUPP;
        return "not supported by the server (MNT3ERR_NOTSUPP)";
    case 10006:
        *error = -EIO;
        return "the server failed (MNT3ERR_SERVERFAULT)";
    default:
        *error = -EIO;
        return "unknown mount status";
    }
}

/* UMNT's result is void: that there is one is all. */
static void on_umnt(struct rpc_client *rpc, const struct rpc_call_reply *reply, void *arg)
{
    (void)rpc;
    if (reply->result != RPC_CALL_BROKEN)
        finish(arg, reply->result == RPC_CALL_OK ? 0 : -EIO, reply->message, NULL);
}

static void on_mnt(struct rpc_client *rpc, const struct rpc_call_reply *reply, void *arg)
{
    struct mount_client *m = arg;
    struct nfs3_fh root = {0};
    char why[256];
    int error = 0;
    (void)rpc;
    if (reply->result == RPC_CALL_BROKEN)
        return; /* on_closed follows and knows why */
    if (reply->result != RPC_CALL_OK) {
        error = reply->result == RPC_CALL_TIMEOUT ? -ETIMEDOUT : reply->result == RPC_CALL_REFUSED ? -EACCES : -EPROTO;
        snprintf(why, sizeof why, "MOUNT on port %u: %s", m->options.mount_port, reply->message);
        finish(m, error, why, NULL);
        return;
    }
    int status = mount_decode_mnt(reply->results, reply->results_bytes, &root);
    if (status == 0) {
        finish(m, 0, "", &root);
    } else if (status == -EPROTO) {
        finish(m, status, "the reply to MNT does not decode", NULL);
    } else if (status == -EPROTONOSUPPORT) {
        finish(m, status, "the export takes neither AUTH_SYS nor AUTH_NONE (sec=sys is needed)", NULL);
    } else {
        const char *words = status_words(status, &error);
        snprintf(why, sizeof why, "%s, mountstat3 %d", words, status);
        finish(m, error, why, NULL);
    }
}

static void on_closed(struct rpc_client *rpc, int error, const char *message, void *arg)
{
    struct mount_client *m = arg;
    char why[512];
    (void)rpc;
    snprintf(why, sizeof why, "MOUNT on port %u: %s", m->options.mount_port, message);
    finish(m, error ? error : -ECONNRESET, why, NULL);
}

/* 0 or -errno. */
static int send_call(struct mount_client *m)
{
    static const struct rpc_client_handlers handlers = {.on_closed = on_closed};
    uint8_t args[4 + MOUNT_PATH_MAX];
    struct xdr_writer w = xdr_writer_of(args, sizeof args);
    xdr_put_opaque(&w, m->options.export_path, (uint32_t)strlen(m->options.export_path));
    struct rpc_client_options options = {
        .connect = m->options.connect, .auth = &m->options.auth, .max_record_bytes = 4096};
    options.connect.port = m->options.mount_port;
    m->rpc = rpc_client_create(m->base, &options, &handlers, m);
    if (!m->rpc)
        return -ENOMEM;
    return rpc_client_call(m->rpc, MOUNT_PROGRAM, MOUNT_VERSION, m->procedure, args, (size_t)(w.at - args),
                           m->options.connect.timeout_ns, m->procedure == MOUNT_MNT ? on_mnt : on_umnt, m, NULL);
}

static void on_port(uint16_t port, int error, const char *message, void *arg)
{
    struct mount_client *m = arg;
    m->portmap = NULL;
    if (error) {
        finish(m, error, message, NULL);
        return;
    }
    if (m->options.nfs_port == 0)
        m->options.nfs_port = port;
    else
        m->options.mount_port = port;
    error = step(m);
    if (error)
        finish(m, error, strerror(-error), NULL);
}

/* Begins the next thing that is not known yet. 0 or -errno. */
static int step(struct mount_client *m)
{
    if (m->options.nfs_port && m->options.mount_port)
        return send_call(m);
    struct rpc_connect_options connect = m->options.connect;
    connect.port = m->options.portmap_port;
    connect.reserved_port = false; /* the portmapper asks nobody for one */
    bool is_nfs = m->options.nfs_port == 0;
    m->portmap = portmap_client_start(m->base, &connect, is_nfs ? NFS3_PROGRAM : MOUNT_PROGRAM,
                                      is_nfs ? NFS3_VERSION : MOUNT_VERSION, on_port, m);
    return m->portmap ? 0 : -ENOMEM;
}

static struct mount_client *start(struct event_base *base, const struct mount_options *options, uint32_t procedure,
                                  mount_cb on_done, void *arg)
{
    struct mount_client *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->base = base;
    m->options = *options;
    m->procedure = procedure;
    m->on_done = on_done;
    m->arg = arg;
    m->host = strdup(options->connect.host);
    m->source_address = options->connect.source_address ? strdup(options->connect.source_address) : NULL;
    m->export_path = strndup(options->export_path, MOUNT_PATH_MAX);
    m->machine_name = strdup(options->auth.machine_name);
    if (!m->host || !m->export_path || !m->machine_name || (options->connect.source_address && !m->source_address)) {
        free_client(m);
        return NULL;
    }
    m->options.connect.host = m->host;
    m->options.connect.source_address = m->source_address;
    m->options.export_path = m->export_path;
    m->options.auth.machine_name = m->machine_name;
    if (step(m) == 0)
        return m;
    free_client(m);
    return NULL;
}

struct mount_client *mount_client_start(struct event_base *base, const struct mount_options *options, mount_cb on_done,
                                        void *arg)
{
    return start(base, options, MOUNT_MNT, on_done, arg);
}

struct unmount {
    struct event_base *base;
    int error;
};

static void on_unmounted(int error, const char *message, const struct nfs3_fh *root, uint16_t nfs_port, void *arg)
{
    (void)message, (void)root, (void)nfs_port;
    struct unmount *u = arg;
    u->error = error;
    event_base_loopbreak(u->base);
}

int mount_client_unmount(const struct mount_options *options, int64_t within_ns)
{
    const struct timeval within = {within_ns / NS_PER_S, within_ns % NS_PER_S / NS_PER_US};
    struct unmount u = {.base = event_base_new(), .error = -EINPROGRESS};
    struct mount_options own = *options;
    own.connect.timeout_ns = within_ns;
    own.nfs_port = own.nfs_port ? own.nfs_port : NFS3_PORT; /* not called: nobody need look it up */
    if (!u.base || event_base_loopexit(u.base, &within) != 0) {
        u.error = -ENOMEM;
        goto out;
    }
    struct mount_client *m = start(u.base, &own, MOUNT_UMNT, on_unmounted, &u);
    if (!m) {
        u.error = -ENOMEM;
        goto out;
    }
    event_base_dispatch(u.base);
    if (u.error == -EINPROGRESS) {
        mount_client_cancel(m);
        u.error = -ETIMEDOUT;
    }
out:
    if (u.base)
        event_base_free(u.base);
    return u.error;
}

void mount_client_cancel(struct mount_client *m)
{
    free_client(m);
}
