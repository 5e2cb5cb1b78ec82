"""Runs the test suites one after another and counts: ./run test [SUITE...] [-- PYTEST ARGUMENT...]

  unit         Criterion programs of build/, two at a time; cases are counted from their Synthesis lines
  integration  real processes over loopback: pytest on tests/integration
  faults       the tests marked "faults": what servers and networks do wrong
  wire         tshark reads what was sent: tests/wire
  hosts        load generators on hosts of their own, in network namespaces: tests/hosts
  sanitizers   unit tests and the tests marked "sanitizer" with the ASan and UBSan build
  fuzz         every libFuzzer target of build-fuzz/ for some seconds

Tests marked "timing" come last and alone, whatever suite they belong to. Every process that a test leaves behind becomes a child
of this one (it is a subreaper), is killed, and counts as a failure. The last line is "N passed, N failed, N skipped".
"""

import concurrent.futures
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUITES = ["unit", "integration", "faults", "wire", "hosts", "sanitizers", "fuzz"]
FUZZ_SECONDS = int(os.environ.get("NFSCURVE_FUZZ_SECONDS", "8"))
SUITE_TIMEOUT_S = 1500
PR_SET_CHILD_SUBREAPER = 36
# Among it the closing statistics, which would read like our own last line, and names of tests that xdist only scheduled.
PYTEST_CHATTER = re.compile(r"=+ (test session starts|.* in [\d.]+s.*) =+$|collecting|-+ generated xml|gw\d|tests/\S+ ?$|scheduling tests|\[gw\d\] (\w+ )?Python")
CORES = os.cpu_count() or 2


class Count:
    """What one suite, or all of them, came to."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skips = []

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips

    @property
    def total(self):
        return self.passed + len(self.failures) + len(self.skips)

    def __str__(self):
        return f"{self.passed} passed, {len(self.failures)} failed, {len(self.skips)} skipped"


# --- processes --------------------------------------------------------------------------------------------------------


def children():
    """Our own children: {pid: command line}."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as f:
                fields = f.read().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                with open(f"/proc/{entry}/cmdline") as f:
                    found[int(entry)] = f.read().replace("\0", " ").strip() or "(a zombie)"
        except (OSError, ValueError):
            continue
    return found


def reap_survivors(suite, count):
    """Called when nothing of the suite should be left. What still lives after a second of grace is killed and named."""
    deadline = time.monotonic() + 1.0
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    for pid, command in children().items():
        count.failures.append(f"{suite}: left behind: process {pid}: {command}")
        print(f"  left behind: process {pid}: {command}", flush=True)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


# --- unit -------------------------------------------------------------------------------------------------------------


def run_criterion(test, env):
    """(name, passed, failure text or None)"""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(test["cmd"] + ["-j1"], stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=env, cwd=ROOT)
        try:
            status = process.wait(timeout=test["timeout"])
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    synthesis = re.findall(r"Synthesis: Tested: (\d+) \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)", text)
    if not synthesis:
        return test["name"], 0, 1, f"no Synthesis line, status {status}\n{text[-4000:]}"
    tested, passing, failing, _ = map(int, synthesis[-1])
    if tested == 0:
        return test["name"], 0, 1, "the program ran no test"
    if failing == 0 and passing == tested and status == 0:
        return test["name"], passing, 0, None
    return test["name"], passing, max(1, tested - passing), f"status {status}\n{text[-4000:]}"


