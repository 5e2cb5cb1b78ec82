"""Results made by hand: complete, small, and the same every time. Times are exact, so that golden files never change by themselves."""

import copy

LOADS = [100 * (i + 1) for i in range(10)]
OPS = {"lookup": 24, "read": 18, "write": 10, "getattr": 26, "readlink": 1, "readdir": 1, "create": 1, "remove": 1, "fsstat": 1, "setattr": 4, "readdirplus": 2, "access": 11}


def percentiles(mean):
    return {"p50": mean * 0.875, "p90": mean * 1.5, "p95": mean * 2, "p99": mean * 3, "p99.9": mean * 5, "max": mean * 8}


def response(mean):
    return {"response_ms": mean, "stddev_ms": mean / 2, "percentiles_ms": percentiles(mean)}


def index_of(ns):
    """The bucket of a value: below 256 its own, above that 128 buckets an octave."""
    octave = max(0, ns.bit_length() - 8)
    return octave * 128 + (ns >> octave)


def histogram(ns, n):
    """n samples of the same value."""
    return {"count": n, "min_ns": ns, "max_ns": ns, "sum_ns": str(ns * n), "sum_sq_ns2": str(ns * ns * n), "buckets": [index_of(ns), n]}


def op(name, share, n, mean):
    count = n * share // 100
    return {
        "target_percent": share, "percent": share, "logical": count, "physical": count * (2 if name == "write" else 1), "errors": 0,
        "response_ms": mean, "percentiles_ms": percentiles(mean), "from_due": response(mean * 1.25), "from_sent": response(mean),
        "outcomes": {"ok": count}, "statuses": {"NFS3_OK": count},
        "histogram": {"from_due": histogram(int(mean * 1.25e6), count), "from_sent": histogram(int(mean * 1e6), count)},
    }


