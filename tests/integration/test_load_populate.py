"""The fileset on the server: made, kept, topped up, trimmed, put right, removed; its table's memory is what was foretold.

NFSCURVE_LONG=1 populates a million files.
"""

import os

import pytest

from support.load import runner

LONG = bool(os.environ.get("NFSCURVE_LONG"))


@pytest.fixture
def load(start, bin):
    return runner(start, bin)


def test_fileset_is_kept_topped_up_and_trimmed(target, load):
    outcome = load(target(), "--ops", "100,200,200,100", "--no-load", "--processes", 2, keys={"fileset_mb_per_op": 1})
    first, more, same, less = (entry["fileset"] for entry in outcome.loads)
    assert first["created"] == first["files"] and first["kept"] == 0
    assert more["kept"] == first["files"] and more["created"] == more["files"] - first["files"], outcome
    assert same["kept"] == more["files"] and same["created"] == 0
    assert less["kept"] == first["files"] and less["created"] == 0 and less["removed"] >= more["files"] - first["files"], outcome
    assert [f["bytes"] for f in (first, more)] == [less["bytes"], same["bytes"]]


def test_a_run_s_leavings_are_put_right(target, load):
    """After a load with appends, truncations and name ops the next populate brings back the layout, and the load after it is clean."""
    keys = {"fileset_mb_per_op": 0.3, "growth_limit_percent": 5}
    outcome = load(target(), "--ops", "400,400", "--run-s", 2, "--warmup-s", 0.2, "--processes", 2, keys=keys)
    again = outcome.loads[1]
    assert again["fileset"]["created"] == 0 and again["fileset"]["kept"] == again["fileset"]["files"]
    assert again["failed"] == 0 and not {n for n in again["anomalies"].values() if n}, outcome


def test_wrong_types_are_replaced(target, load, ganesha):
    """A directory and a symlink where files should be, a file where a directory should be: made on the server's own disk."""
    server = ganesha()
    spec = server.campaign_target()
    keys = {"fileset_mb_per_op": 1}
    assert load(spec, "--ops", 20, "--no-load", keys=keys, inside=server).status == 0
    top = server.export_dir / "CL1" / "testdir0"
    (top / "dir_ent.00000" / "file_en.00003").unlink()
    (top / "dir_ent.00000" / "file_en.00003").mkdir()
    (top / "dir_ent.00000" / "file_en.00003" / "inside").write_text("x")
    (top / "dir_ent.00000" / "file_en.00004").unlink()
    (top / "dir_ent.00000" / "file_en.00004").symlink_to("elsewhere")
    for file in (top / "dir_ent.00001").iterdir():
        file.unlink()
    (top / "dir_ent.00001").rmdir()
    (top / "dir_ent.00001").write_text("not a directory")
    (top / "symlink.00000").unlink()
    (top / "symlink.00000").symlink_to("wrong")
    (top / "dir_ent.00000" / "foreign").write_text("not ours")
    outcome = load(spec, "--ops", 20, "--run-s", 1, keys=keys, inside=server)
    assert outcome.status == 0 and outcome.load["failed"] == 0, outcome
    assert (top / "dir_ent.00000" / "file_en.00003").is_file() and (top / "dir_ent.00001").is_dir()
    assert not (top / "dir_ent.00000" / "file_en.00004").is_symlink()
    assert os.readlink(top / "symlink.00000") == "target_of_symlink.00000"
    assert (top / "dir_ent.00000" / "foreign").exists(), "what is not ours stays"
    assert load(spec, "--ops", 20, "--no-load", "--clean", keys=keys, inside=server).status == 0
    assert not (server.export_dir / "CL1").exists()


def test_names_and_sizes_on_the_server(load, ganesha):
    server = ganesha()
    outcome = load(server.campaign_target(), "--ops", 40, "--no-load", "--processes", 2, keys={"fileset_mb_per_op": 2}, inside=server)
    facts = outcome.load["fileset"]
    files = sorted(server.export_dir.glob("CL1/testdir*/dir_ent.*/file_en.*"))
    assert len(files) == facts["files"] and sum(f.stat().st_size for f in files) == facts["bytes"]
    assert len(list(server.export_dir.glob("CL1/testdir*/symlink.*"))) == 40
    assert len(list(server.export_dir.glob("CL1/testdir*/dir_ent.*/nonio_en.*"))) == 100  # half of the 100 slots of each
    assert all(len(list(d.glob("file_en.*"))) <= 30 for d in server.export_dir.glob("CL1/testdir*/dir_ent.*"))


@pytest.mark.parametrize("shape", [
    {"directory_depth": 3, "directory_width": 4, "files_per_directory": 10},
    {"files_per_directory": 500},
    {"files_per_directory": 1},
    {"file_sizes": {"fixed_bytes": 5000}},
    {"file_sizes": {"lognormal": {"mean_bytes": 30000, "sigma": 1.5}}},
])
def test_other_shapes(target, load, shape):
    outcome = load(target(), "--ops", "300,300", "--run-s", 1, "--warmup-s", 0.2, "--processes", 2, "--clean", keys={"fileset_mb_per_op": 0.2, **shape})
    assert outcome.status == 0, outcome
    assert all(entry["failed"] == 0 for entry in outcome.loads), outcome
    assert outcome.loads[1]["fileset"]["created"] == 0


def test_populating_survives_lost_replies_and_resets(target, load):
    server = target("--fault", "any:probability=0.002:drop", "--fault", "any:probability=0.002:reset", "--fault", "any:probability=0.01:jukebox")
    outcome = load(server, "--ops", 100, "--no-load", "--timeout-s", 0.5, keys={"fileset_mb_per_op": 0.5})
    assert outcome.status == 0 and outcome.load["fileset"]["files"] > 1500, outcome


def test_memory_is_foretold_and_within_100_bytes_a_working_set_file(target, load):
    """sfs3 sizes, synthetic data; four processes. Long: a million files."""
    ops, mb = (2608, 10.48576) if LONG else (130, 10.48576)
    outcome = load(target("--data", "synth"), "--ops", ops, "--no-load", "--processes", 4, "--timeout-s", 60, keys={"fileset_mb_per_op": mb}, timeout_s=1500)
    facts = outcome.load["fileset"]
    assert facts["files"] >= (999_000 if LONG else 49_000), outcome
    assert facts["memory_bytes"] == facts["foretold_memory_bytes"]
    constant = 0 if LONG else 4 * 2400  # symlinks and reserves, which do not grow with the files
    assert facts["memory_bytes"] <= 100 * facts["working_set_files"] + constant, outcome
