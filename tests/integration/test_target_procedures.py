"""The target as an ordinary NFSv3 server: every procedure's right answers and error statuses, seen by libnfs."""

import filecmp
import os
import random
import re
import shutil
import subprocess
from types import SimpleNamespace

import pytest

SIZES = [0, 1, 2, 511, 512, 513, 4095, 4096, 65535, 65536, 65537, 1048575, 1048576, 1048577, 5000003]


@pytest.fixture
def tool(bin):
    """tool("target_tree") -> a program of tests/target, of the same build as the programs under test."""

    def find(name):
        for build in (bin.parent / "build", bin.parent):
            if (build / "tests" / "target" / name).exists():
                return build / "tests" / "target" / name
        pytest.fail(f"{name} is not built")

    return find


def checks(start, tool, server, *mode):
    program = start([tool("target_procedures"), server.address, server.port, server.export, *mode])
    program.wait(60)
    assert program.popen.returncode == 0, program.out[-4000:] + program.err
    return int(re.search(r"(\d+) checks, 0 failed", program.out).group(1))


@pytest.mark.sanitizer
def test_every_procedure_answers_right_and_refuses_right(target, start, tool):
    assert checks(start, tool, target()) > 16000


@pytest.mark.sanitizer
def test_threads_answer_the_same(target, start, tool):
    assert checks(start, tool, target("--threads", "3"), "quick") > 16000


@pytest.mark.sanitizer
def test_read_only_export_refuses_every_change(target, start, tool):
    assert checks(start, tool, target("--read-only"), "read-only") > 10


@pytest.mark.sanitizer
def test_full_file_system_says_so(target, start, tool):
    assert checks(start, tool, target("--capacity", "1MiB", "--max-files", "8"), "full") > 30


@pytest.mark.parametrize("address", ["::1", "::"])
def test_ipv6_is_served(start, bin, tool, address):
    server = SimpleNamespace(**start([bin / "nfscurve-target", "--listen", address, "--port", "0", "--ready-file", "@READY@"]).ready())
    server.address = "::1"
    assert checks(start, tool, server, "quick") > 16000
    if address == "::":
        server.address = "127.0.0.1"
        assert checks(start, tool, server, "quick") > 16000


def url(server, path=""):
    return f"nfs://{server.address}{server.export}/{path}?nfsport={server.port}&mountport={server.port}"


def make_tree(top):
    dice = random.Random(3)
    for size in SIZES:
        (top / f"file{size}").write_bytes(dice.randbytes(size))
    for i in range(3):
        inner = top / f"dir{i}" / "inner"
        inner.mkdir(parents=True)
        for j in range(40):
            (inner / f"f{j}").write_bytes(dice.randbytes(dice.randrange(20000)))
    (top / "dir0" / "link").symlink_to("../file1")
    (top / "empty").mkdir()


def assert_same_trees(left, right):
    compared = filecmp.dircmp(left, right)
    assert not compared.left_only and not compared.right_only and not compared.funny_files
    _, differ, errors = filecmp.cmpfiles(left, right, compared.common_files, shallow=False)
    assert not differ and not errors
    for name in compared.common_dirs:
        assert_same_trees(left / name, right / name)


def test_trees_go_in_and_out_byte_for_byte(target, start, tool, run_dir):
    server = target()
    (run_dir / "in").mkdir()
    make_tree(run_dir / "in")
    for argv in (["put", run_dir / "in", url(server, "tree")], ["get", url(server, "tree"), run_dir / "out"]):
        copy = start([tool("target_tree"), *argv])
        copy.wait(60)
        assert copy.popen.returncode == 0, copy.err
    assert_same_trees(run_dir / "in", run_dir / "out")
    assert os.readlink(run_dir / "out" / "dir0" / "link") == "../file1"


def test_one_gibibyte_comes_back(target, start, tool):
    server = target("--capacity", "1100MiB")
    program = start([tool("target_tree"), "big", url(server, "big"), str(1 << 30)])
    program.wait(100)
    assert program.popen.returncode == 0, program.err


def test_utilities_of_libnfs_work(target, run_dir):
    server = target()
    data = random.Random(4).randbytes(3000001)
    (run_dir / "local").write_bytes(data)

    def run(*argv):
        return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, timeout=60).stdout

    run("nfs-cp", str(run_dir / "local"), url(server, "file"))
    assert re.search(rb"^-r.* 3000001 file$", run("nfs-ls", url(server)), re.M)
    assert run("nfs-cat", url(server, "file")) == data
    run("nfs-cp", url(server, "file"), str(run_dir / "back"))
    assert (run_dir / "back").read_bytes() == data


def test_fio_uses_it_as_an_ordinary_server(target, run_dir):
    if not shutil.which("fio") or subprocess.run(["fio", "--enghelp=nfs"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode != 0:
        pytest.skip("no fio with an nfs engine (Debian 12 builds its fio without)")
    server = target()
    subprocess.run(["nfs-cp", "/dev/null", url(server, "data")], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    done = subprocess.run(
        ["fio", "--name=verify", "--ioengine=nfs", f"--nfs_url={url(server).replace('/?', '?')}", "--filename=data", "--rw=randwrite", "--bs=4k",
         "--size=4m", "--iodepth=8", "--verify=crc32c", "--do_verify=1", "--fallocate=none", "--thread=1"],
        cwd=run_dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert done.returncode == 0 and "err= 0" in done.stdout, done.stdout
