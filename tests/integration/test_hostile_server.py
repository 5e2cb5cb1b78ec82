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


@pytest.mark.parametrize("engine", ["native", "libnfs"])
@pytest.mark.parametrize("spoil_percent", [1, 40])
def test_a_campaign_against_it_ends_by_itself_and_says_why(engine_tool, start, campaign, small_campaign, engine, spoil_percent):
    """Whatever such a server does to libnfs's memory costs processes, never the daemon, and the reason is in the result or in the message."""
    ready = start([engine_tool("nfs3_hostile"), "-l", "@READY@", "-r", 7, "-p", spoil_percent]).ready()
    spec = {"name": "hostile", "server": "127.0.0.1", "export": "/export", "nfs_port": ready["port"], "mount_port": ready["port"]}
    outcome = campaign(small_campaign(spec, [50], engine=engine, run_s=2, timeout_s=1))
    assert outcome.status in (0, 1, 3), outcome
    if outcome.status:
        assert "hostile" in outcome.err + outcome.out or (outcome.result and outcome.result["invalid_reasons"]), outcome
