"""A published curve comes back: the target answers as the reference platform of 2001 did, and nfscurve measures its curve.

The whole of it, with both results, is configs/campaigns/; here every third point of one, for seconds.
"""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# libnfs reads for itself, so its times hold the wake-up of the process (docs/measurement.md).
LIBNFS_WAKE_UP_MS = 0.15 if os.environ.get("NFSCURVE_ENGINE") == "libnfs" else 0
REFERENCE = ROOT / "results" / "reference"
CURVE = [(338, 0.5), (1037, 1.3), (2070, 2.3), (2749, 3.5), (3459, 7.1)]


def ort(points):
    """Trapezoids from (0, 0), divided by the peak."""
    area, (x0, y0) = 0.0, (0.0, 0.0)
    for x, y in points:
        area += (x - x0) * (y + y0) / 2
        x0, y0 = x, y
    return area / x0


def reference_file(throughput):
    """The kept result whose peak this is."""
    for file in sorted(REFERENCE.rglob("*.json")):
        points = json.loads(file.read_text()).get("points", [])
        if points and abs(points[-1]["achieved_ops_per_s"] - throughput) < 0.5:
            return file
    raise AssertionError(f"no result with peak {throughput} in results/reference")


@pytest.mark.timing
@pytest.mark.timeout(600)
def test_reference_platform_curve_comes_back(campaign, small_campaign):
    # A local target is filled without its latency.
    server = {"name": "reference", "local": {"data": "synth", "latency": f"curve:{reference_file(3459)}"}}
    loads = [x for x, _ in CURVE]
    # 12 s: at 338 ops/s a process sends ten RPCs a second, and one READ may be seventeen of them.
    # The shape of the published run: 4 load generators of 8 processes, biods 2/2, sfs3 (whose block is 8 KiB).
    config = small_campaign(server, loads, workload="sfs3", fileset_mb_per_op=0.1, processes_per_loadgen=8, loadgens={"local": 4}, biod_max_read=2, biod_max_write=2, warmup_s=2, run_s=12)
    outcome = campaign(config, timeout_s=240)
    assert len(outcome.points) == len(CURVE), outcome
    measured = [(p["achieved_ops_per_s"], p["response_ms"]) for p in outcome.points]
    for (x, y), (got_x, got_y) in zip(CURVE, measured):
        assert abs(got_x / x - 1) <= 0.01, (x, measured)
        allowed = max(0.1, 0.05 * y)
        assert -allowed <= got_y - y <= allowed + LIBNFS_WAKE_UP_MS, (x, y, measured)
    assert -0.03 * ort(CURVE) <= outcome.result["ort_ms"] - ort(CURVE) <= 0.03 * ort(CURVE) + LIBNFS_WAKE_UP_MS
    assert outcome.status == 0, outcome
