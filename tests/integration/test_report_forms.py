"""nfscurve report: every form of every kind of result, against golden files (NFSCURVE_UPDATE_GOLDEN=1 writes them anew)."""

import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from support.results import VARIANTS, full, invalid

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
REFERENCE = ROOT / "results" / "reference"
SCHEMA = json.loads((ROOT / "docs" / "result-schema.json").read_text())
TEXT_FORMS = {"html": "html", "text": "txt", "csv": "csv", "csv-ops": "ops.csv", "csv-intervals": "intervals.csv", "svg": "svg", "json": "json", "sfssum": "sfssum", "gnuplot": "gp", "markdown": "md",
              "hgrm": "hgrm", "hlog": "hlog"}
HISTOGRAM_FORMS = ("hgrm", "hlog")


@pytest.fixture
def result_file(tmp_path):
    def write(value, name="result.json"):
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return write


def is_valid(variant):
    return variant not in ("invalid", "no_points", "zero")


@pytest.mark.parametrize("form", TEXT_FORMS)
@pytest.mark.parametrize("variant", ["full", "invalid", "one_point", "published", "no_points"])
def test_every_form_is_as_it_was(nfscurve, result_file, variant, form):
    done = nfscurve("report", result_file(VARIANTS[variant]()), "--format", form)
    if form in HISTOGRAM_FORMS and variant in ("published", "no_points"):
        assert done.status == 2 and "needs figures" in done.err
        return
    assert done.status == (0 if is_valid(variant) else 1), done.err
    golden = GOLDEN / f"{variant}.{TEXT_FORMS[form]}"
    if os.environ.get("NFSCURVE_UPDATE_GOLDEN"):
        golden.write_text(done.out)
    assert done.out == golden.read_text()


@pytest.mark.parametrize("form", [f for f in TEXT_FORMS if f not in HISTOGRAM_FORMS])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_form_of_every_result_is_well_formed(nfscurve, result_file, tmp_path, variant, form):
    done = nfscurve("report", result_file(VARIANTS[variant]()), "--format", form)
    assert done.status == (0 if is_valid(variant) else 1), done.err
    assert "nan" not in done.out.lower().replace("tenance", "").replace("nan nan", "").replace(" nan", "") or form == "gnuplot"
    if form == "svg":
        ElementTree.fromstring(done.out)
    elif form == "csv":
        rows = list(csv.DictReader(io.StringIO(done.out)))
        assert len(rows) == len(VARIANTS[variant]()["points"])
    elif form == "json":
        jsonschema.validate(json.loads(done.out), SCHEMA)
    elif form == "html":
        assert "Not a SPEC result" in done.out and "<script" not in done.out and "http://" not in done.out.replace("http://www.w3.org/2000/svg", "")
    if form != "json" and not form.startswith("csv"):
        assert "Not a SPEC result" in done.out


@pytest.mark.parametrize("name", ["nexis9000", "reference-platform"])
def test_published_files_are_canonical_and_pass_the_schema(nfscurve, name):
    path = REFERENCE / f"{name}.json"
    done = nfscurve("report", path, "--format", "json")
    assert done.out == path.read_text()
    jsonschema.validate(json.loads(done.out), SCHEMA)


@pytest.mark.parametrize("name,peak,ort", [("nexis9000", "10305", "3.86"), ("reference-platform", "3459", "2.35")])
@pytest.mark.parametrize("through", ["json", "csv", "sfssum"])
def test_published_figures_from_every_input(nfscurve, tmp_path, name, peak, ort, through):
    file = tmp_path / f"curve.{through}"
    assert nfscurve("report", REFERENCE / f"{name}.json", "--format", through, "--out", file).status == 0
    done = nfscurve("report", file)
    assert f"= {peak} ops/s, overall response time {ort} ms" in done.out
    assert done.status == 0
    if through != "json":
        imported = nfscurve("import", through, file)
        assert f"{json.loads(imported.out)['ort_ms']:.2f}" == ort


@pytest.mark.parametrize("variant", VARIANTS)
def test_reading_and_writing_again_changes_no_byte(nfscurve, result_file, variant):
    first = nfscurve("report", result_file(VARIANTS[variant]()), "--format", "json").out
    second = nfscurve("report", result_file(first), "--format", "json").out
    assert first == second


def test_keys_of_later_versions_are_kept(nfscurve, result_file):
    value = full()
    value["site"] = {"rack": [1, 2.5, None]}
    value["points"][3]["weather"] = "fine"
    again = json.loads(nfscurve("report", result_file(value), "--format", "json").out)
    assert again["site"] == value["site"] and again["points"][3]["weather"] == "fine"


