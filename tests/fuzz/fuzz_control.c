/* fuzz_control.c - the load generator's control port against bodies with a right seal: whoever has the key (or
 * everybody, without one) chooses these bytes. Every body is answered, under the seal, and the next one too.
 *
 *   input ── sealed by a client of our own ──loopback──> control service ──> daemon (whose processes end at once)
 *
 * The first byte chooses: even, the body is sealed and sent over the connection; odd, the bytes go to the decoders of
 * both sides alone, which is much faster.
 */
#include "clock.h"
#include "control_service.h"
#include "daemon.h"
#include "loadgen_prot.h"
#include "log.h"
#include "rpc_client.h"
#include "seal.h"
#include "target_filter.h"

#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct event_base *base;
static struct rpc_client *client;
static struct seal seal;
static uint8_t nonce[SEAL_NONCE_BYTES];
static bool is_answered, is_greeted;

static int end_at_once(const struct process_setup *setup)
{
    (void)setup;
    return 0;
}

static void on_reply(struct rpc_client *c, const struct rpc_call_reply *reply, void *arg)
{
    (void)c;
    (void)arg;
    if (reply->result != RPC_CALL_OK) {
        abort();
    }
    if (!is_greeted) {
        lg_hello hello;
        XDR xdrs;
        memset(&hello, 0, sizeof hello);
        xdrmem_create(&xdrs, (char *)(uintptr_t)reply->results, (u_int)reply->results_bytes, XDR_DECODE);
        if (!xdr_lg_hello(&xdrs, &hello)) {
            abort();
        }
        seal_init(&seal, NULL, nonce, (uint8_t *)hello.nonce);
        xdr_free((xdrproc_t)xdr_lg_hello, &hello);
        is_greeted = true;
    }
    is_answered = true;
}

static void call(uint32_t procedure, const uint8_t *args, size_t bytes)
{
    is_answered = false;
    if (rpc_client_call(client, LOADGEN_PROG, LOADGEN_V1, procedure, args, bytes, 20 * NS_PER_S, on_reply, NULL,
                        NULL) != 0) {
        abort();
    }
    while (!is_answered) {
        event_base_loop(base, EVLOOP_ONCE);
    }
}

static void begin(void)
{
    static struct target_filter filter;
    static const struct rpc_client_handlers handlers;
    struct daemon_options options = {.lease_ns = 3600 * NS_PER_S, .filter = &filter, .process_main = end_at_once};
    char software[] = "fuzz", message[256];
    uint8_t record[128];
    lg_hello hello = {.revision = LG_REVISION, .software = software};
    uint16_t port = 0;
    XDR xdrs;

    signal(SIGPIPE, SIG_IGN);
    log_init("fuzz_control", LOG_LEVEL_ERROR);
    base = event_base_new();
    struct control_service *service = control_service_create(base, daemon_create(base, &options), NULL);
    if (seal_library_init() != 0 ||
        control_service_listen(service, "127.0.0.1", 0, &port, message, sizeof message) != 0) {
        abort();
    }
    struct rpc_client_options to = {.connect = {.host = "127.0.0.1", .port = port, .timeout_ns = 5 * NS_PER_S},
                                    .max_record_bytes = 2 << 20};
    client = rpc_client_create(base, &to, &handlers, NULL);
    memcpy(hello.nonce, nonce, sizeof nonce);
    xdrmem_create(&xdrs, (char *)record, sizeof record, XDR_ENCODE);
    if (!xdr_lg_hello(&xdrs, &hello)) {
        abort();
    }
    call(LOADGEN_HELLO, record, xdr_getpos(&xdrs));
}

static void send_sealed(const uint8_t *body, size_t bytes)
{
    static uint8_t record[1 << 20];
    lg_sealed sealed = {.body = {(u_int)bytes, (char *)(uintptr_t)body}};
    XDR xdrs;

    sealed.sequence = seal_sign_call(&seal, body, bytes, (uint8_t *)sealed.mac);
    xdrmem_create(&xdrs, (char *)record, sizeof record, XDR_ENCODE);
    if (xdr_lg_sealed(&xdrs, &sealed)) {
        call(LOADGEN_SEALED, record, xdr_getpos(&xdrs));
    }
}

/* Decodes and frees, whatever comes of it. */
static void decode(xdrproc_t proc, void *out, size_t out_bytes, const uint8_t *data, size_t size)
{
    XDR xdrs;

    memset(out, 0, out_bytes);
    xdrmem_create(&xdrs, (char *)(uintptr_t)data, (u_int)size, XDR_DECODE);
    proc(&xdrs, out);
    xdr_free(proc, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    union {
        lg_sealed sealed;
        lg_request request;
        lg_sealed_reply sealed_reply;
        lg_reply reply;
        lg_hello hello;
    } out;

    if (!base) {
        begin();
    }
    if (size == 0) {
        return 0;
    }
    if (data[0] % 2 == 0) {
        send_sealed(data + 1, size - 1);
        return 0;
    }
    decode((xdrproc_t)xdr_lg_sealed, &out.sealed, sizeof out.sealed, data + 1, size - 1);
    decode((xdrproc_t)xdr_lg_request, &out.request, sizeof out.request, data + 1, size - 1);
    decode((xdrproc_t)xdr_lg_sealed_reply, &out.sealed_reply, sizeof out.sealed_reply, data + 1, size - 1);
    decode((xdrproc_t)xdr_lg_reply, &out.reply, sizeof out.reply, data + 1, size - 1);
    decode((xdrproc_t)xdr_lg_hello, &out.hello, sizeof out.hello, data + 1, size - 1);
    return 0;
}
