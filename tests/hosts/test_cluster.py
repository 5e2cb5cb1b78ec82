"""A campaign over hosts: prime, load generators and server each in a network of their own, with a shared key.

     prime ──control, keyed──> lg1, lg2 ──NFS──> server
"""

import pytest
from support.process import wait_for

CONTROL_PORT = 7049

pytestmark = [pytest.mark.root]


@pytest.fixture
def key(nfscurve, run_dir):
    file = run_dir / "lab.key"
    done = nfscurve("keygen", file)
    assert done.status == 0, done
    return file


@pytest.fixture
def lab(network, target, loadgen, key, small_campaign):
    """(network, {name: host}, {name: load generator}, make_campaign)"""
    net = network()
    hosts = {name: net.add(name) for name in ("prime", "lg1", "lg2", "server")}
    server = target(inside=hosts["server"])
    loadgens = {name: loadgen("--key-file", key, listen=f"{hosts[name].address}:{CONTROL_PORT}", inside=hosts[name]) for name in ("lg1", "lg2")}

    def make(loads, **keys):
        return small_campaign(server.spec(), loads, loadgens=[{"name": n, "host": hosts[n].address, "port": CONTROL_PORT} for n in ("lg1", "lg2")], control={"key_file": str(key)}, **keys)

    return net, hosts, loadgens, make


@pytest.mark.sanitizer
def test_campaign_over_two_hosts(lab, campaign):
    net, hosts, loadgens, make = lab
    outcome = campaign(make([200, 400], processes_per_loadgen=3), inside=hosts["prime"])
    outcome.assert_ran()
    assert [g["host"] for g in outcome.result["loadgens"]] == ["lg1", "lg2"]
    assert all(g["processes"] == 3 for g in outcome.result["loadgens"])
    for point in outcome.points:
        assert point["errors"]["failed"] == 0
        # uniform: both carry the same
        shares = [g["ops"] for g in point["loadgens"]]
        assert len(shares) == 2 and abs(shares[0] - shares[1]) <= 0.05 * sum(shares), shares


def test_each_host_drives_the_server_from_its_own_address(lab, capture, campaign):
    net, hosts, loadgens, make = lab
    config = make([200])
    wire = capture(config["targets"][0]["nfs_port"], prefix=hosts["server"].enter, interface="eth0")
    campaign(config, inside=hosts["prime"]).assert_ran()
    sources = set(wire.tshark("-Y", "rpc.msgtyp == 0", "-T", "fields", "-e", "ip.src").split())
    assert sources == {hosts["lg1"].address, hosts["lg2"].address}


@pytest.mark.faults
def test_wrong_key_is_refused_and_named(lab, campaign, nfscurve, run_dir):
    net, hosts, loadgens, make = lab
    other = run_dir / "other.key"
    assert nfscurve("keygen", other).status == 0
    config = make([200])
    config["control"]["key_file"] = str(other)
    outcome = campaign(config, inside=hosts["prime"])
    assert outcome.status == 3, outcome
    assert "key" in outcome.err and "lg1" in outcome.err
    # and the daemon still serves whoever has the right one
    campaign(make([200]), inside=hosts["prime"]).assert_ran()


@pytest.mark.faults
def test_host_that_vanishes_is_named_and_finished_points_are_kept(lab, start_campaign):
    net, hosts, loadgens, make = lab
    run = start_campaign(make([200, 400, 600], run_s=4), inside=hosts["prime"])
    wait_for(lambda: list((run.dir / "points").glob("*.json")), 40, "the first point")
    net.unplug(hosts["lg2"])
    outcome = run.finish(80)
    assert outcome.status == 1, outcome
    assert outcome.points[0]["errors"]["failed"] == 0
    assert outcome.result["valid"] is False
    assert "lg2" in str(outcome.result["invalid_reasons"]) + str([p["invalid_reasons"] for p in outcome.points])
    # the one that is still there was let go
    wait_for(lambda: len(loadgens["lg1"].program_children()) == 0, 30, "lg1 to end its processes")


@pytest.mark.faults
def test_unreachable_load_generator_is_named(lab, campaign):
    net, hosts, loadgens, make = lab
    config = make([200])
    config["loadgens"][1]["port"] = 7048
    outcome = campaign(config, inside=hosts["prime"])
    assert outcome.status == 3, outcome
    assert "lg2" in outcome.err and hosts["lg2"].address in outcome.err


def test_survey_of_hosts(lab, nfscurve, key, run_dir):
    import json

    net, hosts, loadgens, make = lab
    file = run_dir / "hosts.json"
    file.write_text(json.dumps(make([200])))
    done = nfscurve("hosts", file, inside=hosts["prime"])
    assert done.status == 0, done
    assert "lg1" in done.out and "lg2" in done.out
