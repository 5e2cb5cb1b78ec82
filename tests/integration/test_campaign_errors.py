"""What is wrong with a campaign is said once, in one clear message that names the thing and what to do; nothing is started, no finished point is lost."""

import json
import os
import re
import subprocess

import pytest

GOOD = {"name": "c", "workload": "sfs2008", "load_ops_per_s": [100], "targets": [{"server": "127.0.0.1", "export": "/x", "nfs_port": 1, "mount_port": 1}], "loadgens": [{"host": "127.0.0.1", "port": 1}]}


def with_keys(**keys):
    return json.dumps({**GOOD, **keys})


BAD = {
    "broken JSON": ('{"name": ', ["campaign.json:1", "not valid JSON"]),
    "an unknown key": (with_keys(run_seconds=5), ["campaign.json:1: run_seconds: unknown key"]),
    "a wrong type": (with_keys(run_s="long"), ['run_s: is "long"; expected a number of s']),
    "a negative load": (with_keys(load_ops_per_s=[-5]), ["load_ops_per_s[0]: must be a number of ops/s greater than 0"]),
    "a mix that does not sum to 100": (with_keys(op_mix_percent={"lookup": 50, "read": 40}), ["op_mix_percent: sums to 90; the shares must sum to 100"]),
    "no target": (with_keys(targets=[]), ["targets: is required"]),
    "a target that nobody knows": (with_keys(loadgens=[{"host": "lg", "targets": ["fs7"]}]), ['targets names "fs7"; expected the name of a target']),
    "a workload that is not there": (with_keys(workload="sfs2009"), ["workload", "sfs2009"]),
    "a key file that is not there": (with_keys(control={"key_file": "none.key"}), ["control.key_file", "none.key", "No such file"]),
    "a key file that holds no key": (with_keys(control={"key_file": "campaign.json"}), ["control.key_file: key file ", "campaign.json: "]),
    "a target's key beside targets": (with_keys(nfs_port=2049), ['nfs_port: belongs into the entries of "targets", not here']),
    "a load generator's key beside loadgens": (with_keys(source_address="10.0.0.1"), ['source_address: belongs into the entries of "loadgens", not here']),
    "a campaign's key in a target": (with_keys(targets=[{"server": "a", "export": "/x", "run_s": 3, "pacing": "max"}]),
                                     ["targets[0].run_s: belongs into the outermost object, not here", "targets[0].pacing: belongs into the outermost object", "2 errors"]),
    "a local target's key in its entry": (with_keys(targets=[{"local": {}, "latency": "fixed:1ms"}]), ['targets[0].latency: belongs into "local" of a target, not here', "1 error"]),
    "an interface as source": (with_keys(loadgens=[{"host": "lg", "source_address": "eth0"}]), ['loadgens[0]: source_address is "eth0"; expected an IP address', "nfscurve hosts"]),
    "too few files": (with_keys(fileset_mb_per_op=0.001), ["too few for 8 processes", "raise fileset_mb_per_op"]),
    "two errors": (with_keys(run_s=-1, seed="x"), ["run_s: is -1", 'seed: is "x"', "2 errors"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_campaign_is_refused_before_anything_starts(nfscurve, run_dir, name):
    text, expected = BAD[name]
    (run_dir / "campaign.json").write_text(text)
    for command in ("run", "plan", "validate"):
        done = nfscurve(command, "campaign.json", cwd=run_dir)
        assert done.status == 2, done
        for words in expected:
            assert words in done.err, done
        assert "nothing was started" in done.err and not done.out
    assert not (run_dir / "runs").exists()


def test_no_fifo_is_waited_for(nfscurve, run_dir):
    os.mkfifo(run_dir / "fifo")
    for arguments, words in ((["run", "fifo"], "fifo: is no regular file"), (["plan", "/dev/zero"], "/dev/zero: is no regular file"), (["report", "fifo"], "fifo: is no regular file"),
                             (["import", "mix", "fifo"], "fifo is no regular file"), (["import", "sfs_rc", "fifo"], "fifo is no regular file")):
        done = nfscurve(*arguments, cwd=run_dir, timeout_s=10)
        assert done.status == 2 and words in done.err, done
    (run_dir / "sfs_rc").write_text('LOAD=100\nCLIENTS=localhost\nMNT_POINTS="nas:/fs1"\nMIXFILE=fifo\n')
    done = nfscurve("import", "sfs_rc", "sfs_rc", cwd=run_dir, timeout_s=10)
    assert done.status == 0 and "MIXFILE fifo cannot be read" in done.err, done


def test_a_byte_order_mark_before_a_result_is_passed_over(nfscurve, run_dir):
    (run_dir / "r.json").write_bytes(b"\xef\xbb\xbf" + json.dumps({"points": [{"achieved_ops_per_s": 100, "response_ms": 1}]}).encode())
    assert "peak" in nfscurve("report", "r.json", "--format", "json", cwd=run_dir).out


def test_a_pipe_of_the_shell_is_read(bin, run_dir):
    (run_dir / "campaign.json").write_text(with_keys())
    done = subprocess.run(["bash", "-c", f"{bin}/nfscurve plan <(cat campaign.json)"], cwd=run_dir, capture_output=True, text=True, timeout=20)
    assert done.returncode == 0 and "campaign c:" in done.stdout, done


def test_source_addresses_of_both_families_are_taken(nfscurve, run_dir):
    for address in ("10.0.0.1", "fd00::7", "fe80::1%eth0"):
        (run_dir / "campaign.json").write_text(with_keys(loadgens=[{"host": "lg", "source_address": address}]))
        assert nfscurve("plan", "campaign.json", cwd=run_dir).status == 0


def test_a_source_address_that_is_not_there_is_named(campaign, small_campaign, target):
    outcome = campaign(small_campaign(target().spec(), [10], loadgens=[{"local": 1, "source_address": "192.0.2.1"}]))
    assert outcome.status == 3 and "source_address 192.0.2.1 is no address of this host" in outcome.err and "nfscurve hosts" in outcome.err, outcome


def test_the_byte_columns_of_a_plan_line_up(nfscurve, run_dir):
    # 120 MB an op/s (GB and TB): sums that end in zeros as well
    (run_dir / "campaign.json").write_text(with_keys(load_ops_per_s={"first": 500, "increment": 250, "points": 10}))
    lines = nfscurve("plan", "campaign.json", cwd=run_dir).out.splitlines()
    start = [i for i, line in enumerate(lines) if "I/O files" in line][0]
    rows = [line for line in lines[start + 1:start + 11]]
    assert len(rows) == 10 and all(re.search(r"\d+\.\d{3} [KMGT]iB", row) for row in rows), rows
    assert len({tuple(m.start() for m in re.finditer(r"\.\d{3} [KMGT]iB", row)) for row in rows}) == 1, rows


def test_a_missing_campaign_is_named(nfscurve, run_dir):
    done = nfscurve("run", "no-such.json", cwd=run_dir)
    assert done.status == 2 and "no-such.json: No such file or directory" in done.err, done


@pytest.mark.parametrize("arguments", [["--set"], ["--nonsense"], ["a.json", "b.json"], ["--set", "nonsense", "a.json"], []])
def test_wrong_usage_is_refused(nfscurve, run_dir, arguments):
    done = nfscurve("run", *arguments, cwd=run_dir)
    assert done.status == 2 and done.err, done


def test_resuming_what_holds_no_run_says_so(nfscurve, run_dir):
    done = nfscurve("run", "--resume", run_dir)
    assert done.status == 2 and "cannot be resumed: it holds no run" in done.err, done


@pytest.mark.parametrize("kind", ["sfs_rc", "mix", "nfsstat"])
def test_importing_a_directory_says_what_it_is(nfscurve, run_dir, kind):
    done = nfscurve("import", kind, run_dir)
    assert done.status == 2 and "Is a directory" in done.err, done


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_output_that_cannot_be_written_is_no_success(start, bin, run_dir, redirection):
    (run_dir / "campaign.json").write_text(with_keys(load_ops_per_s=[100, 200, 300]))
    program = start(["/bin/sh", "-c", f"exec '{bin}/nfscurve' plan campaign.json --json {redirection}"], cwd=run_dir)
    assert program.wait(10) == 3 and "standard output cannot be written" in program.err, program.err


def test_an_unreachable_load_generator_is_named(campaign):
    outcome = campaign(with_keys())
    assert outcome.status == 3, outcome
    assert "load generator 127.0.0.1 (127.0.0.1 port 1)" in outcome.err and "Connection refused" in outcome.err, outcome
    assert "start nfscurve-loadgen there" in outcome.err
    assert outcome.points == []


def test_all_unreachable_load_generators_are_named_at_once(campaign):
    outcome = campaign(with_keys(loadgens=[{"name": "one", "host": "127.0.0.1", "port": 1}, {"name": "two", "host": "127.0.0.1", "port": 2}]))
    assert outcome.status == 3 and "load generator one" in outcome.err and "load generator two" in outcome.err, outcome


def test_a_refused_mount_is_named(campaign, target, small_campaign):
    server = target("--data", "synth")
    outcome = campaign(small_campaign({**server.spec(), "export": "/elsewhere"}, [100]))
    assert outcome.status == 3, outcome
    assert "/elsewhere" in outcome.err and "MNT3ERR" in outcome.err, outcome
    assert outcome.points == []


def test_a_server_that_is_not_there_is_named(campaign, small_campaign):
    outcome = campaign(small_campaign({"server": "127.0.0.1", "export": "/x", "nfs_port": 1, "mount_port": 1}, [100]))
    assert outcome.status == 3, outcome
    assert "127.0.0.1" in outcome.err and "refused" in outcome.err, outcome


@pytest.mark.parametrize("arguments, expected", [(["--data", "store", "--capacity", "1MiB"], "NFS3ERR_NOSPC"), (["--data", "synth", "--read-only"], "NFS3ERR_ROFS"), (["--data", "synth", "--root-mode", "0555", "--root-squash"], "NFS3ERR_ACCES")])
def test_an_export_that_takes_no_files_is_named(campaign, target, small_campaign, arguments, expected):
    server = target(*arguments)
    outcome = campaign(small_campaign(server.spec(), [100], fileset_mb_per_op=1))
    assert outcome.status == 3, outcome
    assert expected in outcome.err, outcome
    assert outcome.points == []


def test_an_export_that_fills_up_keeps_the_finished_points(campaign, target, small_campaign):
    # 20 MB for the first point, 200 MB for the second.
    server = target("--data", "store", "--capacity", "100MiB")
    outcome = campaign(small_campaign(server.spec(), [20, 200], fileset_mb_per_op=1, file_sizes={"fixed_bytes": 200000}, warmup_s=0.5, run_s=1.5))
    assert outcome.status == 1, outcome  # it ran; 3 is for a campaign that measured nothing
    assert "NFS3ERR_NOSPC" in outcome.err and len(outcome.points) == 1, outcome
    assert "NFS3ERR_NOSPC" in outcome.result["stopped"]


def test_a_run_directory_is_never_mixed_up(campaign, nfscurve, target, small_campaign, run_dir):
    server = target("--data", "synth")
    config = small_campaign(server.spec(), [50], warmup_s=0, run_s=1)
    outcome = campaign(config)
    assert len(outcome.points) == 1, outcome
    (run_dir / "again.json").write_text(json.dumps(config))
    done = nfscurve("run", run_dir / "again.json", "--out", outcome.dir)
    assert done.status == 2 and "--resume" in done.err, done
    done = nfscurve("run", run_dir / "again.json", "--resume", outcome.dir, "--set", "run_s=2")
    assert done.status == 2 and "changed: run_s" in done.err, done
    done = nfscurve("run", "--resume", run_dir / "nowhere")
    assert done.status == 2 and "nowhere" in done.err, done
