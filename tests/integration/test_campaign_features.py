"""Repeats, the monitor script, the plan against what was made, import."""

import json

import pytest
from support.process import wait_for


def test_repeats_give_the_spread_of_each_point(campaign, small_campaign, target):
    server = target("--data", "synth")
    outcome = campaign(small_campaign(server.spec(), [50, 100], warmup_s=0.5, run_s=1, repeats=3))
    assert len(outcome.points) == 2, outcome
    for index, point in enumerate(outcome.points):
        repeats = [json.loads((outcome.dir / f"repeat-{k}" / "points" / f"0{index + 1}.json").read_text()) for k in (1, 2, 3)]
        achieved = [r["achieved_ops_per_s"] for r in repeats]
        assert point["spread_percent"] == pytest.approx(100 * (max(achieved) - min(achieved)) / (sum(achieved) / 3))
        assert point["response_ms"] == sorted(r["response_ms"] for r in repeats)[1]
        assert any("median" in note for note in point["notes"]), point["notes"]
    assert (outcome.dir / "repeat-2" / "result.json").exists()


def test_monitor_script_is_called_around_every_run(campaign, small_campaign, target, run_dir):
    log = run_dir / "monitor.txt"
    script = run_dir / "monitor.sh"
    script.write_text(f'#!/bin/sh\necho "$1 $2 $NFSCURVE_POINT $NFSCURVE_OPS_PER_S" >> {log}\n')
    script.chmod(0o755)
    server = target("--data", "synth")
    outcome = campaign(small_campaign(server.spec(), [50, 100], warmup_s=1.5, run_s=1, monitor={"script": str(script), "args": ["mark"]}))
    assert len(outcome.points) == 2, outcome
    assert log.read_text().splitlines() == ["START mark 1 50", "DONE mark 1 50", "START mark 2 100", "DONE mark 2 100"]


def test_plan_foretells_what_is_made(campaign, nfscurve, small_campaign, target, run_dir):
    server = target("--data", "synth")
    config = small_campaign(server.spec(), [100, 200], warmup_s=0, run_s=1, fileset_mb_per_op=1, loadgens={"local": 2})
    (run_dir / "plan.json").write_text(json.dumps(config))
    plan = json.loads(nfscurve("plan", run_dir / "plan.json", "--json").out)
    outcome = campaign(config)
    for planned, point in zip(plan["points"], outcome.points):
        assert point["fileset_files"] == planned["files"]
        # The run may grow the fileset by 10 %.
        assert planned["bytes"] * 0.99 <= point["fileset_bytes"] <= planned["bytes"] * 1.11


def test_plan_totals_are_equal_whatever_the_processes(nfscurve, small_campaign, run_dir):
    config = small_campaign({"server": "s", "export": "/x"}, [500, 1000, 7777], fileset_mb_per_op=30, loadgens={"local": 2})
    (run_dir / "plan.json").write_text(json.dumps(config))
    totals = []
    for processes in (1, 4, 16):
        plan = json.loads(nfscurve("plan", run_dir / "plan.json", "--json", "--set", f"processes_per_loadgen={processes}").out)
        totals.append([{k: p[k] for k in ("files", "bytes", "working_set_files", "working_set_bytes")} for p in plan["points"]])
    assert totals[0] == totals[1] == totals[2]


def test_clean_up_removes_the_fileset(campaign, small_campaign, target):
    server = target("--data", "synth")
    outcome = campaign(small_campaign(server.spec(), [50], warmup_s=0, run_s=1, clean_up=True))
    assert len(outcome.points) == 1 and "clean up" in outcome.err, outcome


def test_imported_sfs_rc_is_a_campaign(nfscurve, run_dir):
    (run_dir / "sfs_rc").write_text('LOAD=100\nINCR_LOAD=100\nNUM_RUNS=10\nPROCS=8\nCLIENTS="lg1 lg2"\nMNT_POINTS="nas:/fs1"\nFS_PROTOCOL=nfs\nRUNTIME=60\nWARMUP_TIME=300\nDEBUG=7\nMIXFILE=mix\n')
    (run_dir / "mix").write_text("SFS MIXFILE VERSION 2\nlookup 60\nread 40\n")
    done = nfscurve("import", "sfs_rc", "sfs_rc", "--out", "made.json", cwd=run_dir)
    assert done.status == 0, done
    assert "DEBUG has no meaning here" in done.err and "non-standard: run_s is 60, standard is 300" in done.err, done
    planned = nfscurve("plan", "made.json", cwd=run_dir)
    assert planned.status == 0 and "lg2" in planned.out, planned
    assert json.loads((run_dir / "made.json").read_text())["op_mix_percent"] == {"lookup": 60, "read": 40}


