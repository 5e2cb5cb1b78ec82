"""The workload as a process carries it out: every procedure in a mix, growth held, and the same whatever the number of processes.

NFSCURVE_LONG=1 runs longer.
"""

import math
import os

import pytest

from support.load import runner

LONG = bool(os.environ.get("NFSCURVE_LONG"))
ALL = {"null": 3, "getattr": 8, "setattr": 5, "lookup": 8, "access": 5, "readlink": 3, "read": 10, "write": 8, "create": 5, "mkdir": 4, "symlink": 4, "mknod": 4,
       "remove": 8, "rmdir": 4, "rename": 4, "link": 4, "readdir": 3, "readdirplus": 3, "fsstat": 2, "fsinfo": 2, "pathconf": 1, "commit": 2}


@pytest.fixture
def load(start, bin):
    return runner(start, bin)


@pytest.mark.parametrize("keys", [{}, {"pacing": "open", "max_outstanding": 32}, {"pacing": "max", "max_outstanding": 16, "verify_data": True}])
def test_all_22_procedures_in_one_mix(target, load, keys):
    """More names are made than removed: slots are made free by the way, and nothing fails."""
    keys = {"fileset_mb_per_op": 0.3, "counting": "logical", "commit_byproduct": False, "op_mix_percent": ALL, **keys}
    outcome = load(target(), "--ops", 600, "--processes", 2, "--warmup-s", 0.3, "--run-s", 2, keys=keys)
    assert outcome.status == 0 and outcome.load["failed"] == 0 and outcome.anomalies == {}, outcome
    for name, op in outcome.load["ops"].items():
        assert abs(op["percent"] - ALL[name]) < 0.6, (name, op["percent"])


@pytest.mark.parametrize("workload,mb", [("sfs3", 10.48576), ("sfs2008", 12)])
def test_fileset_stays_within_its_limit_and_the_mix_holds(target, load, workload, mb):
    """The ops of hours on a fileset of 10 ops/s: appends reach the growth limit, truncations come out of SETATTR's share."""
    keys = {"fileset_mb_per_op": mb, "pacing": "max", "max_outstanding": 2}
    outcome = load(target(), "--ops", 10, "--processes", 2, "--warmup-s", 0.1, "--run-s", 40 if LONG else 4, workload=workload, keys=keys, timeout_s=120)
    entry = outcome.load
    assert entry["good"] > 20_000 and entry["failed"] == 0, outcome
    size = entry["fileset"]["bytes"]
    assert 0.9 * size <= entry["fileset_bytes"] <= 1.1 * size, outcome
    for name, op in entry["ops"].items():
        if op["target_percent"]:
            assert abs(op["percent"] - op["target_percent"]) < 0.3, (name, op["percent"])


def test_what_is_touched_does_not_depend_on_the_processes(target, load):
    """The same load by 1, 4 and 16 processes: the same files and bytes, within what chance allows."""
    run_s = 20 if LONG else 4
    entries = {}
    for n in (1, 4, 16):
        # Open arrivals: every process count sends the same number of requests, however the machine is.
        keys = {"fileset_mb_per_op": 10.48576, "pacing": "open", "max_outstanding": 16, "append_percent": 0}
        outcome = load(target("--data", "synth"), "--ops", 1000, "--processes", n, "--warmup-s", 0, "--run-s", run_s, keys=keys)
        assert outcome.load["failed"] == 0, outcome
        entries[n] = outcome.load
    one = entries[1]
    for n in (4, 16):
        many = entries[n]
        assert many["fileset"]["files"] == one["fileset"]["files"] and many["fileset"]["bytes"] == one["fileset"]["bytes"]
        assert many["fileset"]["working_set_files"] == one["fileset"]["working_set_files"]
        # A file touched with probability p adds p (1 - p) to the variance of the count, so the variance is below the count itself; tests/wire/test_processes.py
        # sees the single files and is sharper.
        touched = many["files_touched"], one["files_touched"]
        assert abs(touched[0] - touched[1]) < 3.3 * math.sqrt(sum(touched)), (n, touched)
        assert many["read_bytes"] == pytest.approx(one["read_bytes"], rel=0.08), (n, many["read_bytes"], one["read_bytes"])
        assert many["write_bytes"] == pytest.approx(one["write_bytes"], rel=0.08), (n, many["write_bytes"], one["write_bytes"])
