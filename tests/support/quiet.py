"""Waiting for a quiet machine: tests marked "timing" measure the machine as well, whoever else uses it."""

import time


def _ticks():
    """(idle, all) clock ticks of all processors since boot."""
    with open("/proc/stat") as f:
        fields = [int(x) for x in f.readline().split()[1:9]]
    return fields[3] + fields[4], sum(fields)


def wait_for_quiet(patience_s=20.0, idle_share=0.85):
    """Until the processors were idle for this share of half a second, or the patience is over. The last share."""
    deadline = time.monotonic() + patience_s
    while True:
        idle, total = _ticks()
        time.sleep(0.5)
        idle_now, total_now = _ticks()
        share = (idle_now - idle) / max(1, total_now - total)
        if share >= idle_share or time.monotonic() > deadline:
            return share
