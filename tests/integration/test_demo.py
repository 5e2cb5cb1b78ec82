"""configs/campaigns/demo.json, the first thing that anybody runs, with its points as they are and shorter phases."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "configs" / "campaigns" / "demo.json"


@pytest.mark.timing
@pytest.mark.timeout(400)
def test_demo_draws_its_curve(start, bin, run_dir):
    out = run_dir / "results"
    program = start([bin / "nfscurve", "run", DEMO, "--out", out])
    status = program.wait(200)
    assert status == 0, program.err + program.out
    result = json.loads((out / "result.json").read_text())
    assert result["valid"] and len(result["points"]) == 10
    for point in result["points"]:
        where = f"point {point['index']}"
        assert point["valid"], (where, point["invalid_reasons"])
        assert point["errors"]["failed"] == 0, (where, point["errors"])
        # The target carries all of them, so each achieves its request within 1 %.
        assert abs(point["achieved_ops_per_s"] / point["requested_ops_per_s"] - 1) <= 0.01, (where, point["achieved_ops_per_s"])
        for name, op in point["ops"].items():
            if "percent" in op:  # a COMMIT that only ends writes is no op of its own
                assert abs(op["percent"] - op["target_percent"]) <= 1.5, (where, name)
    for file in ("campaign.json", "report.html", "curve.svg", "curve.csv", "sfssum", "log.txt"):
        assert (out / file).stat().st_size > 0, file
    # What a person reads at the end: the table, peak and ORT, and where the run directory is.
    assert "overall response time" in program.out and str(out) in program.out
    assert f"{result['ort_ms']:.2f}" in program.out


def test_demo_is_marked_non_standard(nfscurve):
    done = nfscurve("plan", DEMO)
    assert done.status == 0, done
    assert "non-standard" in done.out.lower()
