/* host_survey.c - see host_survey.h. */
#include "host_survey.h"

#include "control_client.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct survey {
    struct event_base *base;
    uint32_t n_left;
    int64_t timeout_ns;
};

struct subject {
    struct survey *survey;
    struct control_client *client;
    struct host_finding *finding;
    bool is_done;
};

static void finish(struct subject *s, int error, const char *message)
{
    if (s->is_done) {
        return;
    }
    s->is_done = true;
    s->finding->error = error;
    snprintf(s->finding->message, sizeof s->finding->message, "%s", message);
    if (--s->survey->n_left == 0) {
        event_base_loopbreak(s->survey->base);
    }
}

static void on_closed(struct control_client *client, const char *why, void *arg)
{
    (void)client;
    finish(arg, -ENOTCONN, why);
}

static void on_facts(struct control_client *client, int error, const char *message, const struct control_answer *answer,
                     void *arg)
{
    struct subject *s = arg;
    struct host_finding *out = s->finding;
    (void)client;
    if (!error) {
        loadgen_facts_take(&out->facts, &answer->facts, answer->rtt_ns);
        out->facts.rtt_ns = answer->rtt_ns;
        snprintf(out->held_by_campaign, sizeof out->held_by_campaign, "%s", answer->facts.held_by_campaign);
        snprintf(out->held_by_host, sizeof out->held_by_host, "%s", answer->facts.held_by_host);
    }
    finish(s, error, message);
}

static void on_hello(struct control_client *client, int error, const char *message, const struct control_answer *answer,
                     void *arg)
{
    struct subject *s = arg;
    (void)answer;
    if (!error) {
        error = control_client_facts(client, s->survey->timeout_ns, on_facts, s);
        message = strerror(-error);
    }
    if (error) {
        finish(s, error, message);
    }
}

int host_survey_run(const struct cluster_host *hosts, uint32_t n, const uint8_t *key, int64_t timeout_ns,
                    struct host_finding *findings)
{
    struct survey survey = {.base = event_base_new(), .n_left = n, .timeout_ns = timeout_ns};
    struct subject *subjects = calloc(n + 1, sizeof *subjects);
    /* A host that answers HELLO and no more: its FACTS call has a deadline of its own behind that of HELLO. */
    int error = survey.base && subjects ? 0 : -ENOMEM;

    memset(findings, 0, n * sizeof *findings);
    for (uint32_t i = 0; i < n && !error; i++) {
        struct control_client_options options = {
            .host = hosts[i].host, .port = hosts[i].port, .key = key, .connect_timeout_ns = timeout_ns};
        subjects[i] = (struct subject){.survey = &survey, .finding = &findings[i]};
        subjects[i].client = control_client_create(survey.base, &options, on_closed, &subjects[i]);
        int failed =
            subjects[i].client ? control_client_hello(subjects[i].client, timeout_ns, on_hello, &subjects[i]) : -ENOMEM;
        if (failed) {
            finish(&subjects[i], failed, strerror(-failed));
        }
    }
    if (!error && survey.n_left > 0) {
        event_base_dispatch(survey.base);
    }
    for (uint32_t i = 0; subjects && i < n; i++) {
        control_client_destroy(subjects[i].client);
    }
    free(subjects);
    if (survey.base) {
        event_base_free(survey.base);
    }
    return error;
}
