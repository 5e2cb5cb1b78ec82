"""What goes wrong between a prime and its load generators is noticed, named, and ends the load."""

import os
import signal
import time

import pytest

from conftest import Server
from support import control, process
from support.process import PATIENCE, wait_for

pytestmark = pytest.mark.faults


@pytest.fixture
def fake_loadgen(start):
    def make(*arguments, inside=None, listen=None):
        address = listen or f"{inside.address if inside else '127.0.0.1'}:0"
        return Server(start([control.program("fake_loadgen"), "--listen", address, "--ready-file", "@READY@", *arguments], inside=inside), inside)

    return make


@pytest.fixture
def drive(start):
    def make(hosts, *arguments, inside=None):
        return control.Drive(start, hosts, *arguments, inside=inside)

    return make


def processes_of(server):
    return process.children_of(server.pid)


def wait_until_free(server, timeout_s):
    started = time.monotonic()
    wait_for(lambda: not processes_of(server), timeout_s, "the processes to end")
    return time.monotonic() - started


def running(drive):
    """Waits until the load runs."""
    drive.wait_for("begin", step="load")
    return drive.wait_for("progress")


def test_campaign_gives_the_figures_that_arithmetic_foretells(fake_loadgen, drive):
    hosts = [fake_loadgen(), fake_loadgen()]
    d = drive(hosts, "--processes", 3, "--run-ms", 2000)
    assert d.finish() == 0, d.program.out
    for outcome in d.all("outcome"):
        assert outcome["n_ops"] == 3 * 1980 and outcome["n_errors"] == 3 * 20
        assert outcome["sum_ns"] == 1980 * (100_000 + 200_000 + 300_000)
        assert (outcome["min_ns"], outcome["max_ns"]) == (100_000, 300_000)
        assert 200_000 <= outcome["p50_ns"] < 201_600
        assert outcome["skew_ns"] < 250e6 * PATIENCE
    seconds = d.all("interval")
    assert [s["t_s"] for s in seconds] == [0, 1]
    assert all(s["n_ops"] == 6 * 990 and s["n_errors"] == 6 * 10 and s["sum_ns"] == 2 * 990 * 600_000 for s in seconds)
    assert all(300_000 <= s["p99_ns"] < 302_400 for s in seconds)


def test_findings_of_the_validation_come_with_load_generator_and_target(fake_loadgen, drive):
    d = drive([fake_loadgen()], "--export", "/finds", "--processes", 2, "--steps", "connect,configure,validate,release")
    assert d.finish() == 0
    found = d.all("finding")
    assert len(found) == 6 and {f["rule"] for f in found} == {"rule-1", "rule-2", "rule-3"}
    assert all(f["loadgen"] == "lg0" and f["target"] == "t1" for f in found)


def test_daemon_serves_campaign_after_campaign_and_keeps_nothing_of_them(fake_loadgen, drive):
    server = fake_loadgen()

    def held():
        return sorted(os.readlink(f"/proc/{server.pid}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{server.pid}/fd"))

    def mappings():
        with open(f"/proc/{server.pid}/maps") as f:
            return sum(1 for line in f if "/dev/zero" in line)

    assert drive([server], "--run-ms", 200).finish() == 0
    wait_for(lambda: "socket" in held(), 2)
    before = held()
    for _ in range(4):
        assert drive([server], "--run-ms", 200, "--processes", 5).finish() == 0
    wait_for(lambda: held() == before, 5, "the connection to be closed")
    assert mappings() == 0
    assert not processes_of(server)


def test_killed_prime_ends_the_load(fake_loadgen, drive):
    server = fake_loadgen()
    d = drive([server], "--run-ms", 60000)
    running(d)
    assert len(processes_of(server)) == 2
    d.program.kill()
    assert wait_until_free(server, 2) < 1.0 * PATIENCE
    assert drive([server], "--run-ms", 300).finish() == 0


def test_silent_prime_loses_its_lease_and_the_load_ends(fake_loadgen, drive):
    server = fake_loadgen("--lease-s", "2")
    d = drive([server], "--run-ms", 60000)
    running(d)
    d.program.signal(signal.SIGSTOP)
    took = wait_until_free(server, 6)
    assert 1.0 < took < 4.0 * PATIENCE
    d.program.signal(signal.SIGCONT)
    assert d.finish() == 1
    assert "lease ran out" in d.wait_for("lost")["reason"]
    assert d.all("step", step="load")[0]["error"] == "ENOTCONN"


def test_killed_daemon_is_named_and_the_others_stop(fake_loadgen, drive):
    hosts = [fake_loadgen(), fake_loadgen()]
    d = drive(hosts, "--run-ms", 60000)
    running(d)
    killed = time.monotonic()
    hosts[1].program.signal(signal.SIGKILL)
    d.wait_for("step", step="load")
    assert time.monotonic() - killed < 2.0 * PATIENCE
    assert d.finish() == 1
    lost = d.all("lost")
    assert [(e["loadgen"], e["process"]) for e in lost] == [(1, -1)]
    step = d.all("step", step="load")[0]
    assert step["error"] == "ENOTCONN" and "lg1" in step["message"]
    # what the other one had measured was collected
    assert [o["n_ops"] > 0 for o in d.all("outcome")] == [True, False]
    assert not processes_of(hosts[0])


