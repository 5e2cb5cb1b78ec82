"""What the engines put on the wire, without the rest of the load generator: many calls in one segment, every reply matched, nothing malformed."""

import statistics
import subprocess

import pytest

from support.process import PATIENCE, die_with_parent

N_CALLS, WINDOW = 6400, 32


def run(probe, server, engine, *arguments):
    command = [probe, "-e", engine, "-n", server.port, "-m", server.port, "-x", server.export, *arguments]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60 * PATIENCE, preexec_fn=die_with_parent, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout


def calls_per_segment(wire):
    """Of every segment in which calls of NFS end, how many."""
    text = wire.tshark("-Y", "rpc.msgtyp == 0 && rpc.program == 100003", "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,", "-e", "rpc.xid")
    return [len(line.split(",")) for line in text.splitlines() if line]


@pytest.fixture
def probe(engine_tool):
    return engine_tool("nfs3_probe")


def test_native_engine_puts_many_calls_into_a_segment_at_window_32(probe, target, capture):
    server = target()
    wire = capture(server.port)
    assert f"ok={N_CALLS}" in run(probe, server, "native", "storm", N_CALLS, WINDOW)
    assert wire.malformed() == []
    calls = [c for c in wire.calls() if c.program == 100003]
    assert len(calls) == N_CALLS and all(c.done_s is not None and c.status == 0 for c in calls)
    per_segment = calls_per_segment(wire)
    assert sum(per_segment) == N_CALLS
    assert statistics.mean(per_segment) >= WINDOW / 4 and max(per_segment) == WINDOW, (statistics.mean(per_segment), max(per_segment))


@pytest.mark.parametrize("engine", ["native", "libnfs"])
def test_every_procedure_is_well_formed(probe, target, capture, engine):
    server = target()
    wire = capture(server.port)
    run(probe, server, engine, "ops")
    run(probe, server, engine, "mixed", 2200, 16)
    assert wire.malformed() == []
    calls = [c for c in wire.calls() if c.program == 100003]
    assert len({c.procedure for c in calls}) == 22
    assert all(c.done_s is not None for c in calls)
