"""The verdict "generator-limited": true of a generator that could not send in time, never of a server that is slow.

NFSCURVE_VERDICTS=20 ./run test integration -- -k verdict      repeats each case so often
"""

import os

import pytest

REPEATS = range(int(os.environ.get("NFSCURVE_VERDICTS", "1")))


def reasons(outcome):
    assert outcome.points, outcome
    return [" ".join(p["invalid_reasons"]) for p in outcome.points]


@pytest.mark.timing
@pytest.mark.parametrize("repeat", REPEATS)
def test_slow_server_is_saturated_not_generator_limited(target, campaign, small_campaign, repeat):
    """4 processes, one request at a time, 20 ms each: 200 ops/s at most, 1000 asked for."""
    server = target("--latency", "fixed:20ms")
    outcome = campaign(small_campaign(server.spec(), [1000], processes_per_loadgen=4, run_s=4))
    assert "generator-limited" not in reasons(outcome)[0], outcome
    assert outcome.points[0]["achieved_ops_per_s"] < 950
    assert any("saturated" in note for note in outcome.points[0]["notes"]), outcome.points[0]["notes"]


@pytest.mark.timing
@pytest.mark.parametrize("repeat", REPEATS)
def test_slow_server_under_open_pacing_is_not_generator_limited(target, campaign, small_campaign, repeat):
    server = target("--latency", "fixed:20ms")
    outcome = campaign(small_campaign(server.spec(), [1000], processes_per_loadgen=4, run_s=4, pacing="open", max_outstanding=1))
    assert "generator-limited" not in reasons(outcome)[0], outcome


@pytest.mark.timing
@pytest.mark.parametrize("repeat", REPEATS)
def test_generator_on_a_busy_processor_is_generator_limited(start, bin, target, loadgen, campaign, small_campaign, repeat):
    """The load generator shares its only processor with eight busy loops; the server has the other one."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two processors: one for the server")
    server = target()
    os.sched_setaffinity(server.pid, {cpus[1]})
    generator = loadgen()
    os.sched_setaffinity(generator.pid, {cpus[0]})
    for _ in range(8):
        start(["taskset", "-c", cpus[0], "sh", "-c", "while :; do :; done"], name="busy")
    config = small_campaign(server.spec(), [2000], processes_per_loadgen=2, run_s=4, loadgens=[{"host": "127.0.0.1", "port": generator.port}])
    outcome = campaign(config)
    assert outcome.status == 1, outcome
    assert "generator-limited" in reasons(outcome)[0], outcome


@pytest.mark.timing
@pytest.mark.parametrize("repeat", REPEATS)
def test_more_than_it_can_send_is_generator_limited(target, loadgen, campaign, small_campaign, repeat):
    """One process, open arrivals, more than its loop can send: with the libnfs engine, which needs several times the server's processor time for a call."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two processors: one for the server")
    server = target()
    os.sched_setaffinity(server.pid, {cpus[1]})
    generator = loadgen()
    os.sched_setaffinity(generator.pid, {cpus[0]})
    config = small_campaign(server.spec(), [1000000], processes_per_loadgen=1, run_s=3, pacing="open", max_outstanding=4096, engine="libnfs", fileset_mb_per_op=0.0001, op_mix_percent={"getattr": 100},
                            loadgens=[{"host": "127.0.0.1", "port": generator.port}])
    outcome = campaign(config)
    assert outcome.status == 1, outcome
    assert "generator-limited" in reasons(outcome)[0], outcome
