"""The whole of nfscurve against a real NFS server that knows nothing of it: nfs-ganesha on a temporary directory."""

import pytest

# sfs3 counts RPCs, and one READ may be seventeen: its mix settles at some 5,000 of them a point.
WORKLOADS = {
    "sfs3": {"loads": [1000, 1500, 2000], "fileset_mb_per_op": 0.1},
    "sfs2008": {"loads": [200, 400, 600], "fileset_mb_per_op": 0.5},
}


def assert_three_good_points(outcome, loads):
    assert outcome.result and outcome.result["invalid_reasons"] == [], outcome
    assert outcome.status == 0 and outcome.result["valid"] is True, outcome
    assert [p["requested_ops_per_s"] for p in outcome.points] == loads
    for point in outcome.points:
        assert point["valid"], point["invalid_reasons"]
        assert point["errors"]["failed"] == 0, point["errors"]
        assert 0 < point["response_ms"] < 1000
        for name, op in point["ops"].items():
            assert op["errors"] == 0, name
            if "percent" in op:  # a COMMIT that only ends writes is no op of its own
                assert abs(op["percent"] - op["target_percent"]) <= 1.5, name


@pytest.mark.root
@pytest.mark.timing
@pytest.mark.parametrize("workload", WORKLOADS)
def test_three_points_on_a_directory(ganesha, campaign, small_campaign, workload):
    server = ganesha(fsal="VFS")
    loads, mb = WORKLOADS[workload]["loads"], WORKLOADS[workload]["fileset_mb_per_op"]
    outcome = campaign(
        small_campaign(server.campaign_target(), loads, workload=workload, processes_per_loadgen=4, loadgens={"local": 2}, fileset_mb_per_op=mb),
        inside=server,
    )
    assert_three_good_points(outcome, loads)
    # The fileset is really there: directories of load generators, in each one of every process.
    assert sorted(p.name for p in server.export_dir.iterdir()) == ["CL1", "CL2"]
    assert len(list((server.export_dir / "CL1").iterdir())) == 4


@pytest.mark.root
@pytest.mark.parametrize("engine", ["native", "libnfs"])
def test_one_point_found_by_portmapper_with_either_engine(ganesha, campaign, small_campaign, engine):
    server = ganesha(fsal="VFS")
    outcome = campaign(small_campaign(server.campaign_target(ports=False), [200], engine=engine), inside=server)
    assert outcome.points[0]["errors"]["failed"] == 0, outcome
    assert outcome.points[0]["achieved_ops_per_s"] > 0


@pytest.mark.root
@pytest.mark.faults
def test_read_only_export_is_named(ganesha, campaign, small_campaign):
    server = ganesha(fsal="VFS", access="RO")
    outcome = campaign(small_campaign(server.campaign_target(), [200]), inside=server)
    assert outcome.status == 3, outcome
    assert server.export in outcome.err and "ROFS" in outcome.err or "read-only" in outcome.err, outcome


@pytest.mark.root
@pytest.mark.faults
def test_clean_up_leaves_the_export_empty(ganesha, campaign, small_campaign):
    server = ganesha(fsal="VFS")
    outcome = campaign(small_campaign(server.campaign_target(), [200], clean_up=True), inside=server)
    assert outcome.points, outcome
    assert list(server.export_dir.iterdir()) == []


@pytest.mark.root
@pytest.mark.faults
def test_server_that_dies_keeps_the_points_before(ganesha, start_campaign, small_campaign):
    from support.process import wait_for

    server = ganesha(fsal="VFS")
    run = start_campaign(small_campaign(server.campaign_target(), [200, 400, 600, 800], timeout_s=2), inside=server)
    wait_for(lambda: (run.dir / "points").is_dir() and len(list((run.dir / "points").glob("*.json"))) >= 1, 40, "the first point")
    server.server.kill()
    outcome = run.finish(60)
    assert outcome.status in (1, 3), outcome
    assert outcome.points and outcome.points[0]["errors"]["failed"] == 0, outcome
    assert outcome.result["valid"] is False
