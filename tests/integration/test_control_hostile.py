"""Strangers, broken peers and wrong keys: none is served, none disturbs a campaign, and the daemon survives."""

import os
import random
import socket
import struct
import time

import pytest

from conftest import Server
from support import control, process
from support.control import Peer
from support.process import PATIENCE, Program

pytestmark = pytest.mark.faults


@pytest.fixture
def fake_loadgen(start):
    def make(*arguments, listen="127.0.0.1:0"):
        return Server(start([control.program("fake_loadgen"), "--listen", listen, "--ready-file", "@READY@", *arguments]), None)

    return make


@pytest.fixture
def run_loadgen(run_dir):
    """Exit status and messages of a daemon that is expected to refuse its options."""

    def run(*arguments):
        p = Program([control.program("fake_loadgen"), *arguments], run_dir)
        return p.wait(5), p.err

    return run


@pytest.fixture
def key_file(run_dir):
    def make(name="key", mode=0o600):
        path = run_dir / name
        path.write_text(os.urandom(32).hex() + "\n")
        path.chmod(mode)
        return path

    return make


def key_of(path):
    return bytes.fromhex(path.read_text())


def rss_kib(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def still_serves(server, key=bytes(32)):
    with Peer(server, key) as peer:
        peer.hello()
        is_sealed, verdict, _ = peer.step(control.FACTS)
        return is_sealed and verdict == control.OK


# ---- keys ----


def test_same_key_is_served_and_another_is_refused_with_the_remedy(fake_loadgen, key_file, start):
    key, other = key_file(), key_file("other")
    server = fake_loadgen("--key-file", key)
    right = control.Drive(start, [server], "--key-file", key, "--run-ms", 300)
    assert right.finish() == 0
    for arguments in (["--key-file", other], []):
        wrong = control.Drive(start, [server], *arguments)
        assert wrong.finish() == 1
        step = wrong.all("step", step="connect")[0]
        assert step["error"] == "EACCES" and "key" in step["message"] and "control.key_file" in step["message"]
    assert "a sealed call is refused" in server.program.err


def test_key_that_others_can_read_is_refused(run_loadgen, key_file):
    status, err = run_loadgen("--listen", "127.0.0.1:0", "--key-file", key_file(mode=0o640))
    assert status == 2 and "chmod 600" in err


def test_missing_key_file_is_named(run_loadgen, run_dir):
    status, err = run_loadgen("--listen", "127.0.0.1:0", "--key-file", run_dir / "none")
    assert status == 2 and "none" in err and "nfscurve keygen" in err


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_open_address_without_a_key_needs_to_be_said_in_so_many_words(run_loadgen, fake_loadgen, address):
    status, err = run_loadgen("--listen", address)
    assert status == 2 and "--key-file" in err and "--insecure-no-key" in err
    assert fake_loadgen("--insecure-no-key", listen=address).port > 0


@pytest.mark.parametrize("arguments", [["--listen", "host:7049"], ["--listen", "127.0.0.1:99999"], ["--allow-target", "10.1.2.3/8"], ["--allow-target", "x"], ["--lease-s", "0"], ["--nonsense"], ["more"]])
def test_bad_options_are_named_with_status_2(run_loadgen, arguments):
    status, err = run_loadgen(*arguments)
    assert status == 2 and arguments[-1] in err


# ---- the seal on the wire ----


def refused_and_closed(peer, result):
    is_sealed, why, _ = result
    return not is_sealed and why and peer.is_closed()


def test_replayed_call_is_refused_and_the_connection_closed(fake_loadgen):
    server = fake_loadgen()
    with Peer(server) as peer:
        peer.hello()
        assert peer.step(control.FACTS)[:2] == (True, control.OK)
        result = peer.sealed(struct.pack(">I", control.FACTS), sequence=1)
        assert "replay" in result[1] and refused_and_closed(peer, result)
    assert "replay" in server.program.err


def test_reordered_call_is_refused_and_the_connection_closed(fake_loadgen):
    with Peer(fake_loadgen()) as peer:
        peer.hello()
        result = peer.sealed(struct.pack(">I", control.FACTS), sequence=2)
        assert "out of order" in result[1] and refused_and_closed(peer, result)


def test_edited_call_is_refused_and_the_connection_closed(fake_loadgen):
    with Peer(fake_loadgen()) as peer:
        peer.hello()
        result = peer.sealed(struct.pack(">I", control.STATUS), sent_body=struct.pack(">I", control.FACTS))
        assert refused_and_closed(peer, result)


def test_call_of_another_connection_is_refused(fake_loadgen):
    server = fake_loadgen()
    body = struct.pack(">I", control.FACTS)
    with Peer(server) as first, Peer(server) as second:
        first.hello()
        second.hello()
        result = second.sealed(body, sequence=1, mac=first.mac(1, 1, body))
        assert refused_and_closed(second, result)
        assert first.step(control.FACTS)[:2] == (True, control.OK)


def test_sealed_call_before_hello_is_refused(fake_loadgen):
    with Peer(fake_loadgen()) as peer:
        peer.key = bytes(32)
        result = peer.step(control.FACTS)
        assert "HELLO" in result[1] and refused_and_closed(peer, result)


def test_second_hello_is_refused(fake_loadgen):
    with Peer(fake_loadgen()) as peer:
        peer.hello()
        with pytest.raises(PermissionError):
            peer.hello()


def test_other_revision_learns_ours_and_is_not_served(fake_loadgen):
    with Peer(fake_loadgen()) as peer:
        assert peer.hello(revision=99) == control.REVISION
        assert peer.step(control.FACTS)[0] is False


def test_steps_without_a_lease_are_refused(fake_loadgen):
    with Peer(fake_loadgen()) as peer:
        peer.hello()
        for step in (control.STATUS, control.STOP, control.RELEASE):
            assert peer.step(step)[:2] == (True, control.NO_LEASE)


def test_other_programs_and_versions_get_the_right_rpc_errors(fake_loadgen):
    with Peer(fake_loadgen()) as peer:
        assert peer.call(control.NULL) == b""
        for arguments, stat in (({"program": 100003}, 1), ({"version": 2}, 2)):
            with pytest.raises(PermissionError, match=f"accept_stat {stat}"):
                peer.call(control.NULL, **arguments)
        with pytest.raises(PermissionError, match="accept_stat 3"):
            peer.call(9)


# ---- bodies that can't be ----


def configure_body(workload=b"{}", targets=1, processes=(0,), name=b"c", server=b"127.0.0.1"):
    target = control.xdr_opaque(b"t") + control.xdr_opaque(server) + control.xdr_opaque(b"/e") + struct.pack(">II", 0, 0)
    return (struct.pack(">I", control.CONFIGURE) + control.xdr_opaque(name) + control.xdr_opaque(b"host") + control.xdr_opaque(workload) + control.xdr_opaque(b"native")
            + struct.pack(">I", targets) + target * targets + struct.pack(">I", len(processes)) + b"".join(struct.pack(">I", p) for p in processes)
            + struct.pack(">IqII", 1, 1_000_000_000, 0, 0) + struct.pack(">I", 0) + struct.pack(">I", 0) + control.xdr_opaque(b"") + control.xdr_opaque(b""))


def test_broken_bodies_are_refused_and_the_connection_lives(fake_loadgen):
    bodies = [b"", b"\0\0\0", struct.pack(">I", 99), struct.pack(">I", control.FACTS) + b"more", struct.pack(">II", control.CONFIGURE, 0xFFFFFFFF), struct.pack(">II", control.CONFIGURE, 255),
              configure_body(workload=b"not json"), configure_body(targets=0), configure_body(processes=()), configure_body(processes=(7,)), configure_body(name=b"x" * 300), configure_body() + b"\0\0\0\0",
              struct.pack(">II", control.LAYOUT, 0x7FFFFFFF), struct.pack(">III", control.COLLECT, 77, 0)]
    server = fake_loadgen()
    with Peer(server) as peer:
        peer.hello()
        for body in bodies:
            is_sealed, verdict, _ = peer.sealed(body)
            assert is_sealed and verdict != control.OK, body
        assert peer.step(control.FACTS)[:2] == (True, control.OK)
    assert not process.children_of(server.pid)


def test_thousands_of_random_and_mutated_bodies_do_no_harm(fake_loadgen):
    server = fake_loadgen()
    rng = random.Random(7)
    seed = bytearray(configure_body(workload=b'{"op_mix_percent":{}}' * 20))
    with Peer(server) as peer:
        peer.hello()
        before = None
        for n in range(3000):
            if n % 2:
                body = bytearray(seed)
                for _ in range(rng.randint(1, 8)):
                    body[rng.randrange(len(body))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
                body = body[: rng.randint(4, len(body))]
            else:
                body = struct.pack(">I", rng.randrange(8)) + rng.randbytes(rng.randint(0, 200))
            peer.sealed(bytes(body))
            if n == 500:
                before = rss_kib(server.pid)
        if PATIENCE == 1:
            assert rss_kib(server.pid) < before + 4096
    assert still_serves(server)


def test_target_outside_the_allowed_ranges_is_refused(fake_loadgen, start):
    server = fake_loadgen("--allow-target", "10.0.0.0/8", "--allow-target", "127.0.0.0/30")
    outside = control.Drive(start, [server], "--target", "127.0.0.9")
    assert outside.finish() == 1
    step = outside.all("step", step="configure")[0]
    assert step["error"] == "EPERM" and "127.0.0.9" in step["message"] and "--allow-target" in step["message"]
    assert control.Drive(start, [server], "--target", "127.0.0.1", "--run-ms", 300).finish() == 0


# ---- peers that only cost ----


def test_record_beyond_the_limit_closes_without_allocating(fake_loadgen):
    server = fake_loadgen()
    with Peer(server) as peer:
        before = rss_kib(server.pid)
        peer.socket.sendall(struct.pack(">I", 0xFFFFFFFF) + b"x" * 1000)
        assert peer.is_closed()
        assert rss_kib(server.pid) < before + 1024 * PATIENCE
    assert still_serves(server)


def test_stranger_that_proves_nothing_is_closed_in_time(fake_loadgen):
    server = fake_loadgen()
    with Peer(server) as silent, Peer(server) as greeting, Peer(server) as slow:
        started = time.monotonic()
        greeting.hello()
        slow.socket.sendall(b"\x80\0\0\x40\0")
        for peer in (silent, greeting, slow):
            assert peer.is_closed()
        assert 3 < time.monotonic() - started < 9 * PATIENCE


def test_peers_of_every_bad_kind_do_not_disturb_a_running_load(fake_loadgen, start):
    server = fake_loadgen()
    d = control.Drive(start, [server], "--processes", 2, "--run-ms", 3000)
    d.wait_for("begin", step="load")
    rng = random.Random(3)
    held = []
    deadline = time.monotonic() + 2.5
    n = 0
    while time.monotonic() < deadline:
        s = socket.create_connection((server.address, server.port))
        kind = n % 5
        try:
            if kind == 0:
                s.sendall(rng.randbytes(300))
            elif kind == 1:
                s.sendall(struct.pack(">I", 0x80000000 | 1000) + b"half")
                held.append(s)
            elif kind == 2:
                held.append(s)
            elif kind == 3:
                s.sendall(struct.pack(">I", 0x80000000 | 40) + rng.randbytes(40))
            else:
                s.sendall(struct.pack(">IIIIIIIIII", 0x80000000 | 36, n, 0, 2, control.PROGRAM, 1, 0, 0, 0, 0) + bytes(4))
        except OSError:
            pass
        if kind not in (1, 2):
            s.close()
        n += 1
        time.sleep(0.002)
    assert d.finish() == 0, d.program.out
    assert n > 200 and not d.all("lost")
    assert d.all("outcome")[0]["n_ops"] == 2 * 2970
    for s in held:
        s.close()
    assert still_serves(server)


def test_flood_of_connections_does_not_lock_the_prime_out(fake_loadgen, start):
    server = fake_loadgen()
    flood = [socket.create_connection((server.address, server.port)) for _ in range(300)]
    assert control.Drive(start, [server], "--run-ms", 300).finish() == 0
    for s in flood:
        s.close()


def test_answers_that_nobody_reads_stall_nobody_else(fake_loadgen):
    server = fake_loadgen()
    with Peer(server) as greedy:
        greedy.hello()
        greedy.socket.settimeout(0.5)
        body = struct.pack(">I", control.FACTS)
        try:
            for _ in range(20000):
                greedy.sequence += 1
                greedy.send_record(struct.pack(">IIIIIIIIII", 1, 0, 2, control.PROGRAM, 1, control.SEALED, 0, 0, 0, 0) + struct.pack(">Q", greedy.sequence) + greedy.mac(1, greedy.sequence, body) + control.xdr_opaque(body))
        except OSError:
            pass  # the daemon stopped reading, or closed: both are right
        started = time.monotonic()
        assert still_serves(server)
        assert time.monotonic() - started < 1.0 * PATIENCE
