"""What a load sends is what its workload says: chi-square tests at 1 % on captured requests, each of which also rejects a deliberately wrong table.

One request at a time and one RPC at a time (biods 0), so that the sequence of calls on a connection is the sequence of requests.
"""

import collections
import re
import subprocess

import pytest

# Upper 1 % of the chi-square distribution by degrees of freedom.
CRITICAL = {1: 6.635, 2: 9.210, 3: 11.345, 4: 13.277, 5: 15.086, 6: 16.812, 7: 18.475, 8: 20.090, 9: 21.666}

# sfs-facts section 2 and 4, in percent.
SFS3_MIX = {"lookup": 27, "read": 18, "write": 9, "getattr": 11, "readlink": 7, "readdir": 2, "create": 1, "remove": 1, "fsstat": 1, "setattr": 1, "readdirplus": 9,
            "access": 7, "commit": 5, "fsinfo": 1}
SFS3_READ_RPCS = {1: 85, 3: 8, 5: 4, 9: 2, 17: 1}
SFS3_WRITE_RPCS = {1: 49, 2: 36, 3: 8, 5: 4, 9: 2, 17: 1}
FRAGMENTS_KIB = {kib: 1 for kib in range(1, 8)}
SFS3_FILES_KIB = {1: 33, 2: 21, 4: 13, 8: 10, 16: 8, 32: 5, 64: 4, 128: 3, 256: 2, 1024: 1}
BLOCK = 8192


def chi_square(counts, table):
    """(statistic, critical value). Cells that expect fewer than 5 are pooled with the ones before them."""
    total, weight = sum(counts.values()), sum(table.values())
    assert set(counts) <= set(table), f"{set(counts) - set(table)} is not in the table"
    cells = []
    for key, share in table.items():
        expected, found = total * share / weight, counts.get(key, 0)
        if cells and (expected < 5 or cells[-1][0] < 5):
            cells[-1] = (cells[-1][0] + expected, cells[-1][1] + found)
        else:
            cells.append((expected, found))
    return sum((found - expected) ** 2 / expected for expected, found in cells), CRITICAL[len(cells) - 1]


def check(counts, right, wrong):
    statistic, critical = chi_square(counts, right)
    assert statistic < critical, f"{dict(counts)} against {right}: {statistic:.1f}, critical {critical}"
    statistic, critical = chi_square(counts, wrong)
    assert statistic > critical, f"{dict(counts)} against the wrong {wrong}: {statistic:.1f}, critical {critical}"


class Rpc:
    __slots__ = ("at_s", "done_s", "name", "fh", "offset", "count", "stable", "status", "size_before")


FIELDS = ["frame.time_epoch", "tcp.stream", "rpc.msgtyp", "rpc.xid", "rpc.procedure", "nfs.fh.hash", "nfs.offset3", "nfs.count3", "nfs.write.stable", "nfs.status3", "nfs.wcc_attr.size"]
NAMES = {1: "getattr", 2: "setattr", 3: "lookup", 4: "access", 5: "readlink", 6: "read", 7: "write", 8: "create", 12: "remove", 16: "readdir", 17: "readdirplus", 18: "fsstat",
         19: "fsinfo", 21: "commit"}


