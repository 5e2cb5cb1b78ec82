"""No READ or WRITE is larger than the server's FSINFO allows, however the block size was chosen, and the result says what it was, target by target."""

import pytest

from support.calls import read_calls

KIB = 1024
LIMITS_KIB = {"small": (16, 8), "large": (64, 128)}  # rtmax, wtmax


@pytest.mark.parametrize("block,expected", [
    ("auto", {"small": (16, 8), "large": (32, 32)}),  # 32 KiB at most when negotiated
    (1024, {"small": (16, 8), "large": (64, 128)}),  # explicit, and more than either allows
    (4, {"small": (4, 4), "large": (4, 4)}),
])
def test_block_size_is_within_fsinfo_and_recorded_per_target(target, capture, campaign, small_campaign, block, expected):
    servers = {name: target("--rtmax", f"{rtmax}KiB", "--wtmax", f"{wtmax}KiB") for name, (rtmax, wtmax) in LIMITS_KIB.items()}
    wires = {name: capture(server.port, only_calls=True) for name, server in servers.items()}
    config = small_campaign([server.spec(name) for name, server in servers.items()], [200], processes_per_loadgen=2, run_s=2, block_size_kib=block,
                            read_requests=[{"percent": 50, "kib": 8}, {"percent": 50, "kib": 256}], write_requests=[{"percent": 50, "fragment": True}, {"percent": 50, "kib": 256}])
    outcome = campaign(config)
    assert outcome.status in (0, 1) and outcome.points and outcome.points[0]["errors"]["failed"] == 0, outcome  # too few ops for the mix
    recorded = {t["name"]: t for t in outcome.points[0]["targets"]}
    for name, server in servers.items():
        read_kib, write_kib = expected[name]
        calls = read_calls(wires[name].stop(), server.port)
        limits = {"read": LIMITS_KIB[name][0] * KIB, "write": LIMITS_KIB[name][1] * KIB}
        sizes = {op: [(c.at_s, c.count) for c in calls if c.name == op] for op in limits}
        for op, limit in limits.items():
            assert max(count for _, count in sizes[op]) <= limit, (name, op)  # populating included
        load = {op: max(count for at, count in sizes[op] if at > calls[-1].at_s - 2) for op in limits}
        assert load == {"read": read_kib * KIB, "write": write_kib * KIB}, (name, load)  # a request of 256 KiB fills blocks
        assert recorded[name] == {"name": name, "rtmax_bytes": limits["read"], "wtmax_bytes": limits["write"],
                                  "read_block_bytes": read_kib * KIB, "write_block_bytes": write_kib * KIB}
