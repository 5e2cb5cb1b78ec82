/* rpc_conn.c - see rpc_conn.h. */
#include "rpc_conn.h"
#include "arrival.h"
#include "record_buffer.h"
#include "rpc_send_queue.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define IOVECS_PER_CALL 64
#define SHRINK_AFTER_S  1
#define READS_PER_EVENT 4 /* then others have their turn */

struct rpc_conn {
    int fd;
    struct rpc_conn_limits limits;
    struct rpc_conn_handlers handlers;
    void *arg;

    struct event read_event, write_event, tick_event, shrink_event;
    bool is_reading, is_writing, is_ticking; /* the event is added / active */

    struct record_buffer in;
    mono_t record_since;    /* when the first byte of the unfinished record was read */
    struct arrival arrival; /* of the last read */
    bool is_read_on;        /* several reads in a row: what is sent is written after the last */
    bool in_batch;          /* records are being handed out; what is sent meanwhile is written after the last */
    bool is_paused;         /* by the owner */
    bool has_backlog;       /* whole records may be left in the buffer by back-pressure */

    struct rpc_send_queue out;

    unsigned n_callbacks; /* callbacks of the owner on the stack */
    bool is_destroyed;    /* by the owner, inside a callback: freed when that returns */
    bool is_closed;       /* broken or at end of file; on_close is due or was called */
    bool is_close_told;
    int close_error;
    char close_message[128];
};

static void free_conn(struct rpc_conn *conn)
{
    record_buffer_fini(&conn->in);
    rpc_send_queue_fini(&conn->out);
    free(conn);
}

/* Every call of the owner's handlers happens between enter and leave; leave says whether the connection still lives. */
static void enter(struct rpc_conn *conn)
{
    conn->n_callbacks++;
}

static bool leave(struct rpc_conn *conn)
{
    if (--conn->n_callbacks == 0 && conn->is_destroyed) {
        free_conn(conn);
        return false;
    }
    return !conn->is_destroyed;
}

static void start_tick(struct rpc_conn *conn)
{
    if (!conn->is_ticking) {
        conn->is_ticking = true;
        event_active(&conn->tick_event, EV_TIMEOUT, 0);
    }
}

/* No more traffic from here on; on_close follows from the loop. */
static void set_closed(struct rpc_conn *conn, int error, const char *message)
{
    if (conn->is_closed) {
        return;
    }
    conn->is_closed = true;
    conn->close_error = error;
    snprintf(conn->close_message, sizeof conn->close_message, "%s", message);
    event_del(&conn->read_event);
    event_del(&conn->write_event);
    conn->is_reading = conn->is_writing = false;
    start_tick(conn);
}

static bool is_congested(const struct rpc_conn *conn)
{
    return conn->is_paused || conn->out.bytes > conn->limits.max_queued_bytes;
}

/* Reading follows the send queue. */
static void update_reading(struct rpc_conn *conn)
{
    bool wanted = !conn->is_closed && !is_congested(conn);
    if (wanted == conn->is_reading) {
        return;
    }
    if (wanted && event_add(&conn->read_event, NULL) < 0) {
        set_closed(conn, -ENOMEM, "no memory for an event");
        return;
    }
    if (!wanted) {
        event_del(&conn->read_event);
    }
    conn->is_reading = wanted;
}

/* Writes until the queue is empty or the kernel takes no more. */
static void write_queue(struct rpc_conn *conn)
{
    while (conn->out.n > 0 && !conn->is_closed) {
        struct iovec iov[IOVECS_PER_CALL];
        size_t n = rpc_send_queue_iovecs(&conn->out, iov, IOVECS_PER_CALL);
        /* sendmsg is writev with MSG_NOSIGNAL: a peer that is gone is -EPIPE, not the death of the process. */
        struct msghdr message = {.msg_iov = iov, .msg_iovlen = n};
        /* Before, not after: a process that loses the CPU between the write and the clock would report a response that
         * is too short. So it can only be too long, by the system call. */
        mono_t at = rpc_send_queue_is_timed(&conn->out) ? mono_now() : (mono_t){0};
        ssize_t sent = sendmsg(conn->fd, &message, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) {
                continue;
            }
            if (errno != EAGAIN && errno != EWOULDBLOCK) {
                set_closed(conn, -errno, strerror(errno));
            }
            break;
        }
        rpc_send_queue_advance(&conn->out, (size_t)sent, at);
    }
    bool wanted = conn->out.n > 0 && !conn->is_closed;
    if (wanted && !conn->is_writing && event_add(&conn->write_event, NULL) < 0) {
        set_closed(conn, -ENOMEM, "no memory for an event");
        return;
    }
    if (!wanted && conn->is_writing) {
        event_del(&conn->write_event);
    }
    conn->is_writing = wanted;
    update_reading(conn);
}

