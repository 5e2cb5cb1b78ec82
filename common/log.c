#include "log.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOG_LINE_MAX 4096

/* Where this process logs to. Set once at the start, inherited over fork: not state that anything else hangs on. */
static struct {
    const char *program; /* (ref) the caller's, for the life of the process */
    enum log_level level;
    int fd; /* of the log file; -1: none */
} sink = {.program = "nfscurve", .level = LOG_LEVEL_INFO, .fd = -1};

/* A program may be started with its standard streams closed. What takes their places fails as they did: nothing can be
 * read from 0, nothing written to 1 and 2. */
static void take_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) {
            return; /* no /dev/null: nothing better can be done */
        }
    }
}

void log_init(const char *program, enum log_level level)
{
    take_standard_descriptors();
    sink.program = program;
    sink.level = level;
}

int log_to_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd < 0) {
        return -errno;
    }
    if (sink.fd >= 0) {
        close(sink.fd);
    }
    sink.fd = fd;
    return 0;
}

static void write_line(int fd, const char *line, size_t n)
{
    /* One write per line: lines of several processes that share the descriptor stay whole. A full disk or a closed
     * terminal must not stop a measurement, so what can't be written is dropped. */
    while (n > 0) {
        ssize_t written = write(fd, line, n);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return;
        }
        line += written;
        n -= (size_t)written;
    }
}

__attribute__((format(printf, 2, 0))) static void log_v(enum log_level level, const char *fmt, va_list args)
{
    static const char *const words[] = {"error: ", "warning: ", "", "debug: "};
    char line[LOG_LINE_MAX], when[25];

    bool is_for_file = sink.fd >= 0 && (level <= sink.level || level <= LOG_LEVEL_INFO);
    if (level > sink.level && !is_for_file) {
        return;
    }
    wall_format(wall_now(), when);
    int head = snprintf(line, sizeof line, "%s %s: %s", when, sink.program, words[level]);
    size_t length = head < 0 ? 0 : (size_t)head < sizeof line ? (size_t)head : sizeof line - 1;
    int body = vsnprintf(line + length, sizeof line - length, fmt, args);
    if (body < 0) {
        return;
    }
    size_t end = length + (size_t)body;
    if (end > sizeof line - 2) {
        end = sizeof line - 2;
    }

    /* One event, one line: a line break within the message would let whoever supplied it forge events. */
    for (size_t i = length; i < end; i++) {
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) {
            line[i] = ' ';
        }
    }
    line[end++] = '\n';
    if (level <= sink.level) {
        write_line(STDERR_FILENO, line, end);
    }
    if (is_for_file) {
        write_line(sink.fd, line, end);
    }
}

void log_error(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_v(LOG_LEVEL_ERROR, fmt, args);
    va_end(args);
}

void log_warn(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_v(LOG_LEVEL_WARN, fmt, args);
    va_end(args);
}

void log_info(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_v(LOG_LEVEL_INFO, fmt, args);
    va_end(args);
}

void log_debug(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_v(LOG_LEVEL_DEBUG, fmt, args);
    va_end(args);
}

/* Bytes of the valid, printable UTF-8 character at text; 0 when there is none (RFC 3629 section 4). */
static size_t printable_length(const unsigned char *text, size_t n)
{
    unsigned char first = text[0];
    if (first < 0x80) {
        return first >= 0x20 && first != 0x7f;
    }

    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || n < length) {
        return 0;
    }
    uint32_t code = first & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3fu);
    }
    static const uint32_t smallest[] = {[2] = 0x80, [3] = 0x800, [4] = 0x10000};
    bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    bool is_c1_control = code < 0xa0;
    return code < smallest[length] || code > 0x10ffff || is_surrogate || is_c1_control ? 0 : length;
}

char *log_quote(char *out, size_t cap, const char *text, size_t n)
{
    const unsigned char *from = (const unsigned char *)text;
    size_t used = 0;

    if (cap == 0) {
        return out;
    }
    while (n > 0) {
        size_t length = printable_length(from, n);
        if (used + (length ? length : 4) >= cap) {
            break;
        }
        if (length) {
            memcpy(out + used, from, length);
            used += length;
        } else {
            static const char hex[] = "0123456789abcdef";
            out[used++] = '\\';
            out[used++] = 'x';
            out[used++] = hex[*from >> 4];
            out[used++] = hex[*from & 15];
            length = 1;
        }
        from += length;
        n -= length;
    }
    out[used] = '\0';
    return out;
}
