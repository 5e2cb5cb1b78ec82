"""A campaign that ends early: the load stops, what was measured is kept, nobody is left behind, and --resume goes on from there."""

import json
import os
import random
import signal
import time

import pytest

from support.process import PATIENCE, children_of, wait_for


@pytest.fixture
def three_points(small_campaign):
    def make(server, **keys):
        return small_campaign({"name": "t1", "local": {"data": "synth"}} if server is None else server.spec(), [50, 100, 150], **{"warmup_s": 0.5, "run_s": 1.5, "fileset_mb_per_op": 0.5, "loadgens": {"local": 2}, **keys})

    return make


def points_on_disk(directory):
    return sorted(p.name for p in (directory / "points").glob("*.json")) if (directory / "points").exists() else []


def wait_until(run, condition, what):
    def look():
        assert run.program.running, f"it ended before {what}:\n{run.program.err}"
        return condition()

    wait_for(look, 40, what)


DICE = random.Random(7)

# Early ones hit launching and connecting, late ones populating, loading and collecting.
@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.3, 1.1] + [round(DICE.uniform(1, 9), 2) for _ in range(4)])
def test_ctrl_c_at_any_time(start_campaign, three_points, after_s):
    run = start_campaign(three_points(None))
    time.sleep(after_s)
    had = points_on_disk(run.dir)
    children = list(children_of(run.program.pid))
    begun = time.monotonic()
    run.program.popen.send_signal(signal.SIGINT)
    outcome = run.finish()
    took_s = time.monotonic() - begun
    if outcome.status == -signal.SIGINT:
        assert after_s < 0.1 and not children, outcome  # before anything was started; a shell calls that 130 as well
    elif outcome.status in (0, 1):
        assert len(outcome.points) == 3, outcome  # it had ended by itself
    else:
        assert outcome.status == 130, outcome
        assert took_s < 2 * PATIENCE, took_s
        assert len(outcome.points) >= len(had), outcome
    for pid in children:
        assert not os.path.exists(f"/proc/{pid}"), pid


def test_the_second_ctrl_c_leaves_at_once(start_campaign, three_points):
    run = start_campaign(three_points(None))
    wait_until(run, lambda: "1/3 load" in run.program.err, "the first load")
    run.program.popen.send_signal(signal.SIGINT)
    run.program.popen.send_signal(signal.SIGTERM)
    assert run.finish().status == 130


def test_resume_goes_on_at_the_first_point_without_a_file(start_campaign, nfscurve, three_points):
    run = start_campaign(three_points(None))
    wait_until(run, lambda: points_on_disk(run.dir) == ["01.json"], "the first point")
    run.program.popen.send_signal(signal.SIGINT)
    outcome = run.finish()
    assert outcome.status == 130 and len(outcome.points) == 1, outcome
    assert "interrupted" in json.dumps(outcome.result), outcome
    first = (run.dir / "points" / "01.json").read_bytes()
    done = nfscurve("run", "--resume", run.dir, timeout_s=60)
    result = json.loads((run.dir / "result.json").read_text())
    assert [p["requested_ops_per_s"] for p in result["points"]] == [50, 100, 150], done
    assert (run.dir / "points" / "01.json").read_bytes() == first
    assert result["started_at"] <= result["points"][0]["started_at"]


def test_a_run_that_was_cut_short_is_kept_beside_the_points(start_campaign, three_points):
    run = start_campaign(three_points(None, run_s=6))
    wait_until(run, lambda: "1/3 load" in run.program.err, "the load")
    time.sleep(4)
    run.program.popen.send_signal(signal.SIGINT)
    outcome = run.finish()
    assert outcome.status == 130 and outcome.points == [], outcome
    point = json.loads((run.dir / "interrupted" / "points" / "01.json").read_text())
    assert not point["valid"] and any("interrupted" in r for r in point["invalid_reasons"])
    assert point["achieved_ops_per_s"] > 0


def kill_one(pid, name):
    """Kills the first child of pid that runs this program."""
    child = next(child for child, command in children_of(pid).items() if name in command)
    os.kill(child, signal.SIGKILL)
    return child


def wait_for_point(run, n):
    wait_until(run, lambda: len(points_on_disk(run.dir)) >= n and f"point {n + 1}/3 load" in run.program.err, f"the load of point {n + 1}")
    time.sleep(0.8)


def test_a_lost_load_generator_is_named_and_earlier_points_are_kept(start_campaign, three_points):
    run = start_campaign(three_points(None))
    wait_for_point(run, 1)
    kill_one(run.program.pid, "nfscurve-loadgen")
    outcome = run.finish()
    assert outcome.status == 1, outcome
    assert len(outcome.points) == 2 and not outcome.points[0].get("lost"), outcome
    lost = outcome.points[1]["lost"][0]
    assert not outcome.points[1]["valid"]
    assert lost["loadgen"].startswith("local-") and lost["reason"] and 0 < lost["at_s"] < 10, lost
    assert lost["loadgen"] in outcome.err


def test_a_killed_process_is_named(start_campaign, three_points):
    run = start_campaign(three_points(None))
    wait_for_point(run, 1)
    daemon = next(pid for pid, command in children_of(run.program.pid).items() if "nfscurve-loadgen" in command)
    os.kill(sorted(children_of(daemon))[1], signal.SIGKILL)
    outcome = run.finish()
    assert outcome.status == 1, outcome
    lost = outcome.points[1]["lost"][0]
    assert lost["process"] == 1 and "signal 9" in lost["reason"], lost
    assert not outcome.points[0].get("lost"), outcome
    assert "process 1" in outcome.err


def test_a_point_that_lost_someone_is_measured_again_by_resume(start_campaign, nfscurve, three_points):
    run = start_campaign(three_points(None))
    wait_for_point(run, 1)
    kill_one(run.program.pid, "nfscurve-loadgen")
    assert run.finish().status == 1
    done = nfscurve("run", "--resume", run.dir, timeout_s=60)
    result = json.loads((run.dir / "result.json").read_text())
    assert len(result["points"]) == 3 and not any(p.get("lost") for p in result["points"]), done


def test_a_killed_target_ends_the_campaign_and_resume_measures_its_point_again(start_campaign, nfscurve, three_points):
    run = start_campaign(three_points(None, timeout_s=5))
    wait_for_point(run, 1)
    kill_one(run.program.pid, "nfscurve-target")
    outcome = run.finish()
    assert outcome.status == 1, outcome
    assert "target-t1" in outcome.err and "signal 9" in outcome.err, outcome
    assert not outcome.points[0].get("lost") and not outcome.points[1]["valid"], outcome
    done = nfscurve("run", "--resume", run.dir, timeout_s=60)
    points = json.loads((run.dir / "result.json").read_text())["points"]
    assert len(points) == 3 and not any("signal 9" in reason for p in points for reason in p.get("invalid_reasons", [])), done


def test_a_killed_prime_leaves_nobody_behind(start_campaign, three_points):
    run = start_campaign(three_points(None))
    wait_until(run, lambda: "point 1/3 load" in run.program.err, "the first load")
    time.sleep(0.5)
    children = list(children_of(run.program.pid))
    grandchildren = [pid for child in children for pid in children_of(child)]
    assert len(children) == 3 and len(grandchildren) == 4
    run.program.popen.kill()
    run.program.popen.wait()
    # They are now children of the test (a subreaper), which does not wait for them: dead is a zombie or gone.
    def is_dead(pid):
        try:
            return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True

    wait_for(lambda: all(is_dead(pid) for pid in children + grandchildren), 3, "the children to die")
