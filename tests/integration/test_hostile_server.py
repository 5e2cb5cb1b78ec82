"""The native engine against a server that answers anything but what it should: structured mutations of valid replies (tests/fuzz/hostile_replies.c).

Some seconds here; `nfs3_hostile -s 1800` of a sanitizer build is the long run.
"""

import re
import subprocess

import pytest

from support.process import PATIENCE, die_with_parent

pytestmark = [pytest.mark.faults, pytest.mark.sanitizer]


@pytest.mark.parametrize("seed", [1, 20261130])
def test_every_call_completes_and_nothing_breaks(engine_tool, seed):
    hostile = engine_tool("nfs3_hostile")
    done = subprocess.run([str(hostile), "-s", "4", "-r", str(seed)], capture_output=True, text=True, timeout=60 * PATIENCE, preexec_fn=die_with_parent, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-4000:]}"
    figures = {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", done.stdout)}
    assert figures["rounds"] >= 3 and figures["ok"] > 0 and figures["malformed"] > 0 and figures["unknown_xid"] > 0, done.stdout