def run_unit(build, env, label="unit"):
    count = Count()
    listing = subprocess.run(["meson", "introspect", "--tests", build], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    tests = [t for t in json.loads(listing.stdout) if any(s.split(":")[-1] == "unit" for s in t["suite"])]
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        for name, passed, failed, text in pool.map(lambda t: run_criterion(t, env), tests):
            count.passed += passed
            print(f"  {name}: {passed} passed" + (f", {failed} FAILED" if failed else ""), flush=True)
            if failed:
                print("    " + text.replace("\n", "\n    "), flush=True)
                count.failures += [f"{label}: {name}"] * failed
    return count


# --- pytest -----------------------------------------------------------------------------------------------------------


def count_junit(path, suite):
    count = Count()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{suite}: {case.get('classname')}::{case.get('name')}"
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        skip = case.find("skipped")
        if bad is not None:
            count.failures.append(name)
        elif skip is not None:
            count.skips.append(f"{name}: {skip.get('message')}")
        else:
            count.passed += 1
    return count


def run_pytest(suite, directories, marks, env, extra, parallel=True):
    directories = [d for d in directories if os.path.isdir(os.path.join(ROOT, d))]
    if not directories:
        return Count()
    scratch = tempfile.mkdtemp(prefix="nfscurve-suite-")
    report = os.path.join(scratch, "junit.xml")
    command = ["/usr/bin/python3", "-m", "pytest", "-v", "--tb=short", "--no-header", "-m", marks, f"--junitxml={report}", f"--basetemp={scratch}/tmp"]
    if parallel and CORES > 1:
        command += ["-n", str(CORES), "--dist", "load"]
    process = subprocess.Popen(command + extra + directories, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    timer = time.monotonic() + SUITE_TIMEOUT_S
    killer = concurrent.futures.ThreadPoolExecutor(1)
    killer.submit(lambda: _kill_at(process, timer))
    for line in process.stdout:
        if line.strip() and not PYTEST_CHATTER.match(line):
            print("  " + line.rstrip(), flush=True)
    status = process.wait()
    killer.shutdown()
    try:
        count = count_junit(report, suite)
    except (OSError, ElementTree.ParseError):
        count = Count()
    # 0: all passed, 1: some failed, 5: nothing matched
    if status not in (0, 1, 5) or (status == 1 and not count.failures):
        count.failures.append(f"{suite}: pytest ended with status {status}")
    shutil.rmtree(scratch, ignore_errors=True)
    return count


def _kill_at(process, deadline):
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            time.sleep(0.5)
            for pid in children():  # what held pytest's output open is ours now
                if pid != process.pid:
                    os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.1)


# --- the suites -------------------------------------------------------------------------------------------------------


def sanitizer_env(reports):
    env = dict(os.environ)
    env["NFSCURVE_BIN"] = os.path.join(ROOT, "build-asan", "bin")
    env["NFSCURVE_SANITIZED"] = "1"
    # No detect_stack_use_after_return: a load generator's requests run on stacks of their own, which it does not know.
    env["ASAN_OPTIONS"] = f"log_path={reports}/report"
    env["UBSAN_OPTIONS"] = f"log_path={reports}/report:halt_on_error=1:print_stacktrace=1"
    return env


def run_sanitizers(extra):
    reports = tempfile.mkdtemp(prefix="nfscurve-sanitizers-")
    env = sanitizer_env(reports)
    count = run_unit("build-asan", env, "sanitizers")
    count.add(run_pytest("sanitizers", ["tests/integration", "tests/hosts"], "sanitizer and not timing", env, extra))
    # A report of a process whose exit status nobody looks at counts as well.
    for name in sorted(os.listdir(reports)):
        with open(os.path.join(reports, name), errors="replace") as f:
            text = f.read()
        if "WARNING: ASan doesn't fully support makecontext" in text and "ERROR" not in text and "runtime error" not in text:
            continue
        print(f"  sanitizer report {name}:\n    " + text[:6000].replace("\n", "\n    "), flush=True)
        summary = re.search(r"SUMMARY: .*|runtime error: .*", text)
        count.failures.append("sanitizers: " + (summary.group(0) if summary else name))
    shutil.rmtree(reports)
    return count


def run_fuzz():
    count = Count()
    directory = os.path.join(ROOT, "build-fuzz", "tests", "fuzz")
    targets = sorted(n for n in os.listdir(directory) if n.startswith("fuzz_") and os.access(os.path.join(directory, n), os.X_OK) and os.path.isfile(os.path.join(directory, n))) if os.path.isdir(directory) else []
    for name in targets:
        with tempfile.TemporaryDirectory(prefix="nfscurve-fuzz-") as scratch:
            corpus = os.path.join(ROOT, "tests", "fuzz", "corpus", name[len("fuzz_"):])
            command = [os.path.join(directory, name), f"-max_total_time={FUZZ_SECONDS}", "-timeout=5", "-rss_limit_mb=2048", f"-artifact_prefix={scratch}/", os.path.join(scratch)]
            command += [corpus] if os.path.isdir(corpus) else []
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=FUZZ_SECONDS + 120)
        runs = re.search(r"Done (\d+) runs", done.stdout)
        if done.returncode == 0 and runs and int(runs.group(1)) > 0:
            count.passed += 1
            print(f"  {name}: {runs.group(1)} inputs in {FUZZ_SECONDS} s", flush=True)
        else:
            count.failures.append(f"fuzz: {name}")
            print(f"  {name}: FAILED, status {done.returncode}\n    " + done.stdout[-5000:].replace("\n", "\n    "), flush=True)
    return count


def run_suite(suite, extra):
    env = dict(os.environ)
    if suite == "unit":
        return run_unit("build", env)
    if suite == "integration":
        return run_pytest(suite, ["tests/integration"], "not faults and not timing", env, extra)
    if suite == "faults":
        return run_pytest(suite, ["tests/integration", "tests/wire", "tests/hosts"], "faults and not timing", env, extra)
    if suite in ("wire", "hosts"):
        return run_pytest(suite, [f"tests/{suite}"], "not faults and not timing", env, extra)
    if suite == "sanitizers":
        return run_sanitizers(extra)
    return run_fuzz()


def timing_directories(suites):
    """(directories, marks) of the timing tests that belong to these suites."""
    directories = [f"tests/{s}" for s in ("integration", "wire", "hosts") if s in suites or "faults" in suites]
    marks = "timing" if "integration" in suites or "faults" not in suites else "timing and faults"
    return directories, marks


def main(arguments):
    extra = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, extra = arguments[:cut], arguments[cut + 1 :]
    unknown = [a for a in arguments if a not in SUITES]
    if unknown:
        print(f"unknown suite \"{unknown[0]}\"; suites: {' '.join(SUITES)}", file=sys.stderr)
        return 2
    suites = [s for s in SUITES if s in arguments or not arguments]
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    total = Count()
    began = time.monotonic()

    def step(name, work, may_be_empty=False):
        print(f"== {name}", flush=True)
        start = time.monotonic()
        count = work()
        reap_survivors(name, count)
        if count.total == 0 and not may_be_empty and not extra:
            count.failures.append(f"{name}: no test in this suite")
        print(f"== {name}: {count} ({time.monotonic() - start:.1f} s)", flush=True)
        total.add(count)

    for suite in suites:
        step(suite, lambda s=suite: run_suite(s, extra))
    directories, marks = timing_directories(suites)
    if directories:
        step("timing", lambda: run_pytest("timing", directories, marks, dict(os.environ), extra, parallel=False), may_be_empty=True)

    print(f"== all: {time.monotonic() - began:.1f} s")
    for title, lines in (("skipped", total.skips), ("failed", total.failures)):
        for line in lines:
            print(f"{title}: {line}")
    print(total)
    return 1 if total.failures or total.passed == 0 else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        for survivor in children():
            os.kill(survivor, signal.SIGKILL)
        sys.exit(130)
