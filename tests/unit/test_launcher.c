/* test_launcher.c - children that become ready, that never do, and that die; none survives. */
#include "launcher.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* `sh -c SCRIPT --ready-file FILE`: in the script $1 is the file. */
#define READY "echo '{\"address\": \"127.0.0.9\", \"port\": 4711}' > $1.tmp; mv $1.tmp $1; "

static struct event_base *base;
static struct launcher *launcher;
static char dir[64];
static int n_ready, ready_error, n_deaths;
static char message[1024];

static void on_ready(struct launcher *l, int error, const char *text, void *arg)
{
    (void)l;
    (void)arg;
    n_ready++;
    ready_error = error;
    snprintf(message, sizeof message, "%s", text);
    event_base_loopbreak(base);
}

static void on_death(struct launcher *l, const char *name, const char *how, void *arg)
{
    (void)l;
    (void)arg;
    n_deaths++;
    snprintf(message, sizeof message, "%s: %s", name, how);
    event_base_loopbreak(base);
}

static void set_up(void)
{
    const struct launcher_events events = {.on_ready = on_ready, .on_death = on_death};
    snprintf(dir, sizeof dir, "/tmp/test-launcher-XXXXXX");
    cr_assert_not_null(mkdtemp(dir));
    base = event_base_new();
    launcher = launcher_create(base, dir, &events, NULL);
    cr_assert_not_null(launcher);
}

static void tear_down(void)
{
    char command[128];
    launcher_destroy(launcher);
    event_base_free(base);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    cr_assert_eq(system(command), 0);
}

TestSuite(launcher, .init = set_up, .fini = tear_down, .timeout = 60);

static int add(const char *name, const char *script)
{
    const char *argv[] = {"-c", script};
    return launcher_add(launcher, name, "sh", argv, 2);
}

Test(launcher, tells_once_when_all_children_are_ready)
{
    int first = add("a", READY "exec sleep 100"), second = add("b", READY "exec sleep 100");
    launcher_start(launcher);
    event_base_dispatch(base);
    cr_assert_eq(n_ready, 1);
    cr_assert_eq(ready_error, 0, "%s", message);
    cr_assert_str_eq(launcher_child(launcher, first)->address, "127.0.0.9");
    cr_assert_eq(launcher_child(launcher, second)->port, 4711);
    cr_assert_null(launcher_child(launcher, 2));
}

Test(launcher, a_child_that_ends_before_it_is_ready_is_told_with_its_last_words)
{
    add("bad one", "echo first; echo 'no such export' >&2; exit 3");
    launcher_start(launcher);
    event_base_dispatch(base);
    cr_assert_eq(ready_error, -ECHILD);
    cr_assert_not_null(strstr(message, "bad one: pid "));
    cr_assert_not_null(strstr(message, "ended with status 3: no such export"), "%s", message);
}

Test(launcher, a_program_that_is_not_there_is_named)
{
    launcher_add(launcher, "ghost", "no-such-program", NULL, 0);
    launcher_start(launcher);
    event_base_dispatch(base);
    cr_assert_eq(ready_error, -ECHILD);
    cr_assert_not_null(strstr(message, "no-such-program cannot be executed"), "%s", message);
}

Test(launcher, a_child_that_dies_later_is_told_by_name)
{
    int index = add("victim", READY "exec sleep 100");
    launcher_start(launcher);
    event_base_dispatch(base);
    kill(launcher_child(launcher, index)->pid, SIGKILL);
    event_base_dispatch(base);
    cr_assert_eq(n_deaths, 1);
    cr_assert_not_null(strstr(message, "died of signal 9"), "%s", message);
}

Test(launcher, nobody_survives_it_not_even_those_who_ignore_sigterm)
{
    int index = add("stubborn", "trap '' TERM; " READY "while :; do sleep 0.05; done");
    launcher_start(launcher);
    event_base_dispatch(base);
    pid_t pid = launcher_child(launcher, index)->pid;
    launcher_destroy(launcher);
    launcher = NULL;
    cr_assert_eq(kill(pid, 0), -1);
    cr_assert_eq(errno, ESRCH);
}
