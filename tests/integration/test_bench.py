"""The benchmark of the NFS clients, in its shortest form: that every client does every case with both servers; no figure means anything in runs of milliseconds."""

import itertools
import json

import pytest

SERVERS = ["nfscurve-target", "canned"]
CLIENTS = {"native", "libnfs_engine", "bare_libnfs", "floor"}


@pytest.fixture
def bench(start, bin, run_dir):
    program = bin.parent / "build" / "bench" / "bench_ops"
    if not program.exists():
        pytest.skip("bench_ops is not built")

    def run(*arguments):
        done = start([program, "--seconds", "0.002", "--repeats", "2", "--json", run_dir / "bench.json", *arguments])
        return done.wait(60), done

    return run


def test_every_client_does_every_operation_with_both_servers(bench, run_dir):
    status, done = bench()
    assert status == 0, done.err
    cases = json.loads((run_dir / "bench.json").read_text())["cases"]
    assert [(c["op"], c["window"], c["server"]) for c in cases] == list(itertools.product(["getattr", "lookup", "read"], [1, 8, 32, 128, 512], SERVERS))
    for case in cases:
        assert set(case["contestants"]) == CLIENTS
        for figures in case["contestants"].values():
            assert figures["ops_per_s"] > 0 and figures["cpu_us_per_op"] > 0 and len(figures["ops_per_s_repeats"]) == 2
        assert set(case["ratios"]) == {f"native/{other}" for other in CLIENTS - {"native"}}


@pytest.mark.parametrize("server", SERVERS)
def test_one_server_can_be_named(bench, run_dir, server):
    status, done = bench("--server", server, "--op", "getattr", "--window", "8")
    assert status == 0, done.err
    assert [c["server"] for c in json.loads((run_dir / "bench.json").read_text())["cases"]] == [server]


def test_a_server_that_there_is_not_is_refused(bench):
    status, done = bench("--server", "imaginary")
    assert status == 2 and "usage" in done.err
