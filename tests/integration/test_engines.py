"""Both engines of the NFS client: the same answers, and every call completed exactly once whatever happens to the connection.

The k-th call of a run of 200 is hit, for every k. With one call in flight exactly that call may fail; with eight in flight it, and
at most the seven beside it.
"""

import os
import re
import struct
import subprocess
from pathlib import Path

import pytest

from support.fake_nfs import FakeServer, record
from support.process import PATIENCE, die_with_parent

ENGINES = ["native", "libnfs"]
RUNS, CALLS = 200, 200


@pytest.fixture(scope="session")
def probe(engine_tool):
    return engine_tool("nfs3_probe")


@pytest.fixture
def server():
    servers = []

    def make(fault=lambda *_: False, mount=None):
        servers.append(FakeServer(fault, mount))
        return servers[-1]

    yield make
    for one in servers:
        one.stop()


def run(probe, engine, port, *arguments, timeout_s=60, check=True, options=()):
    command = [probe, "-e", engine, "-n", port, "-m", port, *options, *arguments]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout_s * PATIENCE, preexec_fn=die_with_parent, stdin=subprocess.DEVNULL)
    if check:
        assert done.returncode == 0, f"{command}: status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done


def results_of(line):
    """'7: ok=199 broken=1 ... not_ok=7' -> (7, {'ok': 199, ...}, [7])"""
    k, rest = line.split(": ", 1)
    counts = {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)(?=\s)", rest)}
    return int(k), counts, [int(i) for i in re.search(r"not_ok=([\d,]*)", rest)[1].split(",") if i]


def check_runs(out, window, outcome, first=0, last=RUNS):
    lines = out.splitlines()
    assert len(lines) == last - first
    for line in lines:
        k, counts, not_ok = results_of(line)
        assert k in not_ok, line
        assert counts[outcome] >= 1 and counts["ok"] + counts["broken"] + counts["timeout"] == CALLS, line
        assert len(not_ok) <= window and max(not_ok) - min(not_ok) < 2 * window, line
        if window == 1:
            assert not_ok == [k] and counts[outcome] == 1, line


def at_call(k_of_run, act):
    """A fault that happens once in each run, at its k-th call."""
    hit = set()

    def fault(server, connection, number, k, xid):
        if k == k_of_run(number) and number not in hit:
            hit.add(number)
            act(server, connection, xid)
            return True
        return False

    return fault


def reset_in_reply(server, connection, xid):
    connection.reply(xid, cut=60)
    connection.reset()


@pytest.mark.faults
@pytest.mark.parametrize("window", [1, 8])
@pytest.mark.parametrize("engine", ENGINES)
class TestEveryCallCompletesOnce:
    def test_when_the_connection_is_reset_in_the_kth_reply(self, probe, server, engine, window):
        port = server(at_call(lambda run: run, reset_in_reply)).port
        check_runs(run(probe, engine, port, "runs", 0, RUNS, CALLS, window).stdout, window, "broken")

    def test_when_the_server_closes_in_order_instead_of_the_kth_reply(self, probe, server, engine, window):
        port = server(at_call(lambda run: run, lambda s, c, xid: c.close())).port
        check_runs(run(probe, engine, port, "runs", 0, RUNS, CALLS, window).stdout, window, "broken")

    def test_when_the_server_restarts_at_the_kth_call(self, probe, server, engine, window):
        port = server(at_call(lambda run: run, lambda s, c, xid: s.restart())).port
        check_runs(run(probe, engine, port, "runs", 0, RUNS, CALLS, window).stdout, window, "broken")

    def test_when_the_kth_reply_never_comes(self, probe, server, engine, window):
        """Ten programs of twenty runs each at the same time: most of it is waiting."""
        share = RUNS // 10
        jobs = []
        for first in range(0, RUNS, share):
            fault = at_call(lambda run, first=first: first + run, lambda s, c, xid: None)
            port = server(fault).port
            command = [probe, "-e", engine, "-n", port, "-m", port, "-t", 250 * PATIENCE, "runs", first, first + share, CALLS, window]
            jobs.append((first, subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent, stdin=subprocess.DEVNULL)))
        for first, job in jobs:
            out, _ = job.communicate(timeout=90 * PATIENCE)
            assert job.returncode == 0, out
            check_runs(out, window, "timeout", first, first + share)


def reply_twice(server, connection, xid):
    connection.reply(xid)
    connection.reply(xid)


