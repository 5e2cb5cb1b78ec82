"""The page of a real run and of both published results in a real browser: axes and curve are there, on screen (light and dark), on paper, and the SVG alone."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="python3-pil is not installed")
from support import browser  # noqa: E402
from support.results import VARIANTS  # noqa: E402

pytestmark = pytest.mark.skipif(not browser.chromium(), reason="chromium is not installed")

REFERENCE = Path(__file__).resolve().parent.parent.parent / "results" / "reference"
CURVE = (11, 98, 184)  # of light pages; dark ones below
CURVE_DARK = (108, 178, 255)
GRID = (227, 231, 237)
AXIS = (139, 149, 165)
INK = (61, 70, 84)
PROBE = """<script>
const svg = document.querySelector('#curve svg'), page = document.documentElement, box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
document.title = JSON.stringify({svg: box(svg), axis: box(svg.querySelector('.nc-line-axis')), curve: svg.querySelector('.nc-curve') ? box(svg.querySelector('.nc-curve')) : null,
  points: svg.querySelectorAll('.nc-point').length, ticks: [...svg.querySelectorAll('.nc-tick')].map(t => [t.textContent, ...box(t)]), overflow: page.scrollWidth - page.clientWidth,
  titles: svg.querySelectorAll('.nc-point title').length, table: document.querySelectorAll('#performance-table tbody tr').length});
</script>"""


def measured(page, tmp_path):
    """Where the browser has put the parts of the curve: asked by a script of the test in a copy of the page."""
    copy = tmp_path / "probe.html"
    text = re.sub(r"<meta http-equiv=[^>]*>", "", page.read_text())
    copy.write_text(text.replace("</body>", PROBE + "</body>"))
    title = re.search(r"<title>(\{.*?\})</title>", browser.dom(copy), re.S).group(1)
    return json.loads(title.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))


def overlap(a, b):
    return min(a[2], b[2]) - max(a[0], b[0]) > 0.5 and min(a[3], b[3]) - max(a[1], b[1]) > 0.5


def check_page(page, tmp_path, n_points):
    m = measured(page, tmp_path)
    assert m["points"] == m["titles"] == m["table"] == n_points
    assert m["overflow"] <= 0, "the page is wider than its window"
    left, top, right, bottom = m["axis"]
    assert right - left > 400 and bottom - top > 200, "the axes have no room"
    if n_points > 1:
        assert m["curve"][2] - m["curve"][0] > 0.5 * (right - left), "the curve does not reach over the plot"
    ticks = [t[1:] for t in m["ticks"]]
    assert len(ticks) >= 6 and all(t[0] for t in m["ticks"])
    assert not any(overlap(a, b) for i, a in enumerate(ticks) for b in ticks[:i]), "tick labels overlap"
    return m


def check_picture(image, m, n_points, curve=CURVE, grid=GRID):
    left, top, right, bottom = (round(v) for v in m["axis"])
    plot = (left - 4, top - 8, right + 8, bottom + 4)
    wanted = 0.5 * (right - left) if n_points > 1 else 6
    assert browser.columns_with(image, plot, curve) > wanted, "no curve in the picture"
    assert browser.count(image, plot, grid, 8) > 1000, "no grid in the picture"
    for side in ((left - 60, top - 8, left - 3, bottom + 8), (left - 20, bottom + 4, right + 20, bottom + 24)):
        assert len(set(image.crop(side).getdata())) > 10, "no tick labels beside an axis"


def make(nfscurve, result, tmp_path, name="report.html"):
    page = tmp_path / name
    assert nfscurve("report", result, "--out", page).status in (0, 1)
    return page


@pytest.mark.parametrize("name,n_points", [("nexis9000", 11), ("reference-platform", 10)])
def test_published_result_in_the_browser(nfscurve, tmp_path, name, n_points):
    page = make(nfscurve, REFERENCE / f"{name}.json", tmp_path)
    m = check_page(page, tmp_path, n_points)
    check_picture(browser.screenshot(page, tmp_path / "light.png"), m, n_points)
    dark = browser.screenshot(page, tmp_path / "dark.png", dark=True)
    check_picture(dark, m, n_points, CURVE_DARK, (43, 52, 66))
    assert sum(dark.getpixel((5, 5))) < 150, "the dark page is not dark"


def test_real_run_in_the_browser(nfscurve, target, campaign, small_campaign, tmp_path):
    server = target("--latency", "fixed:1ms")
    done = campaign(small_campaign([server.spec()], [100, 200, 300]))
    assert done.status in (0, 1), done.err
    page = done.dir / "report.html"
    m = check_page(page, tmp_path, 3)
    check_picture(browser.screenshot(page, tmp_path / "page.png"), m, 3)
    svg = browser.screenshot(done.dir / "curve.svg", tmp_path / "svg.png", 900, 640)
    assert browser.columns_with(svg, (60, 60, 860, 560), CURVE) > 300


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v != "no_points"])
def test_every_kind_of_result_in_the_browser(nfscurve, tmp_path, variant):
    value = VARIANTS[variant]()
    result = tmp_path / "result.json"
    result.write_text(json.dumps(value))
    n = sum("response_ms" in p for p in value["points"])
    m = measured(make(nfscurve, result, tmp_path), tmp_path)
    assert m["points"] == n and m["overflow"] <= 0


def test_svg_opens_alone(nfscurve, tmp_path):
    picture = tmp_path / "curve.svg"
    nfscurve("report", REFERENCE / "nexis9000.json", "--out", picture)
    image = browser.screenshot(picture, tmp_path / "alone.png", 900, 640)
    assert browser.columns_with(image, (60, 90, 860, 560), CURVE) > 500
    assert browser.columns_with(image, (60, 90, 860, 560), (180, 35, 24)) > 300, "no ceiling"
    assert browser.count(image, (40, 5, 700, 60), (27, 35, 48), 30) > 200, "no heading"


def test_page_prints(nfscurve, tmp_path):
    page = make(nfscurve, REFERENCE / "nexis9000.json", tmp_path)
    pdf = browser.printed(page, tmp_path / "report.pdf")
    assert pdf.startswith(b"%PDF") and len(pdf) > 20000
    assert 2 <= len(re.findall(rb"/Type\s*/Page[^s]", pdf)) <= 12


def test_page_asks_for_nothing(nfscurve, tmp_path):
    text = make(nfscurve, REFERENCE / "nexis9000.json", tmp_path).read_text()
    assert "default-src 'none'" in text
    assert not re.findall(r"(?:src|href)=\"(?!#)", text) and "url(http" not in text and "@import" not in text


def test_png_shows_the_curve(nfscurve, tmp_path):
    picture = tmp_path / "curve.png"
    nfscurve("report", REFERENCE / "nexis9000.json", "--out", picture)
    image = browser.Image.open(picture).convert("RGB")
    width, height = image.size
    assert width >= 1600 and browser.columns_with(image, (0, 0, width, height), CURVE) > 0.6 * width
    assert image.getpixel((2, 2)) == (255, 255, 255)
