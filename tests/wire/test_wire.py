"""tshark reads what was sent: well-formed, and as much of it as the result says."""

import bisect
import collections

import pytest

PROCESSES = 4


def assert_ran(outcome):
    """To its end and without an error. Whether the machine had the time for a valid point is other tests' business."""
    assert outcome.status in (0, 1) and len(outcome.points) == 1, outcome
    assert outcome.points[0]["errors"]["failed"] == 0, outcome


def counted(outcome):
    """{procedure: good RPCs} of the only point."""
    return {name: op["physical"] for name, op in outcome.points[0]["ops"].items() if op["physical"]}


def difference(one, other):
    return sum(abs(one.get(name, 0) - other.get(name, 0)) for name in set(one) | set(other))


def best_window(calls, length_s, expected):
    """(difference, counts) of the window of this length whose replies agree best. The run began some time after the warm-up did; where, only the load
    generator knows, but the replies of every procedure in one window of the run's length must be what it counted."""
    good = sorted((c.done_s, c.name) for c in calls if c.program == 100003 and c.done_s is not None)
    times, names = [g[0] for g in good], [g[1] for g in good]
    candidates = [t for t in times if times[-1] - 2.0 * length_s <= t <= times[-1] - 0.9 * length_s]
    best = (10**9, {})
    for begin in candidates:
        found = collections.Counter(names[bisect.bisect_left(times, begin) : bisect.bisect_left(times, begin + length_s)])
        best = min(best, (difference(found, expected), dict(found)), key=lambda pair: pair[0])
    return best


@pytest.mark.timing
@pytest.mark.parametrize("engine,workload", [("native", "sfs2008"), ("native", "sfs3"), ("libnfs", "sfs3")])
def test_calls_are_well_formed_and_as_many_as_the_result_says(target, capture, campaign, small_campaign, engine, workload):
    server = target()
    wire = capture(server.port)
    outcome = campaign(small_campaign(server.spec(), [400], engine=engine, workload=workload, processes_per_loadgen=PROCESSES, warmup_s=1, run_s=4))
    assert_ran(outcome)
    assert wire.malformed() == []
    calls = wire.calls()
    assert {c.program for c in calls} == {100003, 100005}
    unanswered = [c for c in calls if c.done_s is None]
    assert not unanswered, f"{len(unanswered)} calls without a reply"
    expected = counted(outcome)
    assert set(expected) >= {"lookup", "read", "write", "getattr", "commit"}
    off, found = best_window(calls, 4.0, expected)
    # A reply that reaches the kernel just before an edge of the run may be read just after it: one at each edge for a process.
    assert off <= 2 * PROCESSES, f"result {expected}\nwire   {found}"


@pytest.mark.timing
def test_nothing_is_sent_after_the_run_but_what_was_begun(target, capture, campaign, small_campaign):
    """The load ends with the run: no call is sent later than the run's length after the first reply that counts."""
    server = target()
    wire = capture(server.port)
    outcome = campaign(small_campaign(server.spec(), [400], processes_per_loadgen=PROCESSES, warmup_s=1, run_s=2))
    assert_ran(outcome)
    nfs = [c for c in wire.calls() if c.program == 100003]
    off, found = best_window(nfs, 2.0, counted(outcome))
    assert off <= 2 * PROCESSES, f"result {counted(outcome)}\nwire   {found}"
    late = [c for c in nfs if c.sent_s > nfs[-1].sent_s - 0.001]
    assert len(late) <= PROCESSES * 4
