"""Validation: passes against right servers, names the broken rule of each faulty one."""

import pytest

from support.load import runner


@pytest.fixture
def load(start, bin):
    return runner(start, bin)


def test_target_passes_every_level(target, load):
    outcome = load(target(), "--validate", 3)
    assert outcome.json["findings"] == [], outcome
    assert outcome.status == 0, outcome


def test_target_without_file_data_passes_all_but_the_data(target, load):
    server = target("--data", "synth")
    assert load(server, "--validate", 2).json["findings"] == []
    assert "data-read-is-data-written" in load(server, "--validate", 3).rules


def test_ganesha_passes_every_level(ganesha, load):
    server = ganesha()
    outcome = load(server.campaign_target(), "--validate", 3, inside=server)
    assert outcome.json["findings"] == [], outcome
    assert outcome.status == 0, outcome


FAULTS = [
    ("commit:new_verifier", "write-verifier-is-stable"),
    ("commit:new_verifier", "data-unstable-then-commit"),
    ("readdir:ignore_cookie", "readdir-cookies-advance"),
    ("readdirplus:ignore_cookie", "readdirplus-cookies-advance"),
    ("read:wrong_data", "data-read-is-data-written"),
    ("read:short_read", "read-brings-what-is-there"),
    ("lookup:status=NFS3ERR_NOENT", "lookup-works"),
    ("lookup:found", "lookup-of-missing-name"),
    ("getattr:wrong_attributes", "attributes-of-new-file"),
    ("mknod:status=NFS3ERR_NOTSUPP", "mknod-works"),
    ("fsstat:status=NFS3ERR_IO", "fsstat-works"),
    ("setattr:status=NFS3ERR_PERM", "setattr-works"),
    ("pathconf:garbage", "pathconf-works"),
]


@pytest.mark.faults
@pytest.mark.parametrize("fault,rule", FAULTS)
def test_broken_rule_is_named(target, load, fault, rule):
    outcome = load(target("--fault", fault), "--validate", 3, "--timeout-s", 1)
    assert rule in outcome.rules, outcome