def rpcs_by_stream(wire, length_s):
    """{connection: [Rpc in the order sent]} of the last seconds; a frame must hold one message then. What came before made the fileset, with WRITEs and
    CREATEs of its own."""
    arguments = ["-Y", "rpc && nfs", "-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=,"]
    for field in FIELDS:
        arguments += ["-e", field]
    streams, waiting, together = collections.defaultdict(list), {}, 0.0
    for line in wire.tshark(*arguments).splitlines():
        at, stream, kind, xid, procedure, fh, offset, count, stable, status, before = line.split("|")
        if "," in xid:
            together = float(at)
            continue
        if not kind or not (procedure or kind == "1"):
            continue  # a retransmitted piece
        if kind == "0":
            rpc = Rpc()
            rpc.at_s, rpc.name, rpc.done_s, rpc.status, rpc.size_before = float(at), NAMES.get(int(procedure.split(",")[0]), procedure), None, None, None
            rpc.fh, rpc.stable = fh, stable
            rpc.offset = int(offset.split(",")[0]) if offset else None
            rpc.count = int(count.split(",")[0]) if count else None
            waiting[stream, xid] = rpc
            streams[stream].append(rpc)
        elif (stream, xid) in waiting:
            rpc = waiting.pop((stream, xid))
            rpc.done_s, rpc.status = float(at), int(status) if status else None
            rpc.size_before = int(before) if before and "," not in before else None
    begin = max(rpcs[-1].at_s for rpcs in streams.values()) - length_s
    assert together < begin, "two messages in one frame, though there is one request at a time"
    loads = {s: [r for r in rpcs if r.at_s > begin] for s, rpcs in streams.items()}
    return {s: rpcs for s, rpcs in loads.items() if any(r.name == "read" for r in rpcs)}


def transfers(rpcs, name):
    """Requests of READ or WRITE: runs of calls to one file, each beginning where the one before ended."""
    requests, previous = [], None
    for rpc in rpcs:
        if rpc.name == name:
            goes_on = previous is not None and previous.name == name and previous.fh == rpc.fh and previous.offset + previous.count == rpc.offset and previous.count == BLOCK
            if goes_on:
                requests[-1].append(rpc)
            else:
                requests.append([rpc])
        previous = rpc
    return requests


CAMPAIGN = {"workload": "sfs3", "fileset_mb_per_op": 0.4, "processes_per_loadgen": 2, "biod_max_read": 0, "biod_max_write": 0, "warmup_s": 1, "run_s": 10}
RUN_S = 10.8


