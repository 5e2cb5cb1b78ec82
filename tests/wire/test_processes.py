"""The same load by 1, 4 and 16 processes: what is touched, and how often, as the wire and the server say it.

READs of sfs3's sizes on sfs3's files, so that no file changes its size. A file is its handle; its size is asked of the server after the run; how popular it is
are its requests (support/calls.py). From every process the same number of requests is taken, so that all runs are of the same length.

- Uniform popularity, 30 requests a file: every file of the working set is touched, so files and bytes are equal to the file and byte.
- Access groups, as in the preset: some files are so unpopular that no run of seconds touches them all. How many are touched is a matter of chance then, of a
  variance that the run itself shows: a file touched with probability p adds p (1 - p), the sum of which is at most the number of files touched once.

NFSCURVE_LONG=1 takes ten times the files.
"""

import collections
import math
import os

import pytest

from support import bare_nfs
from support.calls import read_calls, requests
from support.load import runner

LONG = bool(os.environ.get("NFSCURVE_LONG"))
PROCESSES = (1, 4, 16)
MEAN_BYTES = 27351.04  # of sfs3's table
BLOCK = 8192


class Touched:
    """What one run did: .counts {handle: requests}, .sizes {handle: bytes}, .request_bytes; and what the load generator says of its working set."""

    def __init__(self, counts, sizes, request_bytes, fileset, working_set_bytes):
        self.counts, self.sizes, self.request_bytes, self.fileset, self.working_set_bytes = counts, sizes, request_bytes, fileset, working_set_bytes
        self.files, self.bytes = len(counts), sum(sizes.values())
        once = [sizes[fh] for fh, n in counts.items() if n == 1]
        self.files_variance, self.bytes_variance = len(once), sum(size * size for size in once)

    def popularity(self):
        """Requests of each file of the working set, those that were never touched included."""
        return sorted([0] * (self.fileset["working_set_files"] - self.files) + list(self.counts.values()))


def ks_p(one, other):
    """p of the two-sample Kolmogorov-Smirnov test (asymptotic; with ties it errs on the side of accepting)."""
    values = sorted(set(one) | set(other))
    a, b = collections.Counter(one), collections.Counter(other)
    below_a = below_b = distance = 0
    for value in values:
        below_a += a[value] / len(one)
        below_b += b[value] / len(other)
        distance = max(distance, abs(below_a - below_b))
    n = math.sqrt(len(one) * len(other) / (len(one) + len(other)))
    x = (n + 0.12 + 0.11 / n) * distance
    return min(1.0, max(0.0, 2 * sum((-1) ** (k - 1) * math.exp(-2 * k * k * x * x) for k in range(1, 101)))) if x > 0.2 else 1.0


def sizes_of(server, handles):
    client, sizes = bare_nfs.Client(server.address, server.port), {}
    for handle in handles:
        reader = client.call(bare_nfs.GETATTR, bare_nfs.fh(handle)).reader()
        assert reader.u32() == 1, "no regular file"
        reader.fixed(16)
        sizes[handle] = reader.u64()
    client.close()
    return sizes


@pytest.fixture
def touch(target, capture, start, bin, run_dir):
    load = runner(start, bin)

    def run(processes, popularity, files, n_requests, run_s):
        ops = 1.1 * n_requests * 1.64 / run_s  # sfs3 counts RPCs, 1.64 a READ
        server, begin = target("--data", "synth"), run_dir / f"begin-{processes}-{popularity}"
        keys = {"popularity": popularity, "op_mix_percent": {"read": 100}, "fileset_mb_per_op": files * MEAN_BYTES / 1e6 / ops}
        assert load(server, "--ops", ops, "--processes", processes, "--no-load", keys=keys).status == 0
        wire = capture(server.port, only_calls=True)  # only now: the files are there
        outcome = load(server, "--ops", ops, "--processes", processes, "--warmup-s", 0, "--run-s", 1.3 * run_s, "--before-load", f"date +%s.%N > {begin}", keys=keys)
        assert outcome.status == 0 and outcome.load["failed"] == 0, outcome
        begin_s = float(begin.read_text())
        reads = [c for c in read_calls(wire.stop(), server.port) if c.at_s > begin_s and c.name == "read"]
        streams = requests(reads, BLOCK)
        assert len(streams) == processes
        share = n_requests // processes
        assert all(len(stream) >= share for stream in streams.values()), [len(stream) for stream in streams.values()]
        taken = [request for stream in streams.values() for request in stream[:share]]
        counts = collections.Counter(request[0].fh for request in taken)
        return Touched(counts, sizes_of(server, counts), sum(c.count for request in taken for c in request), outcome.load["fileset"], outcome.load["working_set_bytes"])

    return run


def same_fileset(runs):
    one = runs[0]
    for other in runs[1:]:
        for key in ("files", "bytes", "working_set_files"):
            assert other.fileset[key] == one.fileset[key], key
        assert other.working_set_bytes == one.working_set_bytes


def report(what, runs):
    for n, run in zip(PROCESSES, runs):
        print(f"{what}, {n} processes: {run.files} of {run.fileset['working_set_files']} files, {run.bytes} of {run.working_set_bytes} bytes touched, "
              f"{run.request_bytes} bytes read, KS p {ks_p(runs[0].popularity(), run.popularity()):.3f}")


def test_every_file_of_the_working_set_is_touched_by_any_number_of_processes(touch):
    files = 32_000 if LONG else 3200
    runs = [touch(n, "uniform", files, 30 * files // 10, 30 if LONG else 4) for n in PROCESSES]
    report("uniform", runs)
    same_fileset(runs)
    for run in runs:
        assert run.fileset["files"] == files and run.fileset["working_set_files"] == files // 10
        assert run.files == files // 10 and run.bytes == run.working_set_bytes == runs[0].bytes
        assert ks_p(runs[0].popularity(), run.popularity()) > 0.01


def test_access_groups_are_as_popular_by_any_number_of_processes(touch):
    files, n_requests, run_s = (320_000, 96_000, 40) if LONG else (32_000, 9600, 4)
    runs = [touch(n, "access_groups", files, n_requests, run_s) for n in PROCESSES]
    report("access groups", runs)
    same_fileset(runs)
    one = runs[0]
    for run in runs[1:]:
        assert abs(run.files - one.files) < 3.3 * math.sqrt(one.files_variance + run.files_variance)
        assert abs(run.bytes - one.bytes) < 3.3 * math.sqrt(one.bytes_variance + run.bytes_variance)
        assert run.request_bytes == pytest.approx(one.request_bytes, rel=0.03)
        assert ks_p(one.popularity(), run.popularity()) > 0.01
    # Another popularity of the same files is told from it, however many processes carry it.
    other = touch(4, "uniform", files, n_requests, run_s)
    assert ks_p(one.popularity(), other.popularity()) < 0.01
    assert abs(other.files - one.files) > 3.3 * math.sqrt(one.files_variance + other.files_variance)