def test_stopped_daemon_is_lost_after_the_deadline(fake_loadgen, drive):
    hosts = [fake_loadgen(), fake_loadgen()]
    d = drive(hosts, "--run-ms", 60000)
    running(d)
    hosts[0].program.signal(signal.SIGSTOP)
    stopped = time.monotonic()
    try:
        lost = d.wait_for("lost", timeout_s=20)
        assert time.monotonic() - stopped < 12
        assert lost["loadgen"] == 0 and "no answer in time" in lost["reason"]
        assert d.finish() == 1
    finally:
        hosts[0].program.signal(signal.SIGCONT)
    wait_until_free(hosts[0], 5)


def test_killed_process_is_noticed_at_once_and_named(fake_loadgen, drive):
    server = fake_loadgen()
    d = drive([server], "--processes", 3, "--run-ms", 60000)
    running(d)
    victim = sorted(processes_of(server))[1]
    killed = time.monotonic()
    os.kill(victim, signal.SIGKILL)
    lost = d.wait_for("lost")
    assert time.monotonic() - killed < 1.0 * PATIENCE
    assert lost["process"] == 1 and "killed by signal 9 (SIGKILL), last op getattr" in lost["reason"]
    assert d.finish() == 1
    step = d.all("step", step="load")[0]
    assert step["error"] == "ECHILD" and "load generator lg0 process 1" in step["message"]
    outcome = d.all("outcome")[0]
    assert outcome["max_ns"] == 300_000 and outcome["n_ops"] > 0
    assert len(d.all("lost")) == 1


def test_process_that_aborts_is_named_by_its_signal_and_what_it_measured_is_kept(fake_loadgen, drive):
    d = drive([fake_loadgen()], "--export", "/dies-in-run", "--run-ms", 60000)
    assert d.finish() == 1
    assert "signal 6 (SIGABRT)" in d.all("lost")[0]["reason"]
    assert d.all("outcome")[0]["n_ops"] > 300


def test_refused_mount_is_told_with_load_generator_and_process(fake_loadgen, drive):
    server = fake_loadgen()
    d = drive([server], "--export", "/mount-fails")
    assert d.finish() == 1
    step = d.all("step", step="configure")[0]
    assert step["error"] == "EIO" and "lg0 process" in step["message"] and "MNT3ERR_ACCES" in step["message"]
    assert not d.all("begin", step="populate")
    assert not processes_of(server)


@pytest.mark.parametrize("export,step", [("/export", "load"), ("/ignores-stop", "load"), ("/populate-hangs", "populate")])
def test_stop_ends_the_load_within_a_second(fake_loadgen, drive, export, step):
    server = fake_loadgen()
    d = drive([server], "--export", export, "--run-ms", 60000, "--stop-after-ms", 700)
    assert d.finish() == 1
    stopped, ended = d.all("stop")[0], d.all("step", step=step)[0]
    assert ended["error"] == "ECANCELED"
    assert ended["t_ms"] - stopped["t_ms"] < 1000 * PATIENCE
    assert not processes_of(server)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_the_daemon_and_its_processes_within_a_second(fake_loadgen, drive, number):
    server = fake_loadgen()
    d = drive([server], "--export", "/ignores-stop", "--run-ms", 60000)
    running(d)
    children = processes_of(server)
    started = time.monotonic()
    server.program.signal(number)
    assert server.program.wait(5) == 0
    assert time.monotonic() - started < 1.0 * PATIENCE
    assert len(children) == 2 and not any(os.path.exists(f"/proc/{pid}") for pid in children)
    d.finish()


def test_second_prime_is_told_who_holds_the_load_generator(fake_loadgen, drive):
    server = fake_loadgen()
    first = drive([server], "--campaign", "first-campaign", "--run-ms", 4000)
    running(first)
    second = drive([server], "--campaign", "second")
    assert second.finish() == 1
    step = second.all("step", step="connect")[0]
    assert step["error"] == "EBUSY"
    assert "busy: held by campaign first-campaign from " + os.uname().nodename in step["message"]
    assert first.finish() == 0
    assert first.all("outcome")[0]["n_ops"] == 2 * 3960


def test_every_unreachable_load_generator_is_named(fake_loadgen, drive):
    server, gone, gone_too = fake_loadgen(), fake_loadgen(), fake_loadgen()
    gone.stop()
    gone_too.stop()
    d = drive([gone, server, gone_too])
    assert d.finish() == 1
    step = d.all("step", step="connect")[0]
    assert step["error"] == "EHOSTUNREACH" and "lg0" in step["message"] and "lg2" in step["message"] and "lg1" not in step["message"]


def test_thirty_two_load_generators_run_as_one(fake_loadgen, drive):
    hosts = [fake_loadgen(listen=f"127.0.0.{10 + i}:0") for i in range(32)]
    d = drive(hosts, "--processes", 2, "--run-ms", 1000)
    assert d.finish() == 0, d.program.out
    outcomes = d.all("outcome")
    assert len(outcomes) == 32 and all(o["n_ops"] == 1980 and o["sum_ns"] == 990 * 300_000 for o in outcomes)
    assert d.all("interval")[0]["n_ops"] == 32 * 1980
    assert max(o["skew_ns"] for o in outcomes) < 300e6 * PATIENCE