def check_requests(streams):
    """Lengths, fragments, missing names and appends."""
    reads = [r for rpcs in streams.values() for r in transfers(rpcs, "read")[1:-1]]
    writes = [r for rpcs in streams.values() for r in transfers(rpcs, "write")[1:-1]]
    everything = [r for rpcs in streams.values() for r in rpcs]

    check(collections.Counter(len(r) for r in reads), SFS3_READ_RPCS, {1: 80, 3: 13, 5: 4, 9: 2, 17: 1})
    check(collections.Counter(len(r) for r in writes), SFS3_WRITE_RPCS, {1: 60, 2: 25, 3: 8, 5: 4, 9: 2, 17: 1})
    fragments = collections.Counter(w[-1].count // 1024 for w in writes)
    check(fragments, FRAGMENTS_KIB, {kib: kib for kib in FRAGMENTS_KIB})
    assert all(r.count == BLOCK for request in reads + writes for r in request[:-1])
    assert all(r.offset % BLOCK == 0 for request in reads for r in request[:1])

    lookups = collections.Counter("missing" if r.status == 2 else "found" for r in everything if r.name == "lookup" and r.status is not None)
    check(lookups, {"missing": 35, "found": 65}, {"missing": 40, "found": 60})
    appends = collections.Counter("append" if w[0].offset == w[0].size_before else "overwrite" for w in writes if w[0].size_before is not None)
    check(appends, {"append": 70, "overwrite": 30}, {"append": 62, "overwrite": 38})


def check_shares(names, within):
    total = sum(names.values())
    off = {name: 100 * names[name] / total - SFS3_MIX.get(name, 0) for name in set(names) | set(SFS3_MIX)}
    assert all(abs(points) < within for points in off.values()), off


def check_mix(streams):
    """Over the whole run and in every window of 10 s."""
    calls = sorted((r.at_s, r.name) for rpcs in streams.values() for r in rpcs)
    assert len(calls) > 7000
    check_shares(collections.Counter(name for _, name in calls), 0.6)
    begin = calls[0][0]
    while begin + 10 <= calls[-1][0]:
        check_shares(collections.Counter(name for at, name in calls if begin <= at < begin + 10), 1.5)
        begin += 0.5


def check_commits(streams):
    """WRITEs are UNSTABLE, and what follows the last of a request is one COMMIT of the same file."""
    for rpcs in streams.values():
        for first, second in zip(rpcs, rpcs[1:]):
            if first.name == "write":
                assert first.stable == "0"
                assert second.name in ("write", "commit") and second.fh == first.fh, f"a {second.name} after a WRITE"
        n_requests = len(transfers(rpcs, "write"))
        n_behind_writes = sum(1 for first, second in zip(rpcs, rpcs[1:]) if first.name == "write" and second.name == "commit")
        assert abs(n_requests - n_behind_writes) <= 1


@pytest.mark.timing
def test_sfs3_on_the_wire_is_what_its_tables_say(target, capture, campaign, small_campaign):
    server = target()
    made = campaign(small_campaign(server.spec(), [900], **dict(CAMPAIGN, run_s=1)))
    assert made.points, str(made)
    wire = capture(server.port)  # only now: the fileset is there, and some hundred megabytes of it need not be captured
    outcome = campaign(small_campaign(server.spec(), [900], **CAMPAIGN))
    outcome.assert_ran()
    streams = rpcs_by_stream(wire, RUN_S)
    check_requests(streams)
    check_mix(streams)
    check_commits(streams)


@pytest.mark.timing
@pytest.mark.parametrize("biods", [0, 2, 4])
def test_never_more_than_the_biods_of_a_request_are_outstanding(target, capture, campaign, small_campaign, biods):
    """One process, so one request at a time: what is outstanding together belongs to it."""
    server = target("--latency", "fixed:2ms")
    keys = dict(CAMPAIGN, biod_max_read=biods, biod_max_write=biods, processes_per_loadgen=1)
    wire = capture(server.port)
    outcome = campaign(small_campaign(server.spec(), [100], **dict(keys, run_s=3, fileset_mb_per_op=0.2)))
    assert outcome.status in (0, 1), str(outcome)  # a few hundred ops need not hold the mix
    calls = [c for c in wire.calls() if c.program == 100003 and c.name in ("read", "write", "commit") and c.done_s is not None]
    end = max(c.sent_s for c in calls)
    load = [c for c in calls if c.sent_s > end - 3]
    outstanding = most = 0
    for _, change, _ in sorted(edge for c in load for edge in ((c.sent_s, 1, c.name), (c.done_s, -1, c.name))):
        outstanding += change
        most = max(most, outstanding)
    assert most == max(biods, 1)
    for commit in (c for c in load if c.name == "commit"):
        assert not any(c.name == "write" and c.sent_s < commit.sent_s < c.done_s for c in load), "a COMMIT while WRITEs are outstanding"


def test_files_on_the_server_have_the_sizes_of_the_table(target, campaign, small_campaign):
    server = target()
    outcome = campaign(small_campaign(server.spec(), [200], **dict(CAMPAIGN, append_percent=0, op_mix_percent={"getattr": 100}, run_s=1, fileset_mb_per_op=0.5)))
    outcome.assert_ran()
    sizes = collections.Counter()
    for process in range(2):
        url = f"nfs://{server.address}{server.export}/CL1/testdir{process}?nfsport={server.port}&mountport={server.port}"
        done = subprocess.run(["nfs-ls", "-R", url], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        for line in done.stdout.splitlines():
            found = re.match(r"^-\S+\s+\d+\s+\d+\s+\d+\s+(\d+)\s+.*file_en\.\d+$", line)
            if found:
                sizes[int(found.group(1)) / 1024] += 1
    assert abs(sum(sizes.values()) - 0.5e6 * 200 / 27351) < 2
    check(sizes, SFS3_FILES_KIB, {1: 30, 2: 24, 4: 13, 8: 10, 16: 8, 32: 5, 64: 4, 128: 3, 256: 2, 1024: 1})
