"""A load-generating process that is stopped is named: neither the server nor its operations get the blame."""

import os
import re
import signal

from support.process import children_of, wait_for


def process_of(run, what):
    """The second process of a campaign's local load generator, once its log says `what`."""
    log = run.dir / "log.txt"
    wait_for(lambda: log.exists() and what in log.read_text(), what=what)
    daemon = next(pid for pid, command in children_of(run.program.pid).items() if "nfscurve-loadgen" in command)
    return sorted(children_of(daemon))[1]


def test_a_stopped_process_is_named(start_campaign, small_campaign, target):
    # Both at once: each waits for the 15 s after which a heartbeat is missed.
    slow = target("--data", "synth", "--latency", "fixed:50ms")
    populating = start_campaign(small_campaign(slow.spec(), [10], fileset_mb_per_op=10, warmup_s=0.5, run_s=1))
    loading = start_campaign(small_campaign(target("--data", "synth").spec(), [20], warmup_s=0.5, run_s=2, timeout_s=1))
    os.kill(process_of(populating, "ops/s: populate"), signal.SIGSTOP)
    os.kill(process_of(loading, "point 1: load"), signal.SIGSTOP)

    outcome = populating.finish(60)
    assert outcome.status == 3, outcome
    assert re.search(r"load generator local-1 process 1: no heartbeat for 1\d s: it is stopped \(SIGSTOP", outcome.err) and "server does not answer" not in outcome.err, outcome
    outcome = loading.finish(60)
    assert outcome.status == 1, outcome
    said = r"load generator local-1 process 1: did not end its load in time: no heartbeat for 1\d s: it is stopped \(SIGSTOP"
    assert re.search(said, outcome.err) and "still outstanding" not in outcome.err, outcome
    assert [lost["process"] for lost in outcome.result["points"][0]["lost"]] == [1]
