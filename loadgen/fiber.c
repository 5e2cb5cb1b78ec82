/* fiber.c - see fiber.h. */
#include "fiber.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#ifdef FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_BYTES      (128u << 10)
#define GUARD_BYTES      4096u
#define FIRST_PAUSE_NS   (50 * NS_PER_MS)
#define LONGEST_PAUSE_NS NS_PER_S
#define STATUS_JUKEBOX   10008u

struct fiber {
    struct fiber_group *group;
    struct fiber *next;
    void (*fn)(struct fiber_group *group, void *arg);
    void *arg;
    ucontext_t context, caller;
    uint8_t *stack;
    struct event *timer;
    const struct nfs3_reply *reply;
    bool is_pausing, has_returned;
    void *fake_stack, *caller_fake_stack;
    const void *caller_stack;
    size_t caller_stack_bytes;
};

struct fiber_group {
    struct fiber_group_options options;
    struct fiber *fibers, *current;
    uint32_t n_running;
    bool is_stopping;
    struct event *end_event;
};

struct fiber_group *fiber_group_create(const struct fiber_group_options *options)
{
    struct fiber_group *g = calloc(1, sizeof *g);
    if (g != NULL) {
        g->options = *options;
    }
    return g;
}

/* Saves the fiber's side of a switch for the address sanitizer, which must know which stack is in use. */
static void before_switch(void **save, const void *stack, size_t bytes)
{
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(save, stack, bytes);
#else
    (void)save;
    (void)stack;
    (void)bytes;
#endif
}

static void after_switch(void *saved, const void **stack, size_t *bytes)
{
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(saved, stack, bytes);
#else
    (void)saved;
    (void)stack;
    (void)bytes;
#endif
}

static void enter(unsigned low, unsigned high)
{
    struct fiber *f = (struct fiber *)((uintptr_t)high << 32 | low);
    after_switch(NULL, &f->caller_stack, &f->caller_stack_bytes);
    f->fn(f->group, f->arg);
    f->has_returned = true;
    before_switch(NULL, f->caller_stack, f->caller_stack_bytes);
    swapcontext(&f->context, &f->caller);
}

static void on_all_returned(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct fiber_group *g = arg;
    event_free(g->end_event);
    g->end_event = NULL;
    g->options.on_end(g, g->options.arg);
}

static void resume(struct fiber *f)
{
    struct fiber_group *g = f->group;
    struct fiber *previous = g->current;
    g->current = f;
    before_switch(&f->caller_fake_stack, f->stack + GUARD_BYTES, STACK_BYTES);
    swapcontext(&f->caller, &f->context);
    after_switch(f->caller_fake_stack, NULL, NULL);
    g->current = previous;
    if (!f->has_returned || --g->n_running > 0) {
        return;
    }
    /* The end is told from the loop, not from inside a reply: its listener may destroy the client. */
    g->end_event = event_new(g->options.base, -1, 0, on_all_returned, g);
    struct timeval now = {0, 0};
    if (g->end_event == NULL || event_add(g->end_event, &now) != 0) {
        abort(); /* without memory for an event nothing can go on */
    }
}

/* Back to the loop until something resumes the fiber. */
static void wait_here(struct fiber *f)
{
    before_switch(&f->fake_stack, f->caller_stack, f->caller_stack_bytes);
    swapcontext(&f->context, &f->caller);
    after_switch(f->fake_stack, &f->caller_stack, &f->caller_stack_bytes);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct fiber *f = arg;
    f->is_pausing = false;
    resume(f);
}

int fiber_start(struct fiber_group *group, void (*fn)(struct fiber_group *group, void *arg), void *arg)
{
    struct fiber *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return -ENOMEM;
    }
    f->group = group;
    f->fn = fn;
    f->arg = arg;
    f->stack =
        mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (f->stack == MAP_FAILED) {
        free(f);
        return -ENOMEM;
    }
    f->timer = event_new(group->options.base, -1, 0, on_timer, f);
    if (f->timer == NULL || mprotect(f->stack, GUARD_BYTES, PROT_NONE) != 0 || getcontext(&f->context) != 0) {
        goto fail;
    }
    f->context.uc_stack.ss_sp = f->stack + GUARD_BYTES;
    f->context.uc_stack.ss_size = STACK_BYTES;
    f->context.uc_link = NULL;
    uintptr_t self = (uintptr_t)f;
    makecontext(&f->context, (void (*)(void))(void *)enter, 2, (unsigned)self, (unsigned)(self >> 32));
    f->is_pausing = true;
    struct timeval now = {0, 0};
    if (event_add(f->timer, &now) != 0) {
        goto fail;
    }
    f->next = group->fibers;
    group->fibers = f;
    group->n_running++;
    return 0;
