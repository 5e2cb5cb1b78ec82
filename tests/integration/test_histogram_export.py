"""HdrHistogram's forms of a result, read by a decoder of our own and held against the histograms of the result.

The decoder follows the format's description: V2 cookie, 40 bytes of header, then ZigZag LEB128 counts in which a negative number is a run of zeros.
"""

import base64
import json
import struct
import zlib

import pytest
from support.results import full


def zigzag(data):
    i, out = 0, []
    while i < len(data):
        value = shift = 0
        for n in range(9):
            byte = data[i]
            i += 1
            value |= (byte if n == 8 else byte & 0x7F) << shift
            shift += 7
            if n < 8 and not byte & 0x80:
                break
        out.append((value >> 1) ^ -(value & 1))
    return out


def decode(text):
    """{value in the middle of its bucket: count} of one V2 compressed histogram."""
    raw = base64.b64decode(text)
    cookie, length = struct.unpack(">II", raw[:8])
    assert cookie == 0x1C849304 | 0x10 and length == len(raw) - 8
    plain = zlib.decompress(raw[8:])
    cookie, length, offset, digits, lowest, highest, ratio = struct.unpack(">IIIIqqd", plain[:40])
    assert (cookie, offset, digits, lowest, highest, ratio) == (0x1C849303 | 0x10, 0, 2, 1, 100_000_000_000, 1.0)
    assert length == len(plain) - 40
    counts, index = {}, 0
    for n in zigzag(plain[40:]):
        if n < 0:
            index += -n
            continue
        if n:
            counts[index] = n
        index += 1
    return {bounds(i): n for i, n in counts.items()}


def bounds(index):
    """Lowest and highest value of a bucket: 256 of width 1, then 128 for each doubling."""
    if index < 256:
        return index, index
    octave, sub = index // 128 - 1, index % 128 + 128
    return sub << octave, (sub + 1 << octave) - 1


@pytest.fixture
def exported(nfscurve, tmp_path):
    def run(value, form):
        file = tmp_path / "result.json"
        file.write_text(json.dumps(value))
        done = nfscurve("report", file, "--format", form)
        assert done.status == 0, done.err
        return done.out

    return run


def test_log_lines_hold_the_histograms_of_the_result(exported):
    value = full()
    lines = [line for line in exported(value, "hlog").splitlines() if line.startswith("Tag=")]
    assert len(lines) == 10 * (1 + len(value["points"][0]["ops"]))
    for line in lines:
        tag, start, length, largest, payload = line.split(",")
        number, op = tag[len("Tag=point"):].split(".")
        point = value["points"][int(number) - 1]
        assert (float(start), float(length)) == (300 * (int(number) - 1), 300)
        sources = [o["histogram"]["from_sent"] for name, o in point["ops"].items() if op in ("all", name)]
        counts = decode(payload)
        assert sum(counts.values()) == sum(h["count"] for h in sources)
        for h in sources:
            assert any(low <= h["max_ns"] <= high and high - low <= low / 100 for low, high in counts), (line, h["max_ns"])
        assert abs(float(largest) - max(h["max_ns"] for h in sources) / 1e6) < 0.001


def spread(n):
    """Samples at 1, 2, ..., n ms, in a histogram of one op."""
    from support.results import index_of

    values = [i * 1_000_000 for i in range(1, n + 1)]
    buckets = {}
    for v in values:
        buckets[index_of(v)] = buckets.get(index_of(v), 0) + 1
    return {"count": n, "min_ns": values[0], "max_ns": values[-1], "sum_ns": str(sum(values)), "sum_sq_ns2": str(sum(v * v for v in values)),
            "buckets": [x for pair in sorted(buckets.items()) for x in pair]}


def test_percentile_text_agrees_with_arithmetic(exported):
    value = full([100])
    value["points"][0]["ops"] = {"read": {"histogram": {"from_sent": spread(1000)}}}
    text = exported(value, "hgrm")
    rows = [[float(x) for x in line.split()] for line in text.splitlines() if line.strip()[:1].isdigit()]
    assert rows[0][2] == 1 and rows[-1][:3] == [1000, 1, 1000]
    for ms, percentile, count, *rest in rows:
        assert abs(ms - count) <= 0.01 * count  # the k-th of 1..1000 ms is k ms, to 1 %
        assert count / 1000 >= percentile - 1e-9
        if percentile < 1:
            assert abs(rest[0] - 1 / (1 - percentile)) < 0.01
    percentiles = [row[1] for row in rows]
    assert percentiles == sorted(percentiles) and {0.5, 0.75} <= set(percentiles)
    assert "Mean    =   500.500000" in text and "Total count    =         1000" in text


def test_log_of_many_values_decodes_to_every_bucket(exported):
    value = full([100])
    h = spread(1000)
    value["points"][0]["ops"] = {"read": {"histogram": {"from_sent": h}}}
    payload = [line for line in exported(value, "hlog").splitlines() if line.startswith("Tag=")][0].split(",")[-1]
    assert decode(payload) == {bounds(i): n for i, n in zip(h["buckets"][::2], h["buckets"][1::2])}
