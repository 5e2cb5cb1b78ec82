"""What `meson install` lays down works from wherever it is moved to: programs, presets and campaigns find each other."""

import json
import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture
def installed(tmp_path):
    build = os.path.join(ROOT, "build")
    if not os.path.isfile(os.path.join(build, "build.ninja")):
        pytest.skip("there is no build directory to install from")
    env = dict(os.environ, DESTDIR=str(tmp_path / "stage"))
    done = subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    prefixes = [d for d, _, files in os.walk(tmp_path / "stage") if "nfscurve" in files and os.path.basename(d) == "bin"]
    assert len(prefixes) == 1, prefixes
    moved = tmp_path / "elsewhere"
    shutil.move(os.path.dirname(prefixes[0]), moved)
    return moved


def plan(installed, campaign, tmp_path):
    path = tmp_path / "campaign.json"
    path.write_text(json.dumps(campaign))
    env = {k: v for k, v in os.environ.items() if k != "NFSCURVE_CONFIGS"}
    return subprocess.run([str(installed / "bin" / "nfscurve"), "plan", str(path)], cwd="/", env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)


CAMPAIGN = {"name": "moved", "load_ops_per_s": [100], "targets": [{"name": "fs1", "server": "192.0.2.1", "export": "/fs1"}], "loadgens": [{"local": 1}]}


@pytest.mark.parametrize("workload", ["sfs3", "sfs2008", "all22", "metadata"])
def test_moved_installation_finds_its_presets(installed, tmp_path, workload):
    done = plan(installed, dict(CAMPAIGN, workload=workload), tmp_path)
    assert done.returncode == 0, done.stderr
    assert workload in done.stdout


def test_unknown_preset_lists_what_is_installed(installed, tmp_path):
    done = plan(installed, dict(CAMPAIGN, workload="sfs97"), tmp_path)
    assert done.returncode == 2
    assert 'there is no workload "sfs97"' in done.stderr
    assert "sfs2008, sfs3" in done.stderr
