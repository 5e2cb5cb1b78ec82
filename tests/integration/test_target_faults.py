"""Each fault of the target, seen from outside exactly as asked, by index."""

import json
import os
import signal
import struct
import time

import pytest
from support import bare_nfs as nfs
from support.bare_nfs import Client, Closed, Silent
from support.process import PATIENCE, wait_for

pytestmark = [pytest.mark.faults, pytest.mark.sanitizer]
INDEX = 4
CALLS = 8


@pytest.fixture
def against(target):
    """against(rule, ...) -> a client, the root, and an 8 KiB file with known bytes; the rules count from then on."""
    made = []

    def make(*rules, data="store"):
        server = target("--data", data, *[a for rule in rules for a in ("--fault", rule)])
        client = Client(server.address, server.port, timeout_s=10 * PATIENCE)
        client.server = server
        client.root = client.mount(server.export)
        client.file = client.create(client.root, "file")
        client.bytes = os.urandom(8192)
        client.write(client.file, 0, client.bytes, stable=2)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


def getattr_of(client):
    return client.call(nfs.GETATTR, nfs.fh(client.root))


STATUSES = {"PERM": 1, "NOENT": 2, "IO": 5, "NXIO": 6, "ACCES": 13, "EXIST": 17, "XDEV": 18, "NODEV": 19, "NOTDIR": 20, "ISDIR": 21, "INVAL": 22, "FBIG": 27, "NOSPC": 28, "ROFS": 30,
            "MLINK": 31, "NAMETOOLONG": 63, "NOTEMPTY": 66, "DQUOT": 69, "STALE": 70, "REMOTE": 71, "BADHANDLE": 10001, "NOT_SYNC": 10002, "BAD_COOKIE": 10003, "NOTSUPP": 10004,
            "TOOSMALL": 10005, "SERVERFAULT": 10006, "BADTYPE": 10007, "JUKEBOX": 10008}


def test_every_status_at_its_index(against):
    rules = [f"getattr:index={i + 1}:status=NFS3ERR_{name}" for i, name in enumerate(STATUSES)]
    client = against(*rules)
    assert [getattr_of(client).status for _ in range(len(STATUSES) + 2)] == [*STATUSES.values(), 0, 0]


def test_jukebox_of_a_range_and_of_a_period(against):
    client = against("getattr:index=2-3:jukebox", "access:every=3:jukebox")
    assert [getattr_of(client).status for _ in range(5)] == [0, 10008, 10008, 0, 0]
    assert [client.call(nfs.ACCESS, nfs.fh(client.root) + nfs.u32(1)).status for _ in range(7)] == [0, 0, 10008, 0, 0, 10008, 0]


ARGUMENTS = {
    nfs.GETATTR: lambda c: nfs.fh(c.root), nfs.SETATTR: lambda c: nfs.fh(c.root) + nfs.NOTHING_SET + nfs.u32(0), nfs.LOOKUP: lambda c: nfs.fh(c.root) + nfs.opaque("file"),
    nfs.ACCESS: lambda c: nfs.fh(c.root) + nfs.u32(1), nfs.READLINK: lambda c: nfs.fh(c.file), nfs.READ: lambda c: nfs.fh(c.file) + nfs.u64(0) + nfs.u32(10),
    nfs.WRITE: lambda c: nfs.fh(c.file) + nfs.u64(0) + nfs.u32(1, 2) + nfs.opaque("x"), nfs.CREATE: lambda c: nfs.fh(c.root) + nfs.opaque("new") + nfs.u32(1) + nfs.NOTHING_SET,
    nfs.MKDIR: lambda c: nfs.fh(c.root) + nfs.opaque("new") + nfs.NOTHING_SET, nfs.SYMLINK: lambda c: nfs.fh(c.root) + nfs.opaque("new") + nfs.NOTHING_SET + nfs.opaque("x"),
    nfs.MKNOD: lambda c: nfs.fh(c.root) + nfs.opaque("new") + nfs.u32(7) + nfs.NOTHING_SET, nfs.REMOVE: lambda c: nfs.fh(c.root) + nfs.opaque("file"),
    nfs.RMDIR: lambda c: nfs.fh(c.root) + nfs.opaque("dir"), nfs.RENAME: lambda c: nfs.fh(c.root) + nfs.opaque("file") + nfs.fh(c.root) + nfs.opaque("new"),
    nfs.LINK: lambda c: nfs.fh(c.file) + nfs.fh(c.root) + nfs.opaque("new"), nfs.READDIR: lambda c: nfs.fh(c.root) + bytes(16) + nfs.u32(4096),
    nfs.READDIRPLUS: lambda c: nfs.fh(c.root) + bytes(16) + nfs.u32(4096, 4096), nfs.FSSTAT: lambda c: nfs.fh(c.root), nfs.FSINFO: lambda c: nfs.fh(c.root),
    nfs.PATHCONF: lambda c: nfs.fh(c.root), nfs.COMMIT: lambda c: nfs.fh(c.file) + nfs.u64(0) + nfs.u32(0),
}
# Words behind the status in RFC 1813's failed results: "no attributes follow", as often as the procedure has such places.
ABSENT = {nfs.GETATTR: 0, nfs.SETATTR: 2, nfs.WRITE: 2, nfs.CREATE: 2, nfs.MKDIR: 2, nfs.SYMLINK: 2, nfs.MKNOD: 2, nfs.REMOVE: 2, nfs.RMDIR: 2, nfs.RENAME: 4, nfs.LINK: 3, nfs.COMMIT: 2}