def test_what_an_imported_campaign_still_needs_is_said(nfscurve, run_dir):
    rc = run_dir / "sfs_rc"
    rc.write_text('LOAD=100\nCLIENTS="lg1 lg2"\nMNT_POINTS="nas:/fs1"\nPRIME_MON_SCRIPT=/opt/lab/monitor.sh\nPRIME_MON_ARGS="a b"\n')
    done = nfscurve("import", "sfs_rc", "sfs_rc", "--out", "made.json", cwd=run_dir)
    assert done.status == 0, done
    assert "sfs_rc:4: PRIME_MON_SCRIPT /opt/lab/monitor.sh is not here" in done.err and "monitor.script" in done.err, done
    assert "nfscurve keygen" in done.err and "key_file" in done.err and "lg1" in done.err, done
    assert json.loads((run_dir / "made.json").read_text())["monitor"] == {"script": "/opt/lab/monitor.sh", "args": ["a", "b"]}

    # nothing of it when the script is there and the load generators are here
    (run_dir / "monitor.sh").write_text("#!/bin/sh\n")
    rc.write_text('LOAD=100\nCLIENTS=localhost\nMNT_POINTS="nas:/fs1"\nPRIME_MON_SCRIPT=monitor.sh\n')
    done = nfscurve("import", "sfs_rc", "sfs_rc", "--out", "made.json", cwd=run_dir)
    assert done.status == 0 and "MON_SCRIPT" not in done.err and "keygen" not in done.err, done


def test_what_is_wrong_with_an_imported_campaign_is_named_where_it_was_written(nfscurve, run_dir):
    (run_dir / "sfs_rc").write_text('LOAD=100\nCLIENTS=localhost\nMNT_POINTS="nas:/fs1"\nPROCS=5000\nPRIME_MON_SCRIPT=/opt/lab/monitor.sh\n')
    done = nfscurve("import", "sfs_rc", "sfs_rc", "--out", "made.json", cwd=run_dir)
    line = 1 + [i for i, text in enumerate((run_dir / "made.json").read_text().splitlines()) if "processes_per_loadgen" in text][0]
    assert done.status == 2 and f"made.json:{line}: processes_per_loadgen: is 5000" in done.err, done
    assert "is written, but cannot be run" in done.err, done


def test_the_sweep_ends_after_a_clear_fall_when_asked(campaign, small_campaign, target, run_dir):
    curve = run_dir / "falling.txt"
    curve.write_text("50 1\n100 20\n")
    # The target carries 100 ops/s and no more, so later points ask in vain; one that achieves less than the best before it ends the sweep.
    server = target("--data", "synth", "--latency", f"curve:{curve}")
    outcome = campaign(small_campaign(server.spec(), [50, 100, 200, 400, 800], warmup_s=1, run_s=2, stop_after_fall_percent=0.001, timeout_s=5), timeout_s=120)
    achieved = [p["achieved_ops_per_s"] for p in outcome.points]
    if len(achieved) < 5:
        assert achieved[-1] < max(achieved[:-1]) and "throughput fell" in outcome.result["stopped"], achieved
    else:
        assert achieved == sorted(achieved), achieved


@pytest.mark.parametrize("fate", ["gone", "garbled"])
def test_a_local_target_that_refuses_its_latency_is_not_measured_without(start_campaign, small_campaign, run_dir, fate):
    curve = run_dir / "curve.txt"
    curve.write_text("100 1\n1000 5\n")
    config = small_campaign({"name": "fickle", "local": {"data": "synth", "latency": f"curve:{curve}"}}, [20, 40], fileset_mb_per_op=1, warmup_s=0.5, run_s=1)
    going = start_campaign(config)
    log = going.dir / "log.txt"
    wait_for(lambda: log.exists() and "point 1: load" in log.read_text(), what="the first point's load")
    curve.unlink() if fate == "gone" else curve.write_text("no curve\n")
    outcome = going.finish()
    assert outcome.status == 1 and len(outcome.points) == 1, outcome
    assert "target fickle refuses to change its latency" in outcome.err and str(curve) in outcome.err, outcome
    assert "fickle refuses" in outcome.result["stopped"]


def test_local_targets_are_filled_without_their_latency(campaign, small_campaign):
    # 100 ms an operation: hundreds of files would take a minute to make.
    config = small_campaign({"name": "slow", "local": {"data": "synth", "latency": "fixed:100ms"}}, [8], fileset_mb_per_op=10, warmup_s=0.5, run_s=2)
    outcome = campaign(config, timeout_s=40)
    assert len(outcome.points) == 1, outcome.err
    assert outcome.points[0]["response_ms"] == pytest.approx(100, abs=30)
