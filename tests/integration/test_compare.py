"""nfscurve compare: repeats as they lie in run directories and on the command line, and every form."""

import csv
import io
import json
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

REFERENCE = Path(__file__).resolve().parent.parent.parent / "results" / "reference"
CURVE = [0.5, 0.9, 1.3, 1.5, 1.8, 2.3, 2.9, 3.5, 5.1, 7.1]
FORMS = ["text", "html", "svg", "csv", "json", "gnuplot", "markdown"]


def run_of(rng, factor, name):
    return {"schema": "nfscurve-result/1", "name": name, "points": [
        {"index": i, "requested_ops_per_s": 346 * (i + 1), "achieved_ops_per_s": 346 * (i + 1), "response_ms": ms * factor * rng.gauss(1, 0.01)} for i, ms in enumerate(CURVE)]}


@pytest.fixture
def repeated(tmp_path):
    """A run directory with three repeats of 1 % noise."""

    def make(name, factor, seed):
        rng = random.Random(seed)
        for k in range(1, 4):
            directory = tmp_path / name / f"repeat-{k}"
            directory.mkdir(parents=True)
            (directory / "result.json").write_text(json.dumps(run_of(rng, factor, name)))
        return tmp_path / name

    return make


def verdict(nfscurve, *results):
    done = nfscurve("compare", *results, "--format", "json")
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_five_percent_are_found_and_nothing_where_nothing_is(nfscurve, repeated):
    found = false_alarms = 0
    for seed in range(20):
        a, b, same = (repeated(f"{name}{seed}", factor, f"{name}{seed}") for name, factor in (("a", 1), ("b", 1.05), ("same", 1)))
        found += verdict(nfscurve, a, b)["results"][1]["different"]
        false_alarms += verdict(nfscurve, a, same)["results"][1]["different"]
    assert (found, false_alarms) == (20, 0)


def test_repeats_that_lie_apart_are_joined_by_commas(nfscurve, repeated):
    a, b = repeated("a", 1, 1), repeated("b", 1.05, 2)
    joined = [",".join(str(d / f"repeat-{k}") for k in (1, 2, 3)) for d in (a, b)]
    assert verdict(nfscurve, *joined)["results"] == verdict(nfscurve, a, b)["results"]


def test_difference_and_noise_are_stated(nfscurve, repeated):
    answer = verdict(nfscurve, repeated("a", 1, 3), repeated("b", 1.05, 4))
    assert answer["noise"] == "repeats"
    b = answer["results"][1]
    assert b["repeats"] == 3 and 4 < b["ort_ms"]["difference_percent"] < 6 and 0 < b["ort_ms"]["noise_half_width_percent"] < 5
    assert [load["requested_ops_per_s"] for load in b["loads"]] == [346 * (i + 1) for i in range(10)]


def test_without_repeats_nothing_is_said_to_differ(nfscurve):
    answer = verdict(nfscurve, REFERENCE / "nexis9000.json", REFERENCE / "reference-platform.json")
    assert answer["noise"] == "unknown" and "different" not in answer["results"][1]
    assert [r["peak_ops_per_s"]["value"] for r in answer["results"]] == [10305, 3459]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_shows_every_result(nfscurve, repeated, form):
    done = nfscurve("compare", repeated("old build", 1, 5), repeated("new build", 1.05, 6), REFERENCE / "nexis9000.json", "--format", form)
    assert done.status == 0, done.err
    for name in ("old build", "new build", "NEXIS 9000"):
        assert name in done.out
    if form == "svg":
        tree = ElementTree.fromstring(done.out)
        assert len([e for e in tree.iter() if "nc-curve" in e.get("class", "")]) == 7
    elif form == "csv":
        assert {row["figure"] for row in csv.DictReader(io.StringIO(done.out))} >= {"peak_ops_per_s", "ort_ms", "response_ms"}
    if form != "csv":
        assert "Not a SPEC result" in done.out


def test_png_and_wrong_use(nfscurve, repeated, tmp_path):
    a = repeated("a", 1, 7)
    assert nfscurve("compare", a, a, "--out", tmp_path / "x.png").status == 0
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert nfscurve("compare", a).status == 2
    assert nfscurve("compare", a, tmp_path / "nothing").status == 2
    nameless = nfscurve("compare", ",", a)
    assert nameless.status == 2 and '"," names no result' in nameless.err, nameless
    assert nfscurve("compare", a, a, "--format", "sfssum").status == 2


def test_the_picture_is_scaled_by_what_counts_and_says_whose_invalid_points_are(nfscurve, tmp_path):
    def save(name, invalid):
        run = run_of(random.Random(1), 1, name)
        for i, (ops, ms) in invalid.items():
            run["points"][i].update(achieved_ops_per_s=ops, response_ms=ms, valid=False, invalid_reasons=["a load generator was lost"])
        (tmp_path / name).write_text(json.dumps(run))
        return tmp_path / name

    alone = nfscurve("compare", save("a", {}), save("b", {}), "--format", "svg").out
    done = nfscurve("compare", save("a", {}), save("spoilt", {9: (3460, 50000), 8: (3000, 2)}), "--format", "svg")
    ticks = [[e.text for e in ElementTree.fromstring(svg).iter() if "nc-tick" in e.get("class", "") or (e.text or "").replace(",", "").isdigit()] for svg in (alone, done.out)]
    assert ticks[0] and ticks[0] == ticks[1], "50,000 ms that do not count are no reason to flatten the curves"
    texts = [e.text for e in ElementTree.fromstring(done.out).iter() if e.text]
    assert any(t.startswith("B: spoilt (") and "2 invalid points, some outside of this picture" in t for t in texts), texts
    assert not any(t.startswith("A: a (") and "invalid" in t for t in texts)
    assert "B: spoilt, point 9: 3000 ops/s, 2.0 ms\ninvalid: a load generator was lost" in texts and texts.count("B") == 1, texts

    only = save("nothing", {i: (100 * (i + 1), 1) for i in range(10)})
    assert "10 invalid points" in nfscurve("compare", only, only, "--format", "svg").out
