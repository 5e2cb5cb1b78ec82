/* campaign_latency.c - local targets are told to play their latency model or not, and asked whether they do. */
#include "campaign_internal.h"

#include "campaign_config.h"
#include "launcher.h"
#include "local_latency.h"
#include "run_dir.h"
#include "text.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

/* A target answers within a few milliseconds; a curve of a megabyte on a busy machine takes longer. */
#define ANSWER_EVERY_MS   2
#define ANSWER_PATIENCE_S 10
#define TEXT_OF_(x)       #x
#define TEXT_OF(x)        TEXT_OF_(x)

char *campaign_control_file(const struct campaign *c, const struct campaign_target *t)
{
    return text_format("%s/target-%td.control", c->dir->path, t - c->config->targets);
}

static bool is_switched(const struct campaign_target *t)
{
    return t->is_local && local_latency_is_switched(&t->local);
}

static void fail(struct campaign *c, const struct campaign_target *t, const char *what, const char *why)
{
    char *message = text_format("target %s %s: %s", t->name, what, why);
    campaign_fail(c, EXIT_STATUS_COULD_NOT_RUN, message != NULL ? message : "out of memory");
    free(message);
}

bool campaign_write_local_latency(struct campaign *c, bool is_on)
{
    for (size_t i = 0; i < c->config->n_targets; i++) {
        const struct campaign_target *t = &c->config->targets[i];
        if (!is_switched(t)) {
            continue;
        }
        char *file = campaign_control_file(c, t);
        const struct launched *child = launcher_child(c->launcher, c->target_children[i]);
        int rc = file != NULL ? local_latency_set(&t->local, file, is_on, child != NULL ? child->pid : 0) : -ENOMEM;
        free(file);
        if (rc != 0) {
            fail(c, t, "cannot be told its latency", strerror(-rc));
            return false;
        }
        c->awaits_answer[i] = true;
    }
    return true;
}

static void look_again(struct campaign *c)
{
    struct timeval tv = {0, ANSWER_EVERY_MS * 1000};
    event_add(c->latency_answers, &tv);
}

/* The one of target i, if it is still owed: 0, -EAGAIN, or another -errno after campaign_fail. */
static int take_answer(struct campaign *c, size_t i)
{
    const struct campaign_target *t = &c->config->targets[i];
    char message[1024] = "out of memory";
    char *file = campaign_control_file(c, t);
    int rc = file != NULL ? local_latency_answer(file, message, sizeof message) : -ENOMEM;
    free(file);
    if (rc == 0) {
        c->awaits_answer[i] = false;
    } else if (rc != -EAGAIN) {
        fail(c, t, "refuses to change its latency", message);
    } else if (mono_since_ns(mono_now(), c->switch_started) > ANSWER_PATIENCE_S * INT64_C(1000000000)) {
        fail(c, t, "does not answer",
             "it was told to change its latency " TEXT_OF(ANSWER_PATIENCE_S) " s ago (SIGHUP)");
        rc = -ETIMEDOUT;
    }
    return rc;
}

void campaign_on_latency_answers(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct campaign *c = arg;
    bool is_complete = true;
    if (c->state != CAMPAIGN_SWITCHING) {
        return; /* the campaign has ended meanwhile */
    }
    for (size_t i = 0; i < c->config->n_targets; i++) {
        int rc = c->awaits_answer[i] ? take_answer(c, i) : 0;
        if (rc != 0 && rc != -EAGAIN) {
            return;
        }
        is_complete = is_complete && rc == 0;
    }
    if (is_complete) {
        c->after_switch(c);
    } else {
        look_again(c);
    }
}

void campaign_switch_local_latency(struct campaign *c, bool is_on, void (*next)(struct campaign *c))
{
    bool is_any = false;
    for (size_t i = 0; i < c->config->n_targets; i++) {
        is_any = is_any || is_switched(&c->config->targets[i]);
    }
    if (!is_any) {
        next(c);
        return;
    }
    c->state = CAMPAIGN_SWITCHING;
    c->after_switch = next;
    c->switch_started = mono_now();
    if (campaign_write_local_latency(c, is_on)) {
        look_again(c);
    }
}