def point(index, load, mean, run_s=300):
    n = load * run_s
    return {
        "index": index, "started_at": f"2026-03-01T1{index % 10}:00:00.000Z", "requested_ops_per_s": load, "achieved_ops_per_s": load, "response_ms": mean,
        "response_from": "sent", "response_ci95_ms": mean / 64, "response_ci95_method": "independent ops", "response_stddev_ms": mean / 2,
        "percentiles_ms": percentiles(mean), "from_due": response(mean * 1.25), "from_sent": response(mean), "good_ops": n, "failed_rpcs": 0,
        "ops": {name: op(name, share, n, mean) for name, share in OPS.items()},
        "errors": {"failed": 0, "outcomes": {}, "anomalies": {}}, "fileset_bytes": load * 120_000_000, "fileset_files": load * 230,
        "working_set_bytes": load * 36_000_000, "files_touched": load * 69, "warmup_s": 300, "run_s": run_s, "shortest_run_s": run_s, "longest_run_s": run_s,
        "read_bytes": n * 8192, "write_bytes": n * 4096,
        "intervals": [{"t_s": t, "ops": load, "response_ms": mean, "p99_ms": mean * 3, "errors": 0, "classes": {"read": {"ops": load // 4, "response_ms": mean, "p99_ms": mean * 3, "errors": 0}}}
                      for t in range(12)],
        "generator": {"verdict": "server", "lateness_mean_us": 32.5, "lateness_p99_us": 310, "send_wait_p99_us": 12, "waited_for_us_percent": 0.25,
                      "waited_for_slot_percent": 1.5, "starved_percent": 0.5, "busy_percent": 12.5, "cpu_percent_max": 17.5, "host_cpu_percent_max": 22, "skew_ms": 0.75},
        "loadgens": [{"name": name, "processes": 8, "ops": n // 2, "errors": 0, "response_ms": mean, "lateness_mean_us": 32.5, "lateness_p99_us": 310,
                      "waited_for_us_percent": 0.25, "waited_for_slot_percent": 1.5, "starved_percent": 0.5, "busy_percent": 12.5, "cpu_percent_max": 17.5, "host_cpu_percent": 22,
                      "skew_ms": 0.75, "shortest_run_s": run_s, "longest_run_s": run_s, "read_block_bytes": 32768, "write_block_bytes": 32768} for name in ("lg1", "lg2")],
        "throughput_drift_percent": 0.5, "response_drift_percent": -1.25, "drifting": False, "saturated": False, "valid": True, "invalid_reasons": [], "notes": [],
    }


def disclosure():
    """Complete, and in agreement with full()."""
    return {
        "product_and_test": {"tested_by": "Example Laboratory", "product_name": "Example Filer 1", "hardware_available": "January 2026", "software_available": "February 2026",
                             "date_tested": "March 2026", "licensee_locations": "Exampletown", "description": "A file server that does not exist."},
        "bill_of_materials": [{"item": 1, "quantity": 1, "type": "Server", "vendor": "Example", "model": "F-1", "description": "File server, 2U"},
                              {"item": 2, "quantity": 24, "type": "Disk", "vendor": "Example", "model": "D-2", "description": "2 TB SSD"}],
        "server_software": {"os": "ExampleOS 7", "other_software": "None", "filesystem_software": "ExampleFS"},
        "server_tuning": [{"name": "nfsd.threads", "value": "256", "description": "NFS server threads"}],
        "server_tuning_notes": "Defaults otherwise.",
        "disks": [{"description": "Data, two RAID-6 groups of 12", "disks": 24, "usable_gb": 40000}],
        "filesystems": {"count": 1, "total_exported_gb": 40000, "type": "ExampleFS", "creation_options": "Default", "config": "One file system over both groups", "fileset_gb": 120},
        "network": [{"item": 1, "type": "25 Gigabit Ethernet", "ports": 2, "notes": "Bonded"}],
        "network_notes": "Jumbo frames.",
        "benchmark_network": "One switch.",
        "processing_elements": [{"item": 1, "quantity": 2, "type": "CPU", "description": "16 cores, 2.5 GHz", "function": "NFS, file system, TCP/IP"}],
        "memory": [{"description": "Main memory", "size_gb": 32, "instances": 8, "total_gb": 256, "nonvolatile": "V"},
                   {"description": "Write cache", "size_gb": 8, "instances": 2, "total_gb": 16, "nonvolatile": "NV"}],
        "stable_storage": "Writes are answered when they are in both write caches, which batteries keep for 72 hours.",
        "sut_notes": "Default configuration.",
        "test_environment": [{"item": 1, "quantity": 2, "vendor": "Example", "model": "H-3", "description": "Host, 16 cores"}],
        "load_generators": [{"type": "LG1", "bom_item": 1, "processor": "Example CPU", "speed": "2.5 GHz", "chips": 1, "cores_per_chip": 16, "memory_gb": 64, "os": "Debian 12",
                             "network_type": "25 Gigabit Ethernet"}],
        "benchmark_parameters": {"nas_type": "NFS V3", "load_generators": 2, "processes_per_loadgen": 8, "biod_max_read": 2, "biod_max_write": 2, "block_size_kib": 32},
        "testbed": [{"loadgens": "1..2", "type": "LG1", "network": "1", "targets": "fs1", "notes": "None"}],
        "uniform_access": "Every load generator drives the one file system.",
        "other_notes": "None",
    }


def full(loads=None):
    """A standard, valid, fully disclosed result."""
    loads = LOADS if loads is None else loads
    return {
        "schema": "nfscurve-result/1", "name": "Example Filer 1", "started_at": "2026-03-01T10:00:00.000Z", "finished_at": "2026-03-01T12:00:00.000Z", "version": "0.1.0",
        "workload": "sfs2008", "derived": "file sizes", "pacing": "sfs", "counting": "logical", "standard": True, "nonstandard_reasons": [], "ceiling_ms": 20,
        "points": [point(i, load, 1 + 0.25 * i) for i, load in enumerate(loads)],
        "loadgens": [{"host": name, "hostname": f"{name}.example", "processes": 8, "cpu_model": "Example CPU @ 2.50GHz", "cpus": 16, "memory_bytes": 64_000_000_000, "os": "Debian 12",
                      "addresses": f"192.0.2.{i + 1}", "version": "0.1.0", "targets": ["fs1"], "processes_per_target": {"fs1": 8}} for i, name in enumerate(("lg1", "lg2"))],
        "campaign": {"name": "Example Filer 1", "workload": "sfs2008", "load_ops_per_s": loads, "warmup_s": 300, "run_s": 300, "processes_per_loadgen": 8, "biod_max_read": 2,
                     "biod_max_write": 2, "targets": [{"name": "fs1", "server": "192.0.2.100", "export": "/fs1"}],
                     "loadgens": [{"host": "192.0.2.1", "targets": ["fs1"]}, {"host": "192.0.2.2", "targets": ["fs1"]}]},
        "disclosure": disclosure(),
    }


def bare(points):
    """A curve and nothing else: [(ops/s, ms), ...]"""
    return {"points": [{"achieved_ops_per_s": x, "response_ms": y} for x, y in points]}


def invalid():
    """Two bad points, a turned-back curve, losses, non-standard."""
    r = full(LOADS[:4])
    r["standard"] = False
    r["nonstandard_reasons"] = ["warmup_s is 10, standard is 300"]
    a, b = r["points"][1], r["points"][3]
    a.update(valid=False, invalid_reasons=["mix: read is 20.00 % of the operations, target 18.00 % (at most 1.5 points off)", "failures: 500 RPCs failed, 2.00 % of the good ones (below 1 % is allowed)"],
             failed_rpcs=500, errors={"failed": 500, "outcomes": {"nfs_error": 480, "timeout": 20}, "anomalies": {"reconnect": 2, "verifier_changed": 1}})
    a["ops"]["read"].update(percent=20, errors=500, statuses={"NFS3_OK": 100, "NFS3ERR_STALE": 480})
    b.update(achieved_ops_per_s=250, saturated=True, notes=["saturated: 62.5 % of the requested load was achieved"],
             lost=[{"loadgen": "lg2", "process": 3, "reason": "killed by signal 9", "at_s": 312.5}], valid=False,
             invalid_reasons=["lost: load generator lg2 process 3 at 312.5 s: killed by signal 9"])
    b["generator"]["verdict"] = "generator-limited"
    r["points_planned"] = 10
    r["stopped"] = "load generator lg2 lost a process"
    return r


def published():
    return copy.deepcopy(bare([(1027, 0.8), (2055, 1.8), (3086, 2.6), (4093, 3.1), (5139, 2.3), (6169, 2.7), (7196, 3.4), (8259, 4.5), (9389, 11.8), (10117, 12.0), (10305, 12.2)]))


VARIANTS = {
    "full": full, "invalid": invalid, "one_point": lambda: full(LOADS[:1]), "hundred_points": lambda: bare([(100 * i, 0.5 + i * i / 1000) for i in range(1, 101)]),
    "published": published, "no_points": lambda: bare([]), "unsorted": lambda: bare([(300, 3), (100, 1), (200, 2)]),
    "equal": lambda: bare([(100, 1), (200, 2), (200, 3)]), "zero": lambda: {"points": [{"achieved_ops_per_s": 0, "valid": False}, {"achieved_ops_per_s": 100, "response_ms": 1}]},
    "turned_back": lambda: bare([(100, 1), (200, 3), (150, 30)]),
}
