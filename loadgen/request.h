/* request.h - one request: an op drawn from the mix, carried by one or several RPCs.
 *
 *   begin (ops_*.c chooses a file, sends) ──> rpc done ──classified──> on_reply (right? what follows?) ──> op_record
 *                                                 ▲                          │
 *                                                 └──────────────────────────┘  none in flight: end
 *
 * - A reply is classified here by result and status, then the op judges what only it can know. A request is good when
 *   every RPC of it was right at once; a request in which the server did something wrong is never counted, even if it
 *   could be completed.
 * - NFS3ERR_JUKEBOX is asked again after a pause, up to the time of a time-out; it is a failed RPC, and the request
 *   goes on.
 * - on_reply may send further RPCs of the request; when it leaves none in flight, the request has ended.
 */
#ifndef NFSCURVE_LOADGEN_REQUEST_H
#define NFSCURVE_LOADGEN_REQUEST_H

#include "biod.h"
#include "fileset.h"
#include "nfs3_client.h"
#include "op_mix.h"
#include "tally.h"

struct event;
struct load;
struct request;

enum request_state {
    REQUEST_IDLE,
    REQUEST_ACTIVE,  /* RPCs in flight */
    REQUEST_WAITING, /* everything its op could work on is in use: begins again a little later */
    REQUEST_COOLING  /* ended without having sent anything: its slot is not free before a pause */
};

struct rpc {
    struct nfs3_call call;
    struct request *request;
    bool is_used;
    mono_t due;
    uint32_t expected_status;  /* NFS3_OK, or the NOENT that is asked for */
    struct nfs3_fh fh, to_dir; /* copies: tables may move while a call is under way */
    char name[FILESET_NAME_BYTES], to_name[FILESET_NAME_BYTES];
    struct biod_piece piece;
    uint8_t *buffer; /* WRITE data; block_bytes, made when first needed */
    uint32_t buffer_bytes;
    int64_t pause_ns; /* before a JUKEBOX is asked again; 0: not yet */
    mono_t give_up_at;
    struct event *retry; /* made when first needed */
};

struct request {
    struct load *load; /* (ref) */
    uint32_t number;   /* of its slot */
    enum request_state state;
    mono_t state_until; /* REQUEST_WAITING, REQUEST_COOLING */

    enum nfs_op op;
    struct op_charge charge;
    mono_t due;
    mono_t sent, done; /* of its first and last RPC */
    bool has_sent, is_good;
    uint32_t n_in_flight;
    uint16_t n_rpcs[NFS_OP_COUNT]; /* by procedure, answered or not */

    /* the op's own */
    int step;
    enum nfs_op acting;     /* names: the op itself, or a by-product that goes before it */
    uint32_t row;           /* of the working set; FILESET_NONE */
    uint32_t slot, to_slot; /* non-I/O slots; FILESET_NONE */
    uint32_t dir;
    struct biod biod;
    uint64_t offset, bytes, old_bytes, generation;
    bool is_truncation, has_verifier, verifier_changed;
    uint64_t verifier;
    uint32_t n_rounds;
    uint64_t cookie, cookie_verifier, first_fileid, n_entries;

    uint32_t n_calls;
    struct rpc *rpcs;
};

/* What an op does. */
struct op_driver {
    /* Chooses what to work on and sends the first RPC(s). 0, or -EAGAIN when everything it could take is in use. */
    int (*begin)(struct request *request);
    /* A reply came; `outcome` is what the result and the status say. Returns what it really is. */
    enum op_outcome (*on_reply)(struct request *request, struct rpc *rpc, const struct nfs3_reply *reply,
                                enum op_outcome outcome);
    /* Nothing is in flight any more: gives back what begin took. */
    void (*end)(struct request *request);
};

const struct op_driver *op_driver_of(enum nfs_op op);

/* 0 or -ENOMEM. */
int request_init(struct request *request, struct load *load, uint32_t number, uint32_t n_calls);
void request_fini(struct request *request);

/* Begins with the op drawn; false when it has to be tried again a little later. */
bool request_begin(struct request *request);

/* A free RPC of the request, with op set, everything else at rest. Never NULL: n_calls covers the biods. */
struct rpc *request_rpc(struct request *request, enum nfs_op op);

/* Sends it. False when that was impossible: the RPC has failed and was counted so (not so while the load is being
 * stopped). */
bool request_send(struct rpc *rpc);

/* The load is being stopped: RPCs that wait to be asked again are dropped, and the request ends when nothing else is in
 * flight. */
void request_abandon_retries(struct request *request);

/* Names what the server did wrong. */
void request_anomaly(struct request *request, enum anomaly anomaly);

/* The data buffer of a WRITE. NULL when memory is short. */
uint8_t *rpc_buffer(struct rpc *rpc, uint32_t bytes);

#endif