def test_status_of_every_procedure_has_its_shape_and_changes_nothing(against):
    client = against("any:index=3-23:status=NFS3ERR_SERVERFAULT")
    for procedure, arguments in ARGUMENTS.items():
        reply = client.call(procedure, arguments(client))
        assert reply.results == nfs.u32(10006) + bytes(4 * ABSENT.get(procedure, 1)), procedure
    assert [name for name, _ in client.list(client.root)] == [".", "..", "file"]
    assert client.read(client.file, 0, 8192) == (client.bytes, True)


def test_delay(against):
    client = against(f"getattr:index={INDEX}:delay=150ms")
    times = []
    for _ in range(CALLS):
        start = time.monotonic()
        assert getattr_of(client).status == 0
        times.append(time.monotonic() - start)
    assert 0.150 <= times[INDEX - 1] < 0.150 + 0.1 * PATIENCE
    assert all(t < 0.1 * PATIENCE for i, t in enumerate(times) if i != INDEX - 1)


def test_dropped_reply_never_comes_and_the_others_do(against):
    client = against(f"getattr:index={INDEX}:drop")
    sent = [client.send(nfs.GETATTR, nfs.fh(client.root)) for _ in range(CALLS)]
    got = [client.receive().xid for _ in range(CALLS - 1)]
    assert got == sent[:INDEX - 1] + sent[INDEX:]
    with pytest.raises(Silent):
        client.receive(timeout_s=0.3)


def test_reset(against):
    client = against(f"getattr:index={INDEX}:reset")
    for _ in range(INDEX - 1):
        assert getattr_of(client).status == 0
    with pytest.raises(Closed) as closed:
        getattr_of(client)
    assert closed.value.is_reset
    again = Client(client.server.address, client.server.port)
    assert again.mount(client.server.export) == client.root
    again.close()


def test_duplicate_reply_comes_twice_byte_for_byte(against):
    client = against(f"read:index={INDEX}:duplicate")
    sent = [client.send(nfs.READ, nfs.fh(client.file) + nfs.u64(0) + nfs.u32(1000)) for _ in range(CALLS)]
    got = [client.receive() for _ in range(CALLS + 1)]
    assert [r.xid for r in got] == sent[:INDEX] + sent[INDEX - 1:]
    assert got[INDEX - 1].record == got[INDEX].record
    assert nfs.read_results(got[INDEX])[0] == client.bytes[:1000]


def test_garbage_reply_has_the_xid_and_nothing_else(against):
    client = against(f"getattr:index={INDEX}:garbage")
    good = getattr_of(client).record
    for i in range(2, CALLS):
        xid = client.send(nfs.GETATTR, nfs.fh(client.root))
        record = client.receive_record()
        assert struct.unpack(">I", record[:4])[0] == xid and len(record) == len(good)
        assert (record[4:] == good[4:]) == (i != INDEX)


