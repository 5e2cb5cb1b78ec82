"""Hostile text in every field that people or servers fill in does no harm in any form."""

import csv
import html.parser
import io
import json
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from support.results import disclosure, full

HOSTILE = {
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)>\"'></title></style></svg><svg onload=alert(1)>&amp;",
    "quotes": "\"'`$(touch /tmp/x)`; %s%n {{7*7}} \\",
    "newlines": "one\ntwo\r\nthree\x1b[2J\x07\x00\x9b31m",
    "formula": "=HYPERLINK(\"http://x\",\"y\")",
    "markdown": "[x](javascript:alert(1)) | a | **b** `c` @all <b>",
    "bidi": "\u202egnp.exe\u2066 \ufeff\uffff \U0001f600",
    "megabyte": "x" * (1 << 20),
    "megabyte of markup": "<b>" * 350000,
}
FORMS = ["html", "text", "csv", "csv-ops", "csv-intervals", "svg", "json", "sfssum", "gnuplot", "markdown", "hgrm", "hlog"]


def poison(value, text):
    """Every string of a disclosure, and every name, becomes the hostile text."""
    if isinstance(value, dict):
        return {key: poison(v, text) for key, v in value.items()}
    if isinstance(value, list):
        return [poison(v, text) for v in value]
    return text if isinstance(value, str) else value


def hostile_result(text):
    r = full([100, 200])
    small = text[:4000]
    key_text = small[:200].replace("\0", "")  # a file with NUL in a key is refused
    # A megabyte goes where one can come from; a smaller one everywhere at once.
    r["disclosure"] = poison(disclosure(), small)
    r["disclosure"]["other_notes"] = text
    r["disclosure"][key_text + "key"] = small
    for key in ("started_at", "version", "source", "derived", "workload"):
        r[key] = small
    r["name"] = text
    for g in r["loadgens"]:
        for key in ("host", "hostname", "cpu_model", "os", "addresses"):
            g[key] = small
        g["targets"] = [small]
        g["processes_per_target"] = {key_text: 8}
    p = r["points"][0]
    p.update(valid=False, invalid_reasons=[text, small], notes=[small], lost=[{"loadgen": small, "process": 1, "reason": text, "at_s": 1}])
    p["loadgens"][0]["name"] = small
    p["errors"]["anomalies"] = {key_text: 3}
    p["ops"]["read"]["statuses"] = {key_text: 3}
    r["notes"] = [small]
    r["standard"] = False
    r["nonstandard_reasons"] = [text]
    r["findings"] = [{"loadgen": small, "target": small, "rule": small, "op": small, "expected": small, "got": text}]
    r["campaign"]["name"] = small
    return r


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


def tags_of(text):
    parser = Tags()
    parser.feed(text)
    return parser


@pytest.fixture
def rendered(nfscurve, tmp_path):
    def run(raw, form, *more):
        file = tmp_path / "result.json"
        file.write_bytes(raw)
        out = tmp_path / f"out.{form}"
        done = nfscurve("report", file, "--format", form, "--out", out, *more)
        assert done.status in (0, 1), done.err
        return out.read_bytes()

    return run


# A megabyte of markup differs from a megabyte of text only where markup means something.
CASES = [(name, form) for name in HOSTILE for form in FORMS if name != "megabyte of markup" or form in ("html", "svg", "markdown")]