int rpc_conn_send(struct rpc_conn *conn, const uint8_t *head, size_t head_bytes, const struct rpc_segment *segments,
                  unsigned n, mono_t *sent_at)
{
    if (conn->is_closed || conn->is_destroyed) {
        return -ENOTCONN;
    }
    int error = rpc_send_queue_push(&conn->out, head, head_bytes, segments, n, sent_at);
    if (error) {
        return error;
    }
    if (!conn->is_writing && !conn->in_batch) {
        start_tick(conn);
    }
    return 0;
}

void rpc_conn_flush(struct rpc_conn *conn)
{
    if (!conn->is_destroyed) {
        write_queue(conn);
    }
}

/* Room to read into. 0 or -ENOMEM. */
static int make_room(struct rpc_conn *conn)
{
    bool grew = false;
    int error = record_buffer_make_room(&conn->in, &grew);
    if (grew) {
        struct timeval after = {.tv_sec = SHRINK_AFTER_S};
        event_add(&conn->shrink_event, &after); /* when it fails the buffer merely stays large */
    }
    return error;
}

/* The next whole record of the buffer. False: more bytes are needed, or the connection was closed. */
static bool next_record(struct rpc_conn *conn, uint8_t **record, size_t *bytes)
{
    size_t announced;
    int found = record_buffer_next(&conn->in, record, bytes, &announced);
    if (found < 0) {
        char message[128];
        snprintf(message, sizeof message, "a record mark announces %zu bytes, more than the limit of %zu", announced,
                 conn->limits.max_record_bytes);
        set_closed(conn, -EPROTO, message);
    }
    return found > 0;
}

/* Hands out every whole record of the buffer. False when the connection is gone. */
static bool parse_records(struct rpc_conn *conn)
{
    uint8_t *record;
    size_t bytes;
    while (!conn->is_closed && !is_congested(conn) && next_record(conn, &record, &bytes)) {
        conn->record_since = conn->arrival.read_at;
        enter(conn);
        conn->handlers.on_record(conn, record, bytes, conn->arrival.arrived_at, conn->arg);
        if (!leave(conn)) {
            return false;
        }
    }
    record_buffer_settle(&conn->in);
    conn->has_backlog = is_congested(conn) && conn->in.start != conn->in.end;
    return true;
}

/* Parses what is buffered, tells the end of the batch, and sends what the owner answered. False when the connection is
 * gone. */
static bool run_batch(struct rpc_conn *conn)
{
    conn->in_batch = true;
    if (!parse_records(conn)) {
        return false;
    }
    if (conn->handlers.on_batch_end && !conn->is_closed) {
        enter(conn);
        conn->handlers.on_batch_end(conn, conn->arg);
        if (!leave(conn)) {
            return false;
        }
    }
    conn->in_batch = false;
    if (!conn->is_writing && !conn->is_read_on) {
        write_queue(conn);
    }
    update_reading(conn);
    return true;
}

/* Records that were left in the buffer by back-pressure come before anything new is read. False when the connection is
 * gone. */
static bool resume_batch(struct rpc_conn *conn)
{
    while (conn->has_backlog && !conn->is_closed && !is_congested(conn)) {
        if (!run_batch(conn)) {
            return false;
        }
    }
    return true;
}

static void tell_close(struct rpc_conn *conn)
{
    if (!conn->is_closed || conn->is_close_told) {
        return;
    }
    conn->is_close_told = true;
    enter(conn);
    conn->handlers.on_close(conn, conn->close_error, conn->close_message, conn->arg);
    leave(conn);
}

enum read_outcome {
    READ_GONE, /* the connection was destroyed by its owner */
    READ_DONE,
    READ_MORE /* as much came as was asked for: there may be more */
};

