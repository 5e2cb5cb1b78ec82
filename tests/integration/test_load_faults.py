"""What a server does wrong under load is named, never counted as good, and never makes a loop."""

import pytest

from support.load import runner

KEYS = {"fileset_mb_per_op": 0.3}
ARGUMENTS = ("--ops", 300, "--warmup-s", 0.3, "--run-s", 2, "--timeout-s", 1)


@pytest.fixture
def faulty_load(start, bin, target, run_dir):
    """The server is healthy while the fileset is made; the fault begins with the load."""
    load = runner(start, bin)

    def run(fault, keys=None, workload="sfs3", arguments=ARGUMENTS):
        control, faults = run_dir / "control", run_dir / "faults"
        control.write_text("")
        faults.write_text(f"fault {fault}\n")
        server = target("--control-file", control)
        begin = f"cp {faults} {control} && kill -HUP {server.pid} && sleep 0.2"
        return load(server, *arguments, "--before-load", begin, workload=workload, keys={**KEYS, **(keys or {})})

    return run


def nothing_wrong_is_good(outcome, op):
    """Every RPC has one outcome, and only ok ones count."""
    o = outcome.load["ops"][op]
    assert o["physical"] == o["outcomes"].get("ok", 0) == o["rpc"]["n"], o
    assert outcome.load["failed"] > 0


@pytest.mark.faults
def test_lost_unstable_data_is_written_again(faulty_load):
    outcome = faulty_load("commit:probability=0.2:new_verifier")
    assert outcome.anomalies["verifier_changed"] > 0 and outcome.anomalies["rewrite"] > 0, outcome
    assert outcome.outcomes("commit")["wrong"] == outcome.anomalies["verifier_changed"]
    nothing_wrong_is_good(outcome, "commit")


@pytest.mark.faults
def test_ignored_cookies_are_named_and_end(faulty_load):
    """Directories that don't fit into one reply."""
    outcome = faulty_load("readdir:ignore_cookie", keys={"files_per_directory": 2000, "fileset_mb_per_op": 1})
    assert outcome.anomalies["bad_cookie"] > 0, outcome
    assert outcome.outcomes("readdir")["wrong"] == outcome.anomalies["bad_cookie"]
    assert outcome.load["ops"]["readdir"]["logical"] == 0
    nothing_wrong_is_good(outcome, "readdir")


@pytest.mark.faults
def test_wrong_data_is_seen(faulty_load):
    outcome = faulty_load("read:probability=0.2:wrong_data", keys={"verify_data": True})
    assert outcome.anomalies["wrong_data"] > 0, outcome
    assert outcome.outcomes("read")["wrong"] == outcome.anomalies["wrong_data"]
    nothing_wrong_is_good(outcome, "read")


def test_right_data_passes(faulty_load):
    outcome = faulty_load("fsstat:index=1000000:jukebox", keys={"verify_data": True})
    assert outcome.anomalies == {} and outcome.load["failed"] == 0, outcome


@pytest.mark.faults
def test_short_reads_are_continued_and_not_good(faulty_load):
    outcome = faulty_load("read:probability=0.2:short_read")
    assert outcome.anomalies["short_read"] > 0, outcome
    assert outcome.outcomes("read")["wrong"] == outcome.anomalies["short_read"]
    nothing_wrong_is_good(outcome, "read")


@pytest.mark.faults
def test_noent_for_a_name_that_exists(faulty_load):
    outcome = faulty_load("lookup:every=3:status=NFS3ERR_NOENT")
    assert outcome.anomalies["missing_name"] > 0, outcome
    assert outcome.outcomes("lookup")["nfs_error"] == outcome.anomalies["missing_name"]
    nothing_wrong_is_good(outcome, "lookup")


@pytest.mark.faults
def test_success_for_a_name_that_does_not_exist(faulty_load):
    outcome = faulty_load("lookup:every=2:found")
    assert outcome.anomalies["unexpected_ok"] > 0, outcome
    others = outcome.anomalies.get("wrong_attributes", 0)  # the fault's handle is a directory's, for names that do exist too
    assert outcome.outcomes("lookup")["wrong"] == outcome.anomalies["unexpected_ok"] + others
    nothing_wrong_is_good(outcome, "lookup")