@pytest.mark.faults
@pytest.mark.sanitizer
class TestStrangeReplies:
    def test_duplicate_replies_are_counted_and_ignored(self, probe, server):
        port = server(lambda s, c, run, k, xid: reply_twice(s, c, xid) or True).port
        last = run(probe, "native", port, "storm", 500, 8).stdout.splitlines()[-1]
        assert "ok=500" in last and "unknown_xid=" in last and "reconnects=0" in last
        assert 490 <= int(re.search(r"unknown_xid=(\d+)", last)[1]) <= 500

    def test_replies_with_an_unknown_xid_are_counted_and_ignored(self, probe, server):
        def fault(s, c, run, k, xid):
            c.reply(xid ^ 0x40000000)
            return False

        last = run(probe, "native", server(fault).port, "storm", 100, 1).stdout.splitlines()[-1]
        assert "ok=100" in last and "unknown_xid=100" in last

    def test_a_reply_to_a_call_that_timed_out_is_no_answer_to_a_later_one(self, probe, server):
        late = []

        def fault(s, c, run, k, xid):
            if k == 0:
                late.append(xid)
                return True
            if late:
                c.reply(late.pop())
            return False

        out = run(probe, "native", server(fault).port, "storm", 20, 1, options=["-t", 200 * PATIENCE]).stdout.splitlines()
        assert out[0] == "0 timeout" and "ok=19" in out[-1] and "unknown_xid=1 " in out[-1]

    def test_replies_in_reverse_order_find_their_calls(self, probe, server):
        held = []

        def fault(s, c, run, k, xid):
            held.append(xid)
            if len(held) == 8:
                for x in reversed(held):
                    c.reply(x)
                held.clear()
            return True

        for engine in ENGINES:
            assert "ok=800" in run(probe, engine, server(fault).port, "storm", 800, 8).stdout.splitlines()[-1]

    @pytest.mark.parametrize("engine", ENGINES)
    def test_replies_byte_by_byte(self, probe, server, engine):
        def fault(s, c, run, k, xid):
            from support.fake_nfs import _ATTRIBUTES, accepted

            for byte in accepted(xid, b"\0\0\0\0" + _ATTRIBUTES):
                c.send(bytes([byte]))
            return True

        assert "ok=20" in run(probe, engine, server(fault).port, "storm", 20, 2).stdout.splitlines()[-1]

    def test_a_server_that_hangs_up_on_everybody_is_not_hammered(self, probe, server):
        fault = server(lambda s, c, run, k, xid: c.close() or True)
        out = run(probe, "native", fault.port, "storm", 8, 1).stdout.splitlines()[-1]
        assert "broken=8" in out


@pytest.mark.parametrize("engine", ENGINES)
def test_every_procedure_against_the_target(probe, target, engine):
    t = target()
    out = run(probe, engine, t.port, "ops", options=["-x", t.export]).stdout
    lines = [line.split() for line in out.splitlines() if line and not line.startswith("file ")]
    assert {line[0] for line in lines} == set(
        "null getattr setattr lookup access readlink read write create mkdir symlink mknod remove rmdir rename link readdir readdirplus fsstat fsinfo pathconf commit".split())
    assert all(line[1] == "ok" and line[3] == "times=right" for line in lines), out
    statuses = [(line[0], int(line[2])) for line in lines if line[2] != "0"]
    assert statuses == [("lookup", 2), ("getattr", 70)], out
    assert "file size=4099 mode=600 mtime=1000000000 type=1" in out
    assert "count=4098 eof=1 data=dddddddddddddddd" in out and "path=../some/where" in out


def test_both_engines_say_the_same(probe, target):
    t = target()
    outputs = [re.sub(r"probe\.\d+", "probe", run(probe, engine, t.port, "ops", options=["-x", t.export]).stdout) for engine in ENGINES]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_procedure_over_ipv6(probe, start, bin, engine):
    ready = start([bin / "nfscurve-target", "--listen", "::1", "--port", "0", "--ready-file", "@READY@"]).ready()
    out = run(probe, engine, ready["port"], "ops", options=["-s", "::1", "-x", ready["export"]]).stdout
    assert len(re.findall(r"^\w+ ok 0 ", out, re.M)) >= 25, out


@pytest.mark.parametrize("engine", ENGINES)
def test_ganesha_found_by_its_portmapper(probe, ganesha, start, engine):
    server = ganesha()
    program = start([probe, "-e", engine, "-s", server.address, "-x", server.export, "ops"], inside=server)
    assert program.wait(30) == 0, program.err
    lines = [line.split() for line in program.out.splitlines() if not line.startswith("file ")]
    assert all(line[1] == "ok" for line in lines), program.out
    assert [(line[0], line[2]) for line in lines if line[2] != "0"] == [("lookup", "2"), ("getattr", "70")], program.out


@pytest.mark.parametrize("engine", ENGINES)
def test_several_connections_from_a_source_address(probe, target, engine):
    t = target()
    out = run(probe, engine, t.port, "storm", 1000, 16, options=["-x", t.export, "-c", 4, "-a", "127.0.0.9"]).stdout
    assert "ok=1000" in out.splitlines()[-1]


