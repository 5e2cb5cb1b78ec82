"""No byte stream from a client crashes the target, stalls other clients, or makes it allocate without bound."""

import os
import random
import socket
import threading
import time

import pytest
from support import bare_nfs as nfs
from support.bare_nfs import Client, Closed
from support.process import PATIENCE

pytestmark = [pytest.mark.faults, pytest.mark.sanitizer]


def memory_kib(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


@pytest.fixture
def server(target):
    return target()


def connect(server):
    return socket.create_connection((server.address, server.port), 10)


def assert_serves(server):
    client = Client(server.address, server.port, timeout_s=10 * PATIENCE)
    root = client.mount(server.export)
    assert client.call(nfs.GETATTR, nfs.fh(root)).status == 0
    client.close()


def test_fragments_become_one_call(server):
    client = Client(server.address, server.port)
    root = client.mount(server.export)
    message = client.message(nfs.GETATTR, nfs.fh(root))
    for size in (1, 3, 4, 50, len(message) - 1):
        pieces = [message[i:i + size] for i in range(0, len(message), size)]
        marks = [len(p) | (nfs.LAST_FRAGMENT if i == len(pieces) - 1 else 0) for i, p in enumerate(pieces)]
        client.socket.sendall(b"".join(nfs.u32(m) + p for m, p in zip(marks, pieces)))
        assert client.receive().status == 0
    for byte in nfs.u32(nfs.LAST_FRAGMENT | len(message)) + message:
        client.socket.sendall(bytes([byte]))
    assert client.receive().status == 0
    client.close()


def test_write_of_a_mebibyte_in_fragments_of_an_odd_size(server):
    client = Client(server.address, server.port)
    file = client.create(client.mount(server.export), "file")
    data = os.urandom(1 << 20)
    message = client.message(nfs.WRITE, nfs.fh(file) + nfs.u64(0) + nfs.u32(len(data), 2) + nfs.opaque(data))
    pieces = [message[i:i + 9973] for i in range(0, len(message), 9973)]
    client.socket.sendall(b"".join(nfs.u32(len(p) | (nfs.LAST_FRAGMENT if i == len(pieces) - 1 else 0)) + p for i, p in enumerate(pieces)))
    assert client.receive().status == 0
    assert client.read(file, 0, 1 << 20) == (data, True)
    client.close()


@pytest.mark.parametrize("raw", [
    pytest.param(nfs.u32(0xffffffff) + bytes(1000), id="2 GiB in one fragment"),
    pytest.param((nfs.u32(600000) + bytes(600000)) * 2, id="fragments that sum beyond the limit"),
    pytest.param(nfs.u32(nfs.LAST_FRAGMENT | 40) + nfs.u32(1, 1) + bytes(32), id="a reply"),
    pytest.param(nfs.u32(nfs.LAST_FRAGMENT | 8) + bytes(8), id="a header cut off"),
])
def test_what_is_no_call_closes_that_connection_only(server, raw):
    bystander = Client(server.address, server.port)
    root = bystander.mount(server.export)
    client = Client(server.address, server.port)
    client.socket.sendall(raw)
    with pytest.raises(Closed):
        client.receive()
    assert bystander.call(nfs.GETATTR, nfs.fh(root)).status == 0
    bystander.close()
    client.close()


def test_rpc_errors_are_those_of_rfc_5531(server):
    client = Client(server.address, server.port)
    root = client.mount(server.export)
    arguments = nfs.fh(root)

    def stat(**header):
        reply = client.call(nfs.GETATTR, arguments, **header)
        return reply.is_denied, reply.stat, reply.results

    assert stat(program=100999) == (False, 1, b"")  # PROG_UNAVAIL
    assert stat(version=2) == (False, 2, nfs.u32(3, 3))  # PROG_MISMATCH
    assert stat(version=4) == (False, 2, nfs.u32(3, 3))
    assert stat(program=nfs.MOUNT, version=1) == (False, 2, nfs.u32(3, 3))
    reply = client.call(22, b"")
    assert (reply.is_denied, reply.stat) == (False, 3)  # PROC_UNAVAIL
    assert (client.call(6, b"", program=nfs.MOUNT).stat) == 3
    for garbage in (b"", nfs.u32(65) + bytes(68), nfs.u32(0xffffffff), nfs.u32(20) + bytes(8)):
        reply = client.call(nfs.GETATTR, garbage)
        assert (reply.is_denied, reply.stat) == (False, 4)  # GARBAGE_ARGS
    assert stat(rpc_version=3) == (True, 0, nfs.u32(2, 2))  # RPC_MISMATCH
    assert stat(credential=nfs.u32(6, 0)) == (True, 1, nfs.u32(2))  # AUTH_REJECTEDCRED: RPCSEC_GSS
    assert stat(credential=nfs.u32(1, 8) + bytes(8)) == (True, 1, nfs.u32(1))  # AUTH_BADCRED
    assert stat(credential=nfs.auth_sys(1, 1, range(16)))[1] == 0
    assert stat(credential=nfs.auth_sys(1, 1, range(17))) == (True, 1, nfs.u32(1))
    assert client.call(nfs.GETATTR, arguments, credential=nfs.u32(0, 0)).status == 0  # AUTH_NONE
    client.close()


def test_garbage_arguments_of_every_procedure(server):
    """Cut off at every word, and with a length that claims too much: GARBAGE_ARGS or an NFS error, never a crash."""
    client = Client(server.address, server.port)
    root = client.mount(server.export)
    whole = {nfs.SETATTR: nfs.fh(root) + nfs.u32(1, 0o700, 1, 0, 1, 0, 1) + nfs.u64(0) + nfs.u32(2, 0, 0, 2, 0, 0, 1, 0, 0), nfs.LOOKUP: nfs.fh(root) + nfs.opaque("name"),
             nfs.WRITE: nfs.fh(root) + nfs.u64(0) + nfs.u32(8, 0) + nfs.opaque("12345678"), nfs.CREATE: nfs.fh(root) + nfs.opaque("x") + nfs.u32(2) + bytes(8),
             nfs.SYMLINK: nfs.fh(root) + nfs.opaque("y") + nfs.NOTHING_SET + nfs.opaque("path"), nfs.MKNOD: nfs.fh(root) + nfs.opaque("z") + nfs.u32(3) + nfs.NOTHING_SET + nfs.u32(1, 2),
             nfs.RENAME: nfs.fh(root) + nfs.opaque("a") + nfs.fh(root) + nfs.opaque("b"), nfs.LINK: nfs.fh(root) + nfs.fh(root) + nfs.opaque("b"),
             nfs.READDIRPLUS: nfs.fh(root) + bytes(16) + nfs.u32(10, 10)}
    for procedure, arguments in whole.items():
        for cut in range(0, len(arguments), 4):
            assert client.call(procedure, arguments[:cut]).stat == 4, (procedure, cut)
        for at in range(0, len(arguments), 4):
            reply = client.call(procedure, arguments[:at] + b"\xff\xff\xff\xff" + arguments[at + 4:])
            assert reply.stat in (0, 4)
    assert client.call(nfs.CREATE, nfs.fh(root) + nfs.opaque("x") + nfs.u32(3)).stat == 4  # no such createmode3
    assert client.call(nfs.LOOKUP, nfs.fh(root) + nfs.opaque("n" * 1024)).status == 63
    assert client.call(nfs.LOOKUP, nfs.fh(root) + nfs.opaque("n" * 1025)).stat == 4
    assert client.call(nfs.LOOKUP, nfs.fh(root) + nfs.opaque(b"a\0b")).status == 22
    client.close()


def test_half_open_dribbling_and_deaf_peers_stall_nobody(server):
    half = connect(server)
    half.sendall(nfs.u32(nfs.LAST_FRAGMENT | 1000) + bytes(10))
    deaf = Client(server.address, server.port)
    root = deaf.mount(server.export)
    file = deaf.create(root, "big", size=1 << 20)
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    before = memory_kib(server.pid)
    request = deaf.message(nfs.READ, nfs.fh(file) + nfs.u64(0) + nfs.u32(1 << 20))
    record = nfs.u32(nfs.LAST_FRAGMENT | len(request)) + request
    deaf.socket.setblocking(False)
    sent = 0
    try:
        while sent < 30000:  # 30 GB of answers
            deaf.socket.sendall(record)
            sent += 1
    except BlockingIOError:
        pass
    stop = threading.Event()

    def dribble():
        s = connect(server)
        while not stop.wait(0.01):
            s.sendall(b"\0")
        s.close()

    thread = threading.Thread(target=dribble)
    thread.start()
    client = Client(server.address, server.port)
    slowest = 0
    for _ in range(300):
        start = time.monotonic()
        assert client.call(nfs.GETATTR, nfs.fh(root)).status == 0
        slowest = max(slowest, time.monotonic() - start)
    stop.set()
    thread.join()
    assert slowest < 0.25 * PATIENCE, f"a GETATTR took {slowest:.3f} s"
    assert memory_kib(server.pid) - before < 16 * 1024 * PATIENCE
    for s in (half, deaf.socket, client.socket):
        s.close()


def test_calls_that_wait_for_their_answer_are_bounded(target):
    server = target("--latency", "fixed:30s")
    client = Client(server.address, server.port)
    message = client.message(nfs.NULL)
    record = nfs.u32(nfs.LAST_FRAGMENT | len(message)) + message
    client.socket.setblocking(False)
    before = memory_kib(server.pid)
    deadline = time.monotonic() + 2
    try:
        while time.monotonic() < deadline:
            client.socket.sendall(record * 1000)
    except BlockingIOError:
        pass
    assert memory_kib(server.pid) - before < 16 * 1024 * PATIENCE
    assert server.stop() == 0
    client.close()


def test_ten_thousand_random_streams(server):
    dice = random.Random(5)
    client = Client(server.address, server.port)
    root = client.mount(server.export)
    client.close()
    before = None
    for i in range(10_000 // PATIENCE):
        kind = dice.randrange(4)
        s = connect(server)
        if kind == 0:
            raw = dice.randbytes(dice.randrange(200))
        elif kind == 1:
            body = dice.randbytes(dice.randrange(400))
            raw = nfs.u32(nfs.LAST_FRAGMENT | len(body)) + body
        else:
            body = bytearray(nfs.u32(i, 0, 2, dice.choice([nfs.NFS, nfs.MOUNT]), 3, dice.randrange(23)) + nfs.auth_sys(0, 0, [1, 2]) + nfs.u32(0, 0) + nfs.fh(root) + dice.randbytes(dice.randrange(120)))
            for _ in range(dice.randrange(4) if kind == 3 else 0):
                body[dice.randrange(len(body))] = dice.randrange(256)
            raw = nfs.u32(nfs.LAST_FRAGMENT | len(body)) + bytes(body)
        try:
            s.sendall(raw)
        except OSError:
            pass
        s.close()
        if i == 1000:
            before = memory_kib(server.pid)
    assert_serves(server)
    assert memory_kib(server.pid) - before < 16 * 1024 * PATIENCE


def test_more_connections_than_allowed(target):
    server = target("--max-connections", "20")
    clients = [Client(server.address, server.port) for _ in range(20)]
    root = clients[0].mount(server.export)
    one_more = Client(server.address, server.port)
    with pytest.raises(Closed):
        one_more.call(nfs.NULL)
    assert all(c.call(nfs.GETATTR, nfs.fh(root)).status == 0 for c in clients)
    clients.pop().close()
    time.sleep(0.1)
    assert_serves(server)
    for c in clients:
        c.close()
    one_more.close()


def test_sigterm_ends_it_with_calls_waiting_and_connections_open(target):
    server = target("--latency", "fixed:20s", "--threads", "2")
    clients = [Client(server.address, server.port) for _ in range(4)]
    for client in clients:
        client.send(nfs.NULL)
    time.sleep(0.2)
    start = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - start < 1 * PATIENCE
    for client in clients:
        client.close()
