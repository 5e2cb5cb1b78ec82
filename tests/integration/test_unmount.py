"""A load-generating process takes leave of the server's MOUNT, and never waits long for it."""

import json
import os
import signal
import time

import pytest
from support import bare_nfs as nfs
from support.process import PATIENCE, wait_for


@pytest.mark.parametrize("engine", ["native", "libnfs"])
def test_every_mount_is_given_back(campaign, small_campaign, target, run_dir, engine):
    stats = run_dir / "stats.json"
    server = target("--data", "synth", "--stats-file", stats)
    outcome = campaign(small_campaign(server.spec(), [20], warmup_s=0.5, run_s=1, engine=engine))
    assert outcome.points, outcome
    client = nfs.Client(server.address, server.port)
    assert client.call(2, program=nfs.MOUNT).status == 0, "the first word of DUMP: its list is empty"
    client.close()
    assert server.stop() == 0
    ops = json.loads(stats.read_text())["ops"]
    assert ops["umnt"] == {"calls": 2, "errors": 0, "faults": 0} and ops["mnt"]["calls"] == 2


@pytest.mark.parametrize("fault", ["umnt:drop", "umnt:reset", "umnt:garbage"])
def test_a_server_that_does_not_care_is_not_waited_for(campaign, small_campaign, target, fault):
    server = target("--data", "synth", "--fault", fault)
    outcome = campaign(small_campaign(server.spec(), [20], warmup_s=0.5, run_s=1))
    assert outcome.points and outcome.points[0]["errors"]["failed"] == 0 and not outcome.points[0].get("lost"), outcome


def test_an_interrupt_does_not_wait_for_a_server_that_hangs(start_campaign, small_campaign, target):
    server = target("--data", "synth")
    run = start_campaign(small_campaign(server.spec(), [20], warmup_s=20, run_s=5))
    log = run.dir / "log.txt"
    wait_for(lambda: log.exists() and "point 1: load" in log.read_text(), what="the load")
    os.kill(server.pid, signal.SIGSTOP)
    run.program.signal(signal.SIGINT)
    start = time.monotonic()
    outcome = run.finish()
    os.kill(server.pid, signal.SIGCONT)
    assert outcome.status == 130, outcome
    assert time.monotonic() - start < 2.5 * PATIENCE
