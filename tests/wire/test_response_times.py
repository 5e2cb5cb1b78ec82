"""Response times against an independent clock: the kernel's own time stamps of the same packets, as tshark pairs them."""

import math
import os

import pytest

# One RPC an op, so that an op's response time is one the capture shows.
MIX = {"getattr": 40, "lookup": 30, "access": 20, "fsstat": 10}
TOLERANCE_MS, TOLERANCE_SHARE = 0.030, 0.02
LIBNFS_WAKE_UP_MS = 0.15
RUN_S = 5


def percentile(values, share):
    """The smallest value that at least this share of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def compare(outcome, calls):
    """{figure: (result, tshark)} in ms, over the calls whose replies came in the run: the last RUN_S seconds before the load ended."""
    times = sorted((c.done_s, c.time_s * 1e3) for c in calls if c.program == 100003 and c.name in MIX and c.time_s is not None)
    n = sum(op["physical"] for op in outcome.points[0]["ops"].values())
    in_run = [ms for _, ms in times[-n:]]
    sent = outcome.points[0]["from_sent"]
    return {"mean": (sent["response_ms"], sum(in_run) / len(in_run)), "p50": (sent["percentiles_ms"]["p50"], percentile(in_run, 0.50)), "p99": (sent["percentiles_ms"]["p99"], percentile(in_run, 0.99))}


def off(figures):
    if os.environ.get("NFSCURVE_ENGINE") == "libnfs":
        # Its times hold the wake-up of the process (docs/measurement.md): never shorter than the capture's, and in the median by no more than that.
        return {name: pair for name, pair in figures.items() if pair[0] < pair[1] - TOLERANCE_MS or (name == "p50" and pair[0] > pair[1] + LIBNFS_WAKE_UP_MS)}
    return {name: pair for name, pair in figures.items() if abs(pair[0] - pair[1]) > max(TOLERANCE_MS, TOLERANCE_SHARE * pair[1])}


# Half of what four processes carry, one request at a time each, or less where that would fill two processors.
@pytest.mark.timing
@pytest.mark.parametrize("latency,load", [("fixed:1ms", 1200), ("fixed:200us", 2000), ("exponential:2ms", 800)])
def test_from_sent_agrees_with_tshark(target, capture, campaign, small_campaign, latency, load):
    server = target("--latency", latency)
    wire = capture(server.port)
    outcome = campaign(small_campaign(server.spec(), [load], op_mix_percent=MIX, fileset_mb_per_op=0.1, processes_per_loadgen=4, warmup_s=1, run_s=RUN_S))
    assert outcome.status in (0, 1) and outcome.points[0]["errors"]["failed"] == 0, outcome
    figures = compare(outcome, wire.calls())
    print(latency, {name: f"{a:.4f} / {b:.4f} ms" for name, (a, b) in figures.items()})
    assert not off(figures), f"{latency}: result / tshark in ms: {figures}"
