#include "worker.h"
#include "mount3_prot.h"
#include "nfs3_prot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define STOP (-1)

static void on_handover(evutil_socket_t pipe_fd, short what, void *arg)
{
    (void)what;
    struct worker *worker = arg;
    int fd;
    while (read(pipe_fd, &fd, sizeof fd) == sizeof fd) {
        if (fd == STOP) {
            event_base_loopbreak(worker->base);
            return;
        }
        rpc_server_adopt(worker->server, fd);
    }
}

static int create_loop(struct worker *worker)
{
    struct event_config *config = event_config_new();
    if (!config) {
        return -ENOMEM;
    }
    /* The default timers are 4 ms coarse; delays must hold to tens of microseconds. */
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    worker->base = event_base_new_with_config(config);
    event_config_free(config);
    return worker->base ? 0 : -ENOMEM;
}

int worker_init(struct worker *worker, const struct worker_options *options)
{
    memset(worker, 0, sizeof *worker);
    worker->handover[0] = worker->handover[1] = -1;
    int error = create_loop(worker);
    if (error) {
        return error;
    }
    worker->nfs.shared = options->shared;
    worker->nfs.counters = &worker->counters;
    rng_seed(&worker->nfs.rng, options->seed, 16 + options->number);
    worker->mount = (struct mount_service){.nfs = &worker->nfs, .table = options->mounts};
    worker->programs[0] = (struct rpc_program){.prog = NFS3_PROGRAM,
                                               .vers = NFS3_VERSION,
                                               .n_procs = NFS3_N_PROCS,
                                               .handler = nfs3_handle,
                                               .arg = &worker->nfs};
    worker->programs[1] = (struct rpc_program){.prog = MOUNT3_PROGRAM,
                                               .vers = MOUNT3_VERSION,
                                               .n_procs = MOUNT3_N_PROCS,
                                               .handler = mount_handle,
                                               .arg = &worker->mount};
    struct rpc_server_options server;
    rpc_server_default_options(&server);
    server.programs = worker->programs;
    server.n_programs = 2;
    server.max_connections = options->max_connections;
    server.stamps_arrivals = true; /* a delay begins when the call is there: this process's wake-up is part of it */
    server.on_accept = options->on_accept;
    server.arg = options->arg;
    worker->server = rpc_server_create(worker->base, &server);
    worker->nfs.delays = delay_queue_create(worker->base, &options->shared->paused_until_ns);
    if (!worker->server || !worker->nfs.delays) {
        return -ENOMEM;
    }
    if (pipe2(worker->handover, O_CLOEXEC) < 0) {
        return -errno;
    }
    fcntl(worker->handover[0], F_SETFL, O_NONBLOCK);
    worker->handover_event = event_new(worker->base, worker->handover[0], EV_READ | EV_PERSIST, on_handover, worker);
    return worker->handover_event && event_add(worker->handover_event, NULL) == 0 ? 0 : -ENOMEM;
}

void worker_fini(struct worker *worker)
{
    delay_queue_destroy(worker->nfs.delays);
    rpc_server_destroy(worker->server);
    if (worker->handover_event) {
        event_free(worker->handover_event);
    }
    for (int i = 0; i < 2; i++) {
        if (worker->handover[i] >= 0) {
            close(worker->handover[i]);
        }
    }
    if (worker->base) {
        event_base_free(worker->base);
    }
}

static void *run_loop(void *arg)
{
    struct worker *worker = arg;
    event_base_dispatch(worker->base);
    return NULL;
}

int worker_start(struct worker *worker)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&worker->thread, NULL, run_loop, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    worker->is_started = error == 0;
    return -error;
}

void worker_hand_over(struct worker *worker, int fd)
{
    if (write(worker->handover[1], &fd, sizeof fd) != sizeof fd) {
        close(fd);
    }
}

void worker_stop(struct worker *worker)
{
    if (worker->is_started) {
        worker_hand_over(worker, STOP);
        pthread_join(worker->thread, NULL);
        worker->is_started = false;
    }
}
