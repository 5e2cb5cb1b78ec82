/* bare_client.h - the barest NFSv3 client: words written by hand into one buffer, records read from another. It shares
 * no code with the target, costs a fraction of a microsecond per call, and can pipeline, so that what it measures is
 * the target.
 */
#ifndef NFSCURVE_TESTS_BARE_CLIENT_H
#define NFSCURVE_TESTS_BARE_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#define BARE_NFS   100003u
#define BARE_MOUNT 100005u

struct bare_fh {
    uint32_t len;
    uint8_t data[64];
};

struct bare {
    int fd;
    uint32_t xid; /* of the last call begun */
    uint8_t *out;
    size_t out_len, out_capacity, mark_at;
    uint8_t *in;
    size_t in_start, in_end, in_capacity;
    int64_t arrived_ns; /* of the last bytes read, by bare_wall_ns's clock: the kernel's stamp, so no wake-up of ours is
                           in what is measured */
};

/* One reply: results behind the RPC header, valid until the next. */
struct bare_reply {
    uint32_t xid;
    const uint8_t *results;
    size_t bytes;
};

/* Exit the program with a message when something fails: these are tools. */
void bare_connect(struct bare *b, const char *address, int port);
void bare_close(struct bare *b);

/* A call of AUTH_SYS uid 0: begin, arguments, end; it leaves at the flush. */
void bare_begin(struct bare *b, uint32_t program, uint32_t procedure);
void bare_u32(struct bare *b, uint32_t value);
void bare_u64(struct bare *b, uint64_t value);
void bare_opaque(struct bare *b, const void *data, uint32_t n); /* counted and padded */
void bare_end(struct bare *b);
void bare_flush(struct bare *b);

/* Waits for the next reply; it must be accepted and successful. */
void bare_receive(struct bare *b, struct bare_reply *reply);
/* 1 when a whole reply is buffered already. */
int bare_has_reply(const struct bare *b);

uint32_t bare_word(const struct bare_reply *reply, size_t index);

/* One call at a time; exits when the status is not 0. */
void bare_mount(struct bare *b, const char *export, struct bare_fh *root);
void bare_make_file(struct bare *b, const struct bare_fh *dir, const char *name, struct bare_fh *fh);
void bare_make_dir(struct bare *b, const struct bare_fh *dir, const char *name, struct bare_fh *fh);
void bare_set_size(struct bare *b, const struct bare_fh *fh, uint64_t size);

/* CLOCK_MONOTONIC. */
int64_t bare_now_ns(void);
/* CLOCK_REALTIME, the clock of the kernel's stamps: what arrived_ns is compared with. */
int64_t bare_wall_ns(void);

#endif