def words(xid, *more):
    return record(struct.pack(f">{1 + len(more)}I", xid, *more))


class TestRefusedMounts:
    @pytest.mark.parametrize(
        "answer,expected",
        [
            (lambda xid: words(xid, 1, 0, 0, 0, 0, 13), "permission denied (MNT3ERR_ACCES)"),
            (lambda xid: words(xid, 1, 0, 0, 0, 0, 2), "no such export (MNT3ERR_NOENT)"),
            (lambda xid: words(xid, 1, 0, 0, 0, 1), "program unavailable (PROG_UNAVAIL)"),
            (lambda xid: words(xid, 1, 0, 0, 0, 2, 1, 1), "only 1 to 1"),
            (lambda xid: words(xid, 1, 1, 1, 5), "AUTH_TOOWEAK"),
            (lambda xid: words(xid, 1, 0, 0, 0, 0, 0, 65), "does not decode"),
            (lambda xid: words(xid, 1, 0, 0, 0, 0, 0, 0, 1, 6), "AUTH_SYS"),
            (lambda xid: b"\xff\xff\xff\xff", "record mark"),
            (lambda xid: None, "no reply in time"),
        ],
        ids=["not-exported", "no-export", "no-program", "no-version", "weak", "malformed", "gss-only", "no-record", "silent"],
    )
    def test_say_why(self, probe, server, answer, expected):
        port = server(mount=answer).port
        done = run(probe, "native", port, "ops", check=False, options=["-t", 300, "-x", "/the/export"])
        assert done.returncode == 1 and expected in done.stderr, done.stderr
        assert "127.0.0.1:/the/export" in done.stderr and len(done.stderr.splitlines()) == 1

    def test_export_that_is_not_there(self, probe, target):
        t = target()
        done = run(probe, "native", t.port, "ops", options=["-x", "/nothing"], check=False)
        assert done.returncode == 1 and "/nothing" in done.stderr and "MNT3ERR" in done.stderr

    def test_nobody_listens(self, probe, server):
        one = server()
        port = one.port
        one.stop()
        one.stop = lambda: None
        done = run(probe, "native", port, "ops", check=False)
        assert done.returncode == 1 and "Connection refused" in done.stderr and str(port) in done.stderr

    def test_no_portmapper_names_the_remedy(self, probe):
        done = run(probe, "native", 0, "ops", check=False, options=["-s", "127.0.0.1"])
        assert done.returncode == 1 and "nfs_port" in done.stderr


def local_ports_of(pid):
    """Local TCP ports of a process's sockets, from /proc."""
    inodes = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        try:
            link = os.readlink(fd)
        except OSError:
            continue
        if link.startswith("socket:["):
            inodes.add(link[8:-1])
    ports = []
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        field = line.split()
        if field[9] in inodes:
            ports.append(int(field[1].split(":")[1], 16))
    return ports


@pytest.mark.parametrize("user", ["root", "nobody"])
@pytest.mark.parametrize("engine", ENGINES)
class TestTwoThousandConnections:
    @pytest.mark.timing
    def test_are_made_in_five_seconds_without_reserved_ports(self, probe, target, engine, user):
        if user == "root" and os.geteuid() != 0:
            pytest.skip("needs root")
        t = target()
        command = [probe, "-e", engine, "-n", t.port, "-m", t.port, "-x", t.export, "connect", 2000]
        change = {}
        if user == "nobody" and os.geteuid() == 0:
            # By its descriptor: the tree may stand in a directory that only root may enter.
            fd = os.open(probe, os.O_PATH)
            change = {"user": 65534, "group": 65534, "pass_fds": [fd]}
            command[0] = f"/proc/self/fd/{fd}"
        job = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True, preexec_fn=die_with_parent, **change)
        try:
            line = job.stdout.readline()
            assert line, job.stderr.read()
            ports = local_ports_of(job.pid)
        finally:
            job.communicate()
        assert job.returncode == 0
        n, seconds = re.match(r"connected (\d+) in ([\d.]+) s", line).groups()
        assert n == "2000" and len(ports) == 2000
        assert float(seconds) < 5 * PATIENCE, line
        assert min(ports) >= 1024


def test_a_reserved_port_is_used_when_asked_for(probe, target):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    t = target()
    command = [probe, "-r", "-n", t.port, "-m", t.port, "-x", t.export, "connect", 20]
    job = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
    try:
        assert job.stdout.readline().startswith("connected 20 ")
        ports = local_ports_of(job.pid)
    finally:
        job.communicate()
    assert len(set(ports)) == 20 and all(512 <= port < 1024 for port in ports)