fail:
    if (f->timer != NULL) {
        event_free(f->timer);
    }
    munmap(f->stack, GUARD_BYTES + STACK_BYTES);
    free(f);
    return -ENOMEM;
}

void fiber_group_stop(struct fiber_group *group)
{
    group->is_stopping = true;
    struct timeval now = {0, 0};
    for (struct fiber *f = group->fibers; f != NULL; f = f->next) {
        if (f->is_pausing) {
            event_add(f->timer, &now);
        }
    }
}

bool fiber_group_is_stopping(const struct fiber_group *group)
{
    return group->is_stopping;
}

void *fiber_group_arg(const struct fiber_group *group)
{
    return group->options.arg;
}

void fiber_group_destroy(struct fiber_group *group)
{
    if (group == NULL) {
        return;
    }
    assert(group->n_running == 0);
    for (struct fiber *f = group->fibers, *next; f != NULL; f = next) {
        next = f->next;
        event_free(f->timer);
        munmap(f->stack, GUARD_BYTES + STACK_BYTES);
        free(f);
    }
    if (group->end_event != NULL) {
        event_free(group->end_event);
    }
    free(group);
}

int fiber_pause(struct fiber_group *group, int64_t pause_ns)
{
    struct fiber *f = group->current;
    if (group->is_stopping) {
        return -ECANCELED;
    }
    struct timeval tv = {pause_ns / NS_PER_S, pause_ns % NS_PER_S / NS_PER_US};
    f->is_pausing = true;
    if (event_add(f->timer, &tv) != 0) {
        f->is_pausing = false;
        return -ENOMEM;
    }
    wait_here(f);
    return group->is_stopping ? -ECANCELED : 0;
}

static void on_done(struct nfs3_call *call, const struct nfs3_reply *reply)
{
    struct fiber *f = call->owner;
    f->reply = reply;
    resume(f);
}

static int error_of(const struct nfs3_reply *reply)
{
    switch (reply->result) {
    case NFS3_CALL_OK:
        return 0;
    case NFS3_CALL_TIMEOUT:
        return -ETIMEDOUT;
    case NFS3_CALL_MALFORMED:
        return -EBADMSG;
    case NFS3_CALL_RPC_ERROR:
        return -EPROTO;
    case NFS3_CALL_BROKEN:
        break;
    }
    return -ECONNRESET;
}

int fiber_call(struct fiber_group *group, struct nfs3_call *call, const struct nfs3_reply **reply)
{
    struct fiber *f = group->current;
    mono_t give_up_at = mono_plus_ns(mono_now(), group->options.timeout_ns);
    int64_t pause_ns = FIRST_PAUSE_NS;
    call->owner = f;
    call->on_done = on_done;
    for (;;) {
        if (group->is_stopping) {
            return -ECANCELED;
        }
        if (group->options.last_op != NULL) {
            atomic_store_explicit(group->options.last_op, 1u + call->op, memory_order_relaxed);
        }
        int error = nfs3_send(group->options.client, call);
        if (error != 0) {
            static const struct nfs3_reply unsent = {.result = NFS3_CALL_BROKEN,
                                                     .message = "the call could not be sent"};
            *reply = &unsent;
            return error;
        }
        wait_here(f);
        *reply = f->reply;
        error = error_of(f->reply);
        if (group->is_stopping && error == -ECONNRESET) {
            return -ECANCELED;
        }
        if (error != 0 || f->reply->status != STATUS_JUKEBOX || !mono_before(mono_now(), give_up_at)) {
            return error;
        }
        error = fiber_pause(group, pause_ns);
        if (error != 0) {
            return error;
        }
        pause_ns = pause_ns * 2 < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
    }
}