/* Reads once and hands out what is whole. */
static enum read_outcome read_once(struct rpc_conn *conn, int fd)
{
    if (make_room(conn) < 0) {
        set_closed(conn, -ENOMEM, "no memory for a record");
        return READ_DONE;
    }
    size_t size = record_buffer_read_size(&conn->in);
    ssize_t n = arrival_recv(&conn->arrival, fd, conn->in.data + conn->in.end, size);
    if (n < 0) {
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            set_closed(conn, -errno, strerror(errno));
        }
        return READ_DONE;
    }
    if (n == 0) {
        bool is_whole = record_buffer_is_empty(&conn->in);
        set_closed(conn, 0,
                   is_whole ? "the peer closed the connection" : "the peer closed the connection inside a record");
        return READ_DONE;
    }
    if (conn->in.record_start == conn->in.end) {
        conn->record_since = conn->arrival.read_at;
    }
    record_buffer_add(&conn->in, (size_t)n);
    if (!run_batch(conn) || !resume_batch(conn)) {
        return READ_GONE;
    }
    return (size_t)n == size && conn->is_reading ? READ_MORE : READ_DONE;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)what;
    struct rpc_conn *conn = arg;
    if (!resume_batch(conn) || !conn->is_reading) {
        return;
    }
    /* Of several reads in a row the answers leave together, after the last. */
    enum read_outcome outcome = READ_MORE;
    conn->is_read_on = true;
    for (int i = 0; i < READS_PER_EVENT && outcome == READ_MORE; i++) {
        outcome = read_once(conn, fd);
    }
    if (outcome == READ_GONE) {
        return;
    }
    conn->is_read_on = false;
    if (!conn->is_writing) {
        write_queue(conn);
    }
    update_reading(conn);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct rpc_conn *conn = arg;
    write_queue(conn);
    resume_batch(conn);
}

/* End of the tick: what was queued leaves, what broke is told. */
static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct rpc_conn *conn = arg;
    conn->is_ticking = false;
    if (!conn->is_writing) {
        write_queue(conn);
    }
    if (!resume_batch(conn)) {
        return;
    }
    tell_close(conn);
}

static void on_shrink(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct rpc_conn *conn = arg;
    if (!record_buffer_shrink(&conn->in)) {
        struct timeval after = {.tv_sec = SHRINK_AFTER_S};
        event_add(&conn->shrink_event, &after);
    }
}

struct rpc_conn *rpc_conn_create(struct event_base *base, int fd, const struct rpc_conn_limits *limits,
                                 const struct rpc_conn_handlers *handlers, void *arg)
{
    struct rpc_conn *conn = calloc(1, sizeof *conn);
    if (!conn) {
        return NULL;
    }
    conn->fd = fd;
    conn->limits = *limits;
    conn->handlers = *handlers;
    conn->arg = arg;
    if (record_buffer_init(&conn->in, limits->read_buffer_bytes, limits->max_record_bytes) < 0) {
        goto fail;
    }
    event_assign(&conn->read_event, base, fd, EV_READ | EV_PERSIST, on_readable, conn);
    event_assign(&conn->write_event, base, fd, EV_WRITE | EV_PERSIST, on_writable, conn);
    event_assign(&conn->tick_event, base, -1, 0, on_tick, conn);
    event_assign(&conn->shrink_event, base, -1, 0, on_shrink, conn);
    if (event_add(&conn->read_event, NULL) < 0) {
        goto fail;
    }
    conn->is_reading = true;
    /* Whole records are written: waiting for more would only add delay. Fails on a socket that is not TCP, which needs
     * none. */
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return conn;

fail:
    free_conn(conn);
    return NULL;
}

void rpc_conn_destroy(struct rpc_conn *conn)
{
    if (!conn || conn->is_destroyed) {
        return;
    }
    event_del(&conn->read_event);
    event_del(&conn->write_event);
    event_del(&conn->tick_event);
    event_del(&conn->shrink_event);
    close(conn->fd);
    conn->is_destroyed = true;
    rpc_send_queue_clear(&conn->out);
    if (conn->n_callbacks == 0) {
        free_conn(conn);
    }
}

size_t rpc_conn_queued_bytes(const struct rpc_conn *conn)
{
    return conn->out.bytes;
}

void rpc_conn_pause(struct rpc_conn *conn)
{
    conn->is_paused = true;
    if (!conn->in_batch) {
        update_reading(conn);
    }
}

void rpc_conn_resume(struct rpc_conn *conn)
{
    conn->is_paused = false;
    update_reading(conn);
    if (conn->has_backlog) {
        start_tick(conn);
    }
}

void rpc_conn_stamp_arrivals(struct rpc_conn *conn)
{
    arrival_enable(&conn->arrival, conn->fd);
}

mono_t rpc_conn_read_at(const struct rpc_conn *conn)
{
    return conn->arrival.read_at;
}

mono_t rpc_conn_unfinished_since(const struct rpc_conn *conn)
{
    bool is_unfinished = !conn->has_backlog && !record_buffer_is_empty(&conn->in);
    return is_unfinished ? conn->record_since : MONO_NEVER;
}

uint64_t rpc_conn_sent_bytes(const struct rpc_conn *conn)
{
    return conn->out.sent_total;
}

int rpc_conn_fd(const struct rpc_conn *conn)
{
    return conn->fd;
}
