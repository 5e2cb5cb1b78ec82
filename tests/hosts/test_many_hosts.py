"""Thirty-two hosts, each in a network of its own, as one cluster: keyed control, a common start, and one whose cable is pulled.

     prime ──control, keyed──> lg1 ... lg32      (processes that need no server: what is tested is the cluster)
"""

import time

import pytest

from conftest import Server
from support import control, process
from support.process import PATIENCE, wait_for

N = 32

pytestmark = [pytest.mark.root, pytest.mark.faults]


@pytest.fixture
def lab(network, start, nfscurve, run_dir):
    key = run_dir / "lab.key"
    assert nfscurve("keygen", key).status == 0
    net = network()
    prime = net.add("prime")
    hosts = [net.add(f"lg{i}") for i in range(N)]
    started = [start([control.program("fake_loadgen"), "--listen", f"{h.address}:7049", "--key-file", key, "--lease-s", "3", "--ready-file", "@READY@"], inside=h) for h in hosts]
    servers = [Server(program, host) for program, host in zip(started, hosts)]

    def drive(*arguments):
        return control.Drive(start, servers, "--key-file", key, *arguments, inside=prime)

    return net, hosts, servers, drive


def test_thirty_two_hosts_start_together_and_add_up(lab):
    net, hosts, servers, drive = lab
    d = drive("--processes", 2, "--run-ms", 1000)
    assert d.finish() == 0, d.program.out
    assert sorted(f["hostname"] for f in d.all("facts")) == sorted(h.name for h in hosts)
    outcomes = d.all("outcome")
    assert len(outcomes) == N and all(o["n_ops"] == 2 * 990 and o["sum_ns"] == 990 * 300_000 for o in outcomes)
    assert d.all("interval")[0]["n_ops"] == N * 2 * 990
    assert max(o["skew_ns"] for o in outcomes) < 300e6 * PATIENCE


def test_pulled_cable_is_named_once_and_everybody_else_stops(lab):
    net, hosts, servers, drive = lab
    d = drive("--processes", 1, "--run-ms", 60000)
    d.wait_for("begin", step="load", timeout_s=30)
    d.wait_for("progress", timeout_s=30)
    net.unplug(hosts[7])
    pulled = time.monotonic()
    lost = d.wait_for("lost", timeout_s=20)
    assert time.monotonic() - pulled < 12 * PATIENCE
    assert lost["loadgen"] == 7 and lost["process"] == -1
    assert d.finish() == 1
    assert len(d.all("lost")) == 1
    step = d.all("step", step="load")[0]
    assert "lg7" in step["message"] and hosts[7].address in step["message"]
    assert sum(o["n_ops"] > 0 for o in d.all("outcome")) == N - 1
    # the one that nobody reaches stops by itself
    wait_for(lambda: not any(process.children_of(s.pid) for s in servers), 10, "every load generator to end its processes")
    assert "lease ran out" in servers[7].program.err
