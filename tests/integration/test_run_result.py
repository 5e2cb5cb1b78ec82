"""What a run leaves behind: a result that passes its schema, agrees with its points, and a page from which the run can be repeated."""

import html
import json
from pathlib import Path

import jsonschema

ROOT = Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "docs" / "result-schema.json").read_text())


def test_result_of_a_run_passes_the_schema_and_repeats(target, campaign, small_campaign, nfscurve, tmp_path):
    server = target("--latency", "fixed:1ms")
    done = campaign(small_campaign(server.spec(), [100, 200]))
    assert done.status in (0, 1), done
    text = (done.dir / "result.json").read_text()
    result = json.loads(text)
    jsonschema.validate(result, SCHEMA)

    # written again: no byte changes
    assert nfscurve("report", done.dir, "--format", "json").out == text
    # each point's file is the point of the result
    for point in result["points"]:
        assert json.loads((done.dir / "points" / f"{point['index'] + 1:02d}.json").read_text()) == point

    point = result["points"][0]
    # two response times, and the same op in figures and histogram
    assert point["from_due"]["response_ms"] >= point["from_sent"]["response_ms"] > 0.9
    assert sum(op["logical"] for name, op in point["ops"].items() if name != "commit") == point["good_ops"]
    for op in point["ops"].values():
        if "histogram" in op:
            assert op["histogram"]["from_sent"]["count"] == op["histogram"]["from_due"]["count"] == op["logical"]
    assert sum(s["ops"] for s in point["intervals"]) == point["good_ops"]
    assert abs(point["achieved_ops_per_s"] * point["run_s"] - point["good_ops"]) < 0.02 * point["good_ops"]

    # the run filled in what it could see
    disclosure = result["disclosure"]
    assert disclosure["benchmark_parameters"]["load_generators"] == 1 and disclosure["benchmark_parameters"]["processes_per_loadgen"] == 2
    assert disclosure["load_generators"][0]["memory_gb"] > 0 and disclosure["load_generators"][0]["os"]
    assert abs(disclosure["filesystems"]["fileset_gb"] * 1e9 - max(p["fileset_bytes"] for p in result["points"])) < 1e5
    errors = nfscurve("report", done.dir, "--check").out.splitlines()
    assert not [line for line in errors if "stated, but" in line], errors

    # whoever has only the page has the campaign
    page = (done.dir / "report.html").read_text()
    again = json.loads(html.unescape(page.split('<pre id="campaign-json">')[1].split("</pre>")[0]))
    assert {k: v for k, v in result["campaign"].items() if k != "disclosure"} == again
    repeated = campaign(again)
    assert repeated.status in (0, 1), repeated
    assert [p["requested_ops_per_s"] for p in repeated.result["points"]] == [100, 200]


def test_run_that_was_killed_can_be_drawn(target, campaign, small_campaign, nfscurve):
    done = campaign(small_campaign(target().spec(), [100, 200]))
    (done.dir / "result.json").unlink()
    drawn = nfscurve("report", done.dir)
    assert drawn.status == 1 and "without writing its result" in drawn.out and "\n    2 " in drawn.out


def test_a_result_that_could_not_be_written_is_not_listed(target, small_campaign, nfscurve, tmp_path):
    file, out = tmp_path / "c.json", tmp_path / "out"
    file.write_text(json.dumps(small_campaign(target().spec(), [50], warmup_s=0, run_s=1)))
    (out / "result.json" / "in-the-way").mkdir(parents=True)
    done = nfscurve("run", file, "--out", out)
    assert done.status == 3 and f"results cannot be written to {out}" in done.err, done
    assert f"run directory {out} is incomplete" in done.out and ": result.json" not in done.out, done
    # nothing measured is lost: --resume writes what is missing
    (out / "result.json" / "in-the-way").rmdir()
    (out / "result.json").rmdir()
    done = nfscurve("run", "--resume", out)
    assert f"run directory {out}: result.json" in done.out and "point 1/1 load" not in done.err, done
    assert json.loads((out / "result.json").read_text())["points"]