@pytest.mark.parametrize("name,form", CASES)
def test_hostile_text_does_no_harm(rendered, name, form):
    text = rendered(json.dumps(hostile_result(HOSTILE[name])).encode(), form).decode()  # strict UTF-8
    if form == "json":
        json.loads(text)
        return
    assert not set(text) & {chr(c) for c in range(32) if c not in (9, 10)} | set(text) & {"\x7f", "\x9b", "\u202e"}
    assert len(text) < 9_000_000
    if form == "html":
        tags = tags_of(text)
        assert not tags.tags & {"script", "img", "b>", "iframe", "object", "a onload"}
        assert not {a for a in tags.attributes if a.startswith("on")}
        assert text.count("</html>") == 1 and text.rstrip().endswith("</html>")
    elif form == "svg":
        tree = ElementTree.fromstring(text)
        assert not [e for e in tree.iter() if e.tag.endswith("script")]
    elif form.startswith("csv"):
        for row in csv.reader(io.StringIO(text)):
            assert not [field for field in row if field[:1] in "=+@" and field[:1]]
    elif form == "markdown":
        assert "](javascript" not in text and "<script" not in text and "<b>" not in text
    elif form == "sfssum":
        assert all(line.startswith("#") or set(line) <= set("0123456789. NFSTINVALD") for line in text.splitlines())


@pytest.mark.parametrize("name", ["quotes", "newlines", "html", "megabyte"])
@pytest.mark.skipif(not shutil.which("gnuplot"), reason="gnuplot is not installed")
def test_gnuplot_script_runs_nothing_of_it(rendered, tmp_path, name):
    script = tmp_path / "script.gp"
    marker = tmp_path / "marker"
    text = HOSTILE[name].replace("/tmp/x", str(marker)) + f"`touch {marker}`\nsystem('touch {marker}')"
    script.write_bytes(rendered(json.dumps(hostile_result(text)).encode(), "gnuplot"))
    subprocess.run(["gnuplot", "-e", f"set terminal svg; set output '{tmp_path / 'x.svg'}'", script], check=True, timeout=60, capture_output=True)
    assert not marker.exists()


@pytest.mark.parametrize("form", FORMS)
def test_invalid_utf8_in_a_file_is_repaired(rendered, form):
    raw = json.dumps(full([100])).encode().replace(b"Example Filer 1", b"F\xff\xfe\xc0\xaf\xed\xa0\x80\xf5\x80")
    rendered(raw, form).decode()


REFUSED = {
    "deep arrays": b'{"points": [' + b"[" * 100000,
    "deep objects": b'{"points": ' + b'{"a":' * 50000,
    "a number beyond all doubles": b'{"points": [{"achieved_ops_per_s": 1e999, "response_ms": 1}]}',
    "half a surrogate": b'{"points": [{"achieved_ops_per_s": 1, "response_ms": 1}], "name": "\\ud800"}',
    "a key twice": b'{"points": [], "points": []}',
    "NUL in a key": b'{"points": [], "a\\u0000b": 1}',
    "noise": b"\xff" * 1000,
    "many columns": b"1," * 100000,
    "many quotes": b'"' * 5000 + b"\n1,2",
}


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_files_are_refused_with_one_line(nfscurve, tmp_path, name):
    file = tmp_path / "result.json"
    file.write_bytes(REFUSED[name])
    done = nfscurve("report", file)
    assert done.status == 2 and len(done.err.splitlines()) == 1 and len(done.err) < 1000


def test_png_of_hostile_names(rendered):
    for text in (text[:20000] for text in HOSTILE.values()):
        assert rendered(json.dumps(hostile_result(text)).encode(), "png").startswith(b"\x89PNG\r\n")


def test_compare_of_hostile_names(nfscurve, tmp_path):
    for i, text in enumerate(text[:20000] for text in HOSTILE.values()):
        file = tmp_path / f"{i}.json"
        file.write_text(json.dumps(hostile_result(text)))
    files = sorted(tmp_path.glob("?.json"))
    for form in ("html", "text", "csv", "svg", "json", "gnuplot", "markdown"):
        out = tmp_path / f"compared.{form}"
        assert nfscurve("compare", *files, "--format", form, "--out", out).status == 0
        text = out.read_text()
        if form == "html":
            assert not tags_of(text).tags & {"script", "img"}
        elif form == "svg":
            ElementTree.fromstring(text)
        elif form == "json":
            json.loads(text)