@pytest.mark.faults
def test_wrong_attributes(faulty_load):
    outcome = faulty_load("getattr:every=2:wrong_attributes")
    assert outcome.anomalies["wrong_attributes"] > 0, outcome
    nothing_wrong_is_good(outcome, "getattr")


@pytest.mark.faults
def test_jukebox_is_asked_again(faulty_load):
    outcome = faulty_load("getattr:every=4:jukebox")
    o = outcome.load["ops"]["getattr"]
    assert outcome.anomalies["jukebox"] == o["statuses"]["NFS3ERR_JUKEBOX"] == o["outcomes"]["nfs_error"], outcome
    assert o["logical"] > 0


@pytest.mark.faults
def test_replies_that_never_come_are_time_outs(faulty_load):
    outcome = faulty_load("access:every=20:drop", arguments=("--ops", 300, "--warmup-s", 0.3, "--run-s", 4, "--timeout-s", 0.5))
    assert outcome.outcomes("access")["timeout"] > 0, outcome
    assert outcome.anomalies["reconnect"] > 0
    nothing_wrong_is_good(outcome, "access")


@pytest.mark.faults
def test_what_times_out_after_the_run_is_still_a_failure_of_it(faulty_load):
    """The time-out is longer than the run: the loss becomes known while the last replies are awaited."""
    outcome = faulty_load("access:every=5:drop", arguments=("--ops", 300, "--warmup-s", 0.2, "--run-s", 1, "--timeout-s", 2))
    assert outcome.outcomes("access")["timeout"] == 1, outcome


@pytest.mark.faults
def test_garbage_and_resets(faulty_load):
    garbage = faulty_load("fsstat+fsinfo:every=3:garbage", arguments=("--ops", 400, "--warmup-s", 0.3, "--run-s", 3, "--timeout-s", 0.5))
    assert garbage.load["failed"] > 0, garbage
    reset = faulty_load("getattr:every=50:reset")
    assert reset.outcomes("getattr")["rpc_error"] > 0 and reset.anomalies["reconnect"] > 0, reset


def test_errors_do_not_speed_the_loop_up(faulty_load):
    """Half of the LOOKUPs and GETATTRs fail at once; the loop asks for its 300 ops/s and no more, good and failed together."""
    outcome = faulty_load("lookup+getattr:every=2:status=NFS3ERR_IO", arguments=("--ops", 300, "--warmup-s", 1, "--run-s", 4))
    sent = sum(sum(o["outcomes"].values()) for o in outcome.load["ops"].values())
    assert sent / 4 < 309, outcome
    assert outcome.load["achieved_ops_per_s"] < 270


def test_stop_ends_within_half_a_second_and_keeps_what_was_measured(start, bin, target):
    load = runner(start, bin)
    for server, ops in ((target("--latency", "fixed:5ms"), 100), (target("--fault", "read:index=200-100000:drop"), 300)):
        outcome = load(server, "--ops", ops, "--warmup-s", 0.5, "--run-s", 30, "--stop-after-s", 2, keys=KEYS)
        assert outcome.status == 0 and outcome.load["stop_ms"] < 500, outcome
        assert outcome.load["good"] > 0 and 1 < outcome.load["run_s"] < 2


def test_full_export_is_said_in_words(start, bin, target):
    outcome = runner(start, bin)(target("--capacity", "5MiB"), "--ops", 100, "--run-s", 1, keys={"fileset_mb_per_op": 1})
    assert outcome.status == 1
    assert "NFS3ERR_NOSPC" in outcome.json["message"] and "free space" in outcome.json["message"], outcome


def test_read_only_export_is_said_in_words(start, bin, target):
    outcome = runner(start, bin)(target("--read-only"), "--ops", 100, "--run-s", 1, keys={"fileset_mb_per_op": 1})
    assert outcome.status == 1
    assert "NFS3ERR_ROFS" in outcome.json["message"] and "read-only" in outcome.json["message"], outcome