def test_truncated_reply(against):
    client = against(f"getattr:index={INDEX}:truncate=30", f"read:index={INDEX}:truncate")
    whole = len(getattr_of(client).record)
    lengths = []
    for _ in range(2, CALLS):
        client.send(nfs.GETATTR, nfs.fh(client.root))
        lengths.append(len(client.receive_record()))
    assert lengths == [30 if i == INDEX else whole for i in range(2, CALLS)]
    lengths = []
    for _ in range(CALLS):
        client.send(nfs.READ, nfs.fh(client.file) + nfs.u64(0) + nfs.u32(1000))
        lengths.append(len(client.receive_record()))
    head = 24 + 4 + 88 + 4 + 4 + 4
    assert lengths == [head // 2 if i == INDEX else head + 1000 for i in range(1, CALLS + 1)]


def test_wrong_xid(against):
    client = against(f"getattr:index={INDEX}:wrong_xid")
    wrong = [client.send(nfs.GETATTR, nfs.fh(client.root)) != client.receive().xid for _ in range(CALLS)]
    assert wrong == [i == INDEX for i in range(1, CALLS + 1)]


def test_short_read(against):
    client = against(f"read:index={INDEX}:short_read=100", f"read:index={INDEX + 1}:short_read", f"read:index={INDEX + 2}:short_read=0")
    got = [client.read(client.file, 0, 8192) for _ in range(CALLS)]
    for i, (data, is_eof) in enumerate(got, 1):
        n = {INDEX: 100, INDEX + 1: 4096, INDEX + 2: 0}.get(i, 8192)
        assert data == client.bytes[:n] and is_eof == (n == 8192)


@pytest.mark.parametrize("data", ["store", "synth"])
def test_wrong_data(against, data):
    client = against(f"read:index={INDEX}:wrong_data", data=data)
    got = [client.read(client.file, 1000, 3001)[0] for _ in range(CALLS)]
    assert got[INDEX - 1] == bytes(b ^ 255 for b in got[0])
    assert all(d == got[0] for i, d in enumerate(got, 1) if i != INDEX)
    assert data == "synth" or got[0] == client.bytes[1000:4001]


def names_in(reply, plus):
    r, names = reply.reader(), []
    r.skip_attributes()
    verifier = r.fixed(8)
    while r.u32():
        r.u64()
        names.append(r.opaque())
        r.u64()
        if plus:
            r.skip_attributes()
            r.u32(), r.opaque()
    return verifier, names, r.u32()


@pytest.mark.parametrize("plus", [False, True])
def test_ignored_cookie_lists_from_the_start(against, plus):
    client = against("readdir+readdirplus:index=2:ignore_cookie")
    for i in range(10):
        client.create(client.root, f"name{i}")
    procedure, tail = (nfs.READDIRPLUS, nfs.u32(300, 700)) if plus else (nfs.READDIR, nfs.u32(300))
    verifier, first, eof = names_in(client.call(procedure, nfs.fh(client.root) + bytes(16) + tail), plus)
    _, second, second_eof = names_in(client.call(procedure, nfs.fh(client.root) + nfs.u64(2) + verifier + tail), plus)
    _, third, _ = names_in(client.call(procedure, nfs.fh(client.root) + nfs.u64(2) + verifier + tail), plus)
    assert first[:2] == [b".", b".."] and first == second and third[0] not in first[:2]
    assert not eof and not second_eof


def test_missing_name_is_found(against):
    client = against("lookup:index=2:found")
    assert [client.lookup(client.root, "nothing") for _ in range(3)] == [None, client.root, None]


def test_wrong_attributes(against):
    client = against("getattr:index=2:wrong_attributes", "read:index=2:wrong_attributes")

    def type_and_size(results):
        return struct.unpack(">I", results[:4])[0], struct.unpack(">Q", results[20:28])[0]

    assert [type_and_size(client.call(nfs.GETATTR, nfs.fh(client.file)).results[4:]) for _ in range(3)] == [(1, 8192), (2, 8193), (1, 8192)]
    got = [client.call(nfs.READ, nfs.fh(client.file) + nfs.u64(0) + nfs.u32(10)).results for _ in range(3)]
    assert [type_and_size(r[8:]) for r in got] == [(1, 8192), (2, 8193), (1, 8192)]


def test_new_verifier_loses_what_was_not_committed(against):
    client = against(f"getattr:index={INDEX}:new_verifier")
    _, committed, first = client.write(client.file, 0, b"committed")
    assert committed == 0 and client.commit(client.file) == first
    client.write(client.file, 100, b"synchronous", stable=2)
    client.write(client.file, 200, b"unstable")
    for _ in range(INDEX - 1):
        getattr_of(client)
    assert client.commit(client.create(client.root, "other")) == first
    getattr_of(client)
    second = client.commit(client.file)
    assert second != first
    data = client.read(client.file, 0, 8192)[0]
    assert data[:9] == b"committed" and data[100:111] == b"synchronous"
    assert data[200:208] == bytes(8) and data[208:] == client.bytes[208:]
    assert client.write(client.file, 0, b"x")[2] == second


def test_pause_stops_everything_for_everybody(against):
    client = against(f"getattr:index={INDEX}:pause=400ms")
    other = Client(client.server.address, client.server.port)
    for _ in range(INDEX - 1):
        getattr_of(client)
    start = time.monotonic()
    client.send(nfs.GETATTR, nfs.fh(client.root))
    time.sleep(0.05)
    other.send(nfs.NULL)
    other.receive()
    at_other = time.monotonic() - start
    client.receive()
    at_client = time.monotonic() - start
    assert 0.4 <= at_other < 0.4 + 0.2 * PATIENCE and 0.4 <= at_client < 0.4 + 0.2 * PATIENCE
    start = time.monotonic()
    other.call(nfs.NULL)
    assert time.monotonic() - start < 0.2 * PATIENCE
    other.close()


def test_probability_hits_its_share(against):
    client = against("getattr:probability=0.25:status=NFS3ERR_IO")
    n = sum(getattr_of(client).status == 5 for _ in range(2000))
    # sd = sqrt(2000 * 0.25 * 0.75) = 19: six of them either way
    assert 500 - 116 < n < 500 + 116


def test_times_ends_a_rule(against):
    client = against("getattr:times=3:status=NFS3ERR_IO")
    assert [getattr_of(client).status for _ in range(6)] == [5, 5, 5, 0, 0, 0]


def test_mount_is_refused_as_asked(target):
    server = target("--fault", "mnt:index=2:status=MNT3ERR_ACCES")
    client = Client(server.address, server.port)
    assert [client.call(1, nfs.opaque(server.export), program=nfs.MOUNT).status for _ in range(3)] == [0, 13, 0]
    client.close()


def test_faults_and_latency_change_while_it_runs(target, run_dir):
    control = run_dir / "control"
    control.write_text("# nothing yet\n")
    server = target("--control-file", control)
    client = Client(server.address, server.port, timeout_s=10 * PATIENCE)
    client.root = client.mount(server.export)
    assert getattr_of(client).status == 0

    def change(text):
        n = server.program.err.count(str(control))
        control.write_text(text)
        os.kill(server.pid, signal.SIGHUP)
        wait_for(lambda: server.program.err.count(str(control)) > n, what="the control file to be read")

    change("fault getattr:index=2:status=NFS3ERR_STALE  # the second from now\nlatency fixed:60ms\n")
    start = time.monotonic()
    assert [getattr_of(client).status for _ in range(3)] == [0, 70, 0]
    assert time.monotonic() - start >= 0.18
    change("fault getattr:index=1:status=NFS3ERR_IO\nfault getattr:nonsense\nlatency none\n")
    assert "2: fault rule" in server.program.err and "nonsense" in server.program.err
    assert [getattr_of(client).status for _ in range(2)] == [0, 0], "a file with a mistake changes nothing"
    change("latency none\n")
    start = time.monotonic()
    assert [getattr_of(client).status for _ in range(3)] == [0, 0, 0]
    assert time.monotonic() - start < 0.15 * PATIENCE
    client.close()


def test_a_control_file_may_name_a_curve_with_spaces(target, run_dir):
    (run_dir / "my curve.txt").write_text("200 1\n400 2\n")
    control = run_dir / "control"
    control.write_text(f"latency curve:{run_dir}/my curve.txt \r\n")
    assert target("--control-file", control).port > 0


def test_who_changes_it_is_answered(target, run_dir):
    control, answer = run_dir / "control", run_dir / "answer"
    control.write_text("latency none\n")
    server = target("--control-file", control, "--control-answer", answer)
    assert not answer.exists()

    def change(text):
        answer.unlink(missing_ok=True)
        control.write_bytes(text)
        os.kill(server.pid, signal.SIGHUP)
        wait_for(answer.exists, what="the answer")
        return json.loads(answer.read_text())

    assert change(b"latency fixed:1ms\n") == {"reads": 1, "error": None}
    refused = change(b"latency none\nlatency \xff\n")
    assert refused["reads"] == 2 and f"{control}:2: " in refused["error"] and "\\xff" in refused["error"], refused
    assert change(b"") == {"reads": 3, "error": None}
