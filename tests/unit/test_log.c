#include "log.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *quote(const char *text, size_t n)
{
    static char out[256];
    return log_quote(out, sizeof out, text, n);
}

Test(log, quote_leaves_printable_text_alone)
{
    cr_assert_str_eq(quote("file_en.00042", 13), "file_en.00042");
    cr_assert_str_eq(quote("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    cr_assert_str_eq(quote("", 0), "");
}

Test(log, quote_escapes_control_characters)
{
    cr_assert_str_eq(quote("a\nb\0c\x1b[2J\x7f", 10), "a\\x0ab\\x00c\\x1b[2J\\x7f");
    cr_assert_str_eq(quote("\xc2\x9b", 2), "\\xc2\\x9b"); /* U+009B, the one-byte terminal escape */
}

Test(log, quote_escapes_what_is_not_utf_8)
{
    cr_assert_str_eq(quote("\xff", 1), "\\xff");
    cr_assert_str_eq(quote("\xc3", 1), "\\xc3");                            /* cut short */
    cr_assert_str_eq(quote("\xc3(", 2), "\\xc3(");                          /* no continuation */
    cr_assert_str_eq(quote("\xc0\xaf", 2), "\\xc0\\xaf");                   /* overlong '/' */
    cr_assert_str_eq(quote("\xe0\x80\xaf", 3), "\\xe0\\x80\\xaf");          /* overlong '/' */
    cr_assert_str_eq(quote("\xed\xa0\x80", 3), "\\xed\\xa0\\x80");          /* surrogate */
    cr_assert_str_eq(quote("\xf4\x90\x80\x80", 4), "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
}

Test(log, quote_cuts_at_a_whole_character_and_terminates)
{
    char out[6];
    memset(out, 'x', sizeof out);
    cr_assert_str_eq(log_quote(out, 6, "abcdefgh", 8), "abcde");
    cr_assert_str_eq(log_quote(out, 6, "abc\x01", 4), "abc");
    cr_assert_str_eq(log_quote(out, 6, "abcd\xc3\xa4", 6), "abcd");
    cr_assert_str_eq(log_quote(out, 1, "abc", 3), "");
    out[0] = 'z';
    log_quote(out, 0, "abc", 3);
    cr_assert_eq(out[0], 'z');
}

/* What lands in the log file when `message` is logged as an error; stderr is silenced meanwhile. */
static char *logged(const char *message)
{
    static char text[8192];
    char path[] = P_tmpdir "/test_log.XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    int null = open("/dev/null", O_WRONLY), saved = dup(STDERR_FILENO);
    dup2(null, STDERR_FILENO);
    log_init("prog", LOG_LEVEL_INFO);
    cr_assert_eq(log_to_file(path), 0);
    log_debug("not seen at this level");
    log_error("%s", message);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(null);
    ssize_t n = read(fd, text, sizeof text - 1);
    cr_assert_geq(n, 0);
    text[n] = '\0';
    close(fd);
    unlink(path);
    return text;
}

Test(log, line_has_time_program_level_and_message)
{
    char *line = logged("mount refused");
    cr_assert_eq(strlen(line), 24 + strlen(" prog: error: mount refused\n"));
    cr_assert_eq(line[10], 'T');
    cr_assert_eq(line[23], 'Z');
    cr_assert_str_eq(line + 24, " prog: error: mount refused\n");
}

Test(log, message_cannot_forge_a_second_line)
{
    char *line = logged("one\ntwo\r\x1b[31m");
    cr_assert_eq(strchr(line, '\n'), line + strlen(line) - 1);
    cr_assert_null(strchr(line, '\r'));
    cr_assert_null(strchr(line, '\x1b'));
}

Test(log, overlong_message_is_cut_but_keeps_its_line_break)
{
    static char message[6000];
    memset(message, 'm', sizeof message - 1);
    char *line = logged(message);
    cr_assert_lt(strlen(line), 4097);
    cr_assert_eq(line[strlen(line) - 1], '\n');
}

Test(log, file_that_cannot_be_opened_gives_the_reason)
{
    cr_assert_eq(log_to_file("/nonexistent-directory/log.txt"), -ENOENT);
}

/* Without Criterion's words, which need the descriptors that are closed here. */
static int look_without_standard_streams(void)
{
    close_range(STDIN_FILENO, STDERR_FILENO, 0);
    log_init("p", LOG_LEVEL_INFO);
    int opened = open("/dev/null", O_RDWR | O_CLOEXEC);
    char byte;
    bool is_dead = read(STDIN_FILENO, &byte, 1) < 0 && errno == EBADF && write(STDOUT_FILENO, "x", 1) < 0 &&
                   errno == EBADF && write(STDERR_FILENO, "x", 1) < 0 && errno == EBADF;
    return (opened > STDERR_FILENO ? 0 : 1) + (is_dead ? 0 : 2);
}

Test(log, closed_standard_streams_stay_closed_to_what_is_opened_later)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        _exit(look_without_standard_streams());
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert_eq(status, 0);
}