def test_another_schema_is_refused_in_so_many_words(nfscurve, result_file):
    done = nfscurve("report", result_file({"schema": "nfscurve-result/2", "points": []}))
    assert done.status == 2 and "newer nfscurve" in done.err


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"points": 3}', '{"points": [{}]}', '{"points": [{"achieved_ops_per_s": "x", "response_ms": 1}]}', "\x00\x01", "a,b\n1,2\n"])
def test_what_is_no_result_gives_one_message(nfscurve, result_file, text):
    done = nfscurve("report", result_file(text))
    assert done.status == 2 and done.out == "" and len(done.err.strip().splitlines()) == 1 and "result.json" in done.err


def test_missing_file_and_wrong_format(nfscurve, result_file):
    assert nfscurve("report", "nowhere.json").status == 2
    assert nfscurve("report").status == 2
    done = nfscurve("report", result_file(full()), "--format", "pdf")
    assert done.status == 2 and "markdown" in done.err


def test_missing_op_tables_are_no_matter(nfscurve, result_file):
    value = full()
    for p in value["points"]:
        for key in ("ops", "percentiles_ms", "from_due", "from_sent", "intervals", "generator", "loadgens", "errors"):
            del p[key]
    for form in TEXT_FORMS:
        done = nfscurve("report", result_file(value), "--format", form)
        assert done.status == (2 if form in HISTOGRAM_FORMS else 0), done.err


def test_invalid_points_are_named_everywhere(nfscurve, result_file):
    file = result_file(invalid())
    for form in ("html", "text", "csv", "json", "markdown"):
        out = nfscurve("report", file, "--format", form).out
        assert "signal 9" in out and ("INVALID" in out or '"valid": false' in out or "false" in out), form
    assert "not counted" in nfscurve("report", file).out


def test_page_alone_repeats_the_run(nfscurve, result_file):
    """Whoever sees only the page can save the campaign from it."""
    import html

    value = full()
    out = nfscurve("report", result_file(value), "--format", "html").out
    text = html.unescape(out.split('<pre id="campaign-json">')[1].split("</pre>")[0])
    assert json.loads(text) == value["campaign"]
    assert "nfscurve run campaign.json" in out


@pytest.mark.skipif(not shutil.which("gnuplot"), reason="gnuplot is not installed")
@pytest.mark.parametrize("variant", ["full", "invalid", "published", "one_point", "no_points", "zero"])
def test_gnuplot_draws_its_script(nfscurve, result_file, tmp_path, variant):
    script = tmp_path / "curve.gp"
    nfscurve("report", result_file(VARIANTS[variant]()), "--out", script)
    picture = tmp_path / "curve.svg"
    subprocess.run(["gnuplot", "-e", f"set terminal svg; set output '{picture}'", script], check=True, timeout=60)
    ElementTree.parse(picture)


@pytest.mark.skipif(not shutil.which("gnuplot"), reason="gnuplot is not installed")
def test_invalid_moves_no_column_for_gnuplot(nfscurve, result_file, tmp_path):
    file = tmp_path / "sfssum"
    nfscurve("report", result_file(invalid()), "--out", file)
    table = tmp_path / "table"
    subprocess.run(["gnuplot", "-e", f"set table '{table}'; plot '{file}' using 2:3"], check=True, timeout=60)
    rows = [line.split()[:2] for line in table.read_text().splitlines() if line.strip() and not line.startswith("#")]
    assert [(float(x), float(y)) for x, y in rows] == [(100, 1), (200, 1.25), (300, 1.5), (250, 1.75)]


def test_out_writes_the_whole_file_or_none(nfscurve, result_file, tmp_path):
    directory = tmp_path / "reports"
    directory.mkdir()
    out = directory / "report.html"
    assert nfscurve("report", result_file(full()), "--out", out).status == 0
    assert out.read_text().endswith("</html>\n")
    done = nfscurve("report", result_file(full()), "--out", tmp_path / "no" / "report.html")
    assert done.status == 2 and "No such file" in done.err
    assert [p.name for p in directory.iterdir()] == ["report.html"]


def test_one_point_of_many(nfscurve, result_file):
    out = json.loads(nfscurve("report", result_file(full()), "--point", "3", "--format", "json").out)
    assert [p["requested_ops_per_s"] for p in out["points"]] == [300]
    assert nfscurve("report", result_file(full()), "--point", "11").status == 2
