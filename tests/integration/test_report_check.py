"""nfscurve report --check: nothing in a complete disclosure, and each seeded omission or contradiction found."""

import copy
import json

import pytest
from support.results import full


def without(path):
    def change(r):
        *parents, last = path
        for key in parents:
            r = r[key]
        del r[last]

    return change


def put(value, *path):
    def change(r):
        *parents, last = path
        for key in parents:
            r = r[key]
        r[last] = value

    return change


def uneven(r):
    for p in r["points"][5:]:
        p["requested_ops_per_s"] += 60


def short_phases(r):
    for p in r["points"]:
        p["warmup_s"] = 60


D = "disclosure"
SEEDED = {
    # what is left out
    "no disclosure at all": (without([D]), "disclosure: missing"),
    "no stable storage": (without([D, "stable_storage"]), "disclosure.stable_storage: missing"),
    "no product name": (without([D, "product_and_test", "product_name"]), "product_and_test.product_name: missing"),
    "empty operating system": (put(" ", D, "server_software", "os"), "server_software.os: missing"),
    "no disks": (put([], D, "disks"), "disclosure.disks: missing"),
    "a bill of materials without a model": (without([D, "bill_of_materials", 1, "model"]), "bill_of_materials[1].model: missing"),
    "no uniform access statement": (without([D, "uniform_access"]), "disclosure.uniform_access: missing"),
    "no benchmark network": (without([D, "benchmark_network"]), "disclosure.benchmark_network: missing"),
    # what contradicts the run
    "another number of load generators": (put(4, D, "benchmark_parameters", "load_generators"), "4 stated, but the run had 2"),
    "another number of processes": (put(16, D, "benchmark_parameters", "processes_per_loadgen"), "16 stated, but a load generator ran 8"),
    "another biod setting": (put(4, D, "benchmark_parameters", "biod_max_write"), "4 stated, but the campaign says 2"),
    "another block size": (put(1024, D, "benchmark_parameters", "block_size_kib"), "1024 stated, but the run used 32"),
    "another fileset size": (put(150, D, "filesystems", "fileset_gb"), "150 GB stated, but the largest fileset of the run was 120.0 GB"),
    "another number of file systems": (put(2, D, "filesystems", "count"), "2 stated, but the campaign drove 1"),
    "another year": (put("March 2025", D, "product_and_test", "date_tested"), "the run was made in 2026"),
    "another host memory": (put(256, D, "load_generators", 0, "memory_gb"), "256 GB stated, but the host has 64.0 GB"),
    "not every target driven": (put([], "loadgens", 1, "targets"), "drove 0 of 1 targets"),
    # what contradicts itself
    "memory that does not add up": (put(512, D, "memory", 0, "total_gb"), "512 GB, but 8 instances of 32 GB make 256 GB"),
    "more exported than there is": (put(90000, D, "filesystems", "total_exported_gb"), "90000 GB are exported, but the disks have 40000 GB"),
    "an item listed twice": (put(1, D, "bill_of_materials", 1, "item"), "item 1 is listed twice"),
    "a testbed of other load generators": (put("1..3", D, "testbed", 0, "loadgens"), "3 load generators are listed, 2 are stated"),
    "an unknown load generator type": (put("LG9", D, "testbed", 0, "type"), "no load generator type of that name"),
    "an item that is not in the bill": (put(7, D, "load_generators", 0, "bom_item"), "has no such item"),
    "a number that is none": (put("many", D, "network", 0, "ports"), "network[0].ports: expected a number"),
    # what is no standard result
    "nine points": (lambda r: r["points"].pop(), "9 points: at least 10 are needed"),
    "uneven spacing": (uneven, "not evenly spaced"),
    "short warm-up": (short_phases, "warm-up of 60 s"),
    "non-standard": (lambda r: r.update(standard=False, nonstandard_reasons=["append_percent is 50, the preset has 70"]), "nonstandard_reasons: append_percent"),
    "an invalid point": (lambda r: r["points"][4].update(valid=False, invalid_reasons=["mix: read"]), "invalid_reasons: point 5"),
    "too few processes a network": (lambda r: (put("1", D, "testbed", 0, "loadgens")(r), r[D]["testbed"].append({"loadgens": "2", "type": "LG1", "network": "2", "targets": "fs1"}),
                                               put(2, D, "benchmark_parameters", "processes_per_loadgen")(r), [g.update(processes=2) for g in r["loadgens"]]), "at least 8 per network"),
}


@pytest.fixture
def check(nfscurve, tmp_path):
    def run(value):
        file = tmp_path / "result.json"
        file.write_text(json.dumps(value))
        return nfscurve("report", file, "--check")

    return run


def test_nothing_is_found_in_a_complete_disclosure(check):
    done = check(full())
    assert (done.status, done.out) == (0, "0 errors, 0 warnings\n"), done.out + done.err


@pytest.mark.parametrize("name", SEEDED)
def test_seeded_fault_is_found(check, name):
    change, words = SEEDED[name]
    value = copy.deepcopy(full())
    change(value)
    done = check(value)
    assert done.status == 1, done.out
    assert any(line.startswith("error: ") and words in line for line in done.out.splitlines()), done.out


def test_there_are_at_least_twenty_seeded_faults():
    assert len(SEEDED) >= 20


@pytest.mark.parametrize("change,words", [(without([D, "server_tuning_notes"]), "server_tuning_notes: missing"), (put("x", D, "bill_of_materails"), "unknown section"),
                                          (put("x", D, "network", 0, "color"), "unknown field"), (lambda r: r["points"][2].update(drifting=True), "point 3 was not steady")])
def test_what_a_reviewer_would_ask_is_a_warning(check, change, words):
    value = copy.deepcopy(full())
    change(value)
    done = check(value)
    assert done.status == 0, done.out
    assert any(line.startswith("warning: ") and words in line for line in done.out.splitlines()), done.out


def test_nothing_is_said_twice(target, campaign, small_campaign, nfscurve):
    done = campaign(small_campaign(target("--data", "synth").spec(), [50, 100, 200], warmup_s=0.5, run_s=1))
    lines = nfscurve("report", done.dir, "--check").out.splitlines()
    for words in ["3 points", "evenly spaced", "warmup_s", "run_s", "2 processes"]:
        assert len([line for line in lines if words in line]) == 1, (words, lines)
    assert not [line for line in lines if "non-standard" in line or "at least 10 are needed" in line or "the standard is" in line], lines


def test_it_says_where_the_answers_go(target, campaign, small_campaign, nfscurve):
    done = campaign(small_campaign(target("--data", "synth").spec(), [50], warmup_s=0.5, run_s=1))
    before = nfscurve("report", done.dir, "--check").out.splitlines()
    assert '"disclosure"' in before[-2] and "result.json" in before[-2] and "nfscurve report DIR --out DIR/report.html" in before[-2], before
    # as it says
    file = done.dir / "result.json"
    result = json.loads(file.read_text())
    result["disclosure"]["stable_storage"] = "a mirrored intent log"
    file.write_text(json.dumps(result))
    after = nfscurve("report", done.dir, "--check").out.splitlines()
    assert set(before[:-1]) - set(after) == {"error: disclosure.stable_storage: missing: Stable storage"}
    nfscurve("report", done.dir, "--out", done.dir / "report.html")
    assert "a mirrored intent log" in (done.dir / "report.html").read_text()
