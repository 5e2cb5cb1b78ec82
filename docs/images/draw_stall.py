"""Draws stall.svg of the user guide from a result: python3 docs/images/draw_stall.py RUN_DIRECTORY > docs/images/stall.svg

The result is that of configs/campaigns/stall.json. Response times of all ops, sorted, once from due and once from sent, over the share of ops that were at most that slow.
"""

import json
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 800, 440, 72, 84, 24, 64
COLOURS = {"from_due": "#c2410c", "from_sent": "#0b5fb0"}
TICKS = [0, 50, 90, 99, 99.9, 99.99]


def bucket_middle_ms(index):
    """common/histogram.h: 256 buckets of 1 ns, then 128 for each octave."""
    if index < 256:
        return index / 1e6
    octave, sub = index // 128 - 1, index % 128 + 128
    return ((sub << octave) + (1 << octave) / 2) / 1e6


def x_of(percent):
    """Every further nine is one step to the right."""
    nines = -math.log10(max(1e-4 / 2, 1 - percent / 100) + 1e-12)
    return LEFT + (WIDTH - LEFT - RIGHT) * nines / -math.log10(1e-4 / 2)


def y_of(ms):
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - ms / 550)


def path(histogram):
    seen, points = 0, []
    pairs = histogram["buckets"]
    for index, count in zip(pairs[::2], pairs[1::2]):
        y = y_of(bucket_middle_ms(index))
        points += [(x_of(100 * seen / histogram["count"]), y)]
        seen += count
        points += [(x_of(100 * seen / histogram["count"]), y)]
    kept = [points[0]]
    for p in points[1:]:
        if abs(p[0] - kept[-1][0]) + abs(p[1] - kept[-1][1]) > 0.7:
            kept.append(p)
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in kept + points[-1:])


def main():
    point = json.load(open(sys.argv[1] + "/result.json"))["points"][0]
    histograms = point["ops"]["getattr"]["histogram"]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="system-ui, DejaVu Sans, sans-serif" font-size="13" fill="#3d4654">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
           f'<text x="{LEFT}" y="26" font-size="17" font-weight="600" fill="#1b2330">One stall of 500 ms among {histograms["from_due"]["count"]:,} operations</text>',
           f'<text x="{LEFT}" y="47">one op due every 1 ms, served in 0.1 ms; response time that this share of the ops did not exceed</text>']
    for ms in range(0, 501, 100):
        out.append(f'<path d="M{LEFT} {y_of(ms):.1f}H{WIDTH - RIGHT}" stroke="#e2e6ee"/><text x="{LEFT - 8}" y="{y_of(ms) + 4:.1f}" text-anchor="end">{ms}</text>')
    for percent in TICKS:
        x = x_of(percent)
        out.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e2e6ee"/><text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{percent:g} %</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 16}" text-anchor="middle" font-weight="600" fill="#1b2330">share of operations (%)</text>')
    out.append(f'<text transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle" font-weight="600" fill="#1b2330">response time (ms)</text>')
    for number, (key, words) in enumerate((("from_due", "from due: what users waited"), ("from_sent", "from sent: what the server took"))):
        p99 = point[key]["percentiles_ms"]["p99"]
        out.append(f'<path d="{path(histograms[key])}" fill="none" stroke="{COLOURS[key]}" stroke-width="2.5" stroke-linejoin="round"/>')
        out.append(f'<path d="M{LEFT + 16} {TOP + 16 + 22 * number}h24" stroke="{COLOURS[key]}" stroke-width="2.5"/><text x="{LEFT + 48}" y="{TOP + 20 + 22 * number}">{words}; mean {point[key]["response_ms"]:.2f} ms, p99 {p99:.1f} ms</text>')
    out.append("</svg>")
    print("\n".join(out))


main()
