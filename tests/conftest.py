"""Fixtures of every test: programs on kernel-chosen ports in temporary directories, and nothing left behind.

  target("--latency", "fixed:1ms")   -> Target: .address .port .export .program .spec()   (nfscurve-target)
  loadgen("--key-file", key)         -> Loadgen: .address .port .program                 (nfscurve-loadgen)
  campaign({...}, "--set", "a=b")    -> Outcome: .status .result .points .dir .out .err  (nfscurve run, to its end)
  start_campaign({...})              -> Run: .program .dir, .finish() -> Outcome          (nfscurve run, going on)
  nfscurve("report", file)           -> Done: .status .out .err                          (any other command)
  ganesha()                          -> Ganesha: .enter .campaign_target()               (in a namespace of its own)
  capture(port)                      -> Capture: .stop() .calls() .counts() .malformed()
  network()                          -> Network: .add("lg1") -> host with .address .enter .run()

  small_campaign(targets, loads, **keys) -> a campaign of seconds, to be given to campaign()

"inside=" of target, loadgen, campaign and nfscurve takes a host, or a ganesha, in whose namespace the program is to run.
"""

import json
import os
import sys
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from support import process, quiet  # noqa: E402
from support.capture import Capture  # noqa: E402
from support.ganesha import Ganesha  # noqa: E402
from support.netns import Network, why_not  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SANITIZED = bool(os.environ.get("NFSCURVE_SANITIZED"))
RUN_TIMEOUT_S = 90


def pytest_configure():
    process.become_subreaper()


def pytest_collection_modifyitems(items):
    if os.geteuid() == 0:
        return
    for item in items:
        if item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs root"))


# A machine that others use as well steals milliseconds from any single run: what is wrong with nfscurve is wrong three times.
TIMING_ATTEMPTS = int(os.environ.get("NFSCURVE_TIMING_ATTEMPTS", "3"))


def pytest_runtest_protocol(item, nextitem):
    """Tests marked "timing" wait for a quiet machine, and pass when one of three attempts does."""
    if not item.get_closest_marker("timing"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(1, TIMING_ATTEMPTS + 1):
        idle = quiet.wait_for_quiet(patience_s=5.0 * attempt)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        failed = any(r.failed for r in reports)
        if not failed or attempt == TIMING_ATTEMPTS:
            break
        sys.__stderr__.write(f"\n{item.name}: attempt {attempt} failed (processors {idle:.0%} idle before it); again\n")
        item._initrequest()
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """Set up first and so torn down last: a process that outlives its test fails it."""
    before = set(process.children_of(os.getpid()))
    yield
    left = process.kill_orphans(before)
    if left:
        pytest.fail("left behind: " + "; ".join(f"{pid}: {command}" for pid, command in left.items()), pytrace=False)


@pytest.fixture(scope="session")
def bin():
    """The directory of the programs under test."""
    directory = Path(os.environ.get("NFSCURVE_BIN", ROOT / "bin"))
    assert (directory / "nfscurve").exists(), f"no programs in {directory}: ./run build"
    return directory


@pytest.fixture(scope="session")
def engine_tool(bin):
    """engine_tool("nfs3_probe") -> a program of tests/engine, of the same build as the programs under test."""

    def find(name):
        for build in (bin.parent / "build", bin.parent):
            if (build / "tests" / "engine" / name).exists():
                return build / "tests" / "engine" / name
        pytest.skip(f"{name} is not built")

    return find


@pytest.fixture
def run_dir(tmp_path):
    """An empty directory for this test alone."""
    return tmp_path


@pytest.fixture
def start(nothing_is_left_behind, run_dir):
    """start(argv, name=, inside=, env=) -> Program, stopped at the end of the test."""
    started = []

    def start_one(argv, name=None, inside=None, env=None, cwd=None):
        program = process.Program(argv, run_dir, name, prefix=inside.enter if inside else (), env=env, cwd=cwd)
        started.append(program)
        return program

    yield start_one
    for program in reversed(started):
        program.stop()


class Server:
    """A target or a load generator that is ready."""

    def __init__(self, program, inside):
        self.program = program
        self.facts = program.ready()
        self.address = inside.address if inside else self.facts["address"]
        self.port = self.facts["port"]
        self.pid = self.facts["pid"]
        self.export = self.facts.get("export")

    def spec(self, name="t1"):
        """The entry of a campaign's "targets"."""
        return {"name": name, "server": self.address, "export": self.export, "nfs_port": self.port, "mount_port": self.port}

    def program_children(self):
        return process.children_of(self.program.pid)

    def stop(self):
        return self.program.stop()


@pytest.fixture
def target(start, bin):
    def make(*arguments, inside=None):
        address = inside.address if inside else "127.0.0.1"
        return Server(start([bin / "nfscurve-target", "--listen", address, "--port", "0", "--ready-file", "@READY@", *arguments], inside=inside), inside)

    return make


@pytest.fixture
def loadgen(start, bin):
    def make(*arguments, inside=None, listen=None):
        address = listen or f"{inside.address if inside else '127.0.0.1'}:0"
        return Server(start([bin / "nfscurve-loadgen", "--listen", address, "--ready-file", "@READY@", *arguments], inside=inside), inside)

    return make


class Outcome:
    """What `nfscurve run` came to."""

    def __init__(self, program, directory):
        self.status = program.popen.returncode
        self.dir = directory
        self.out, self.err = program.out, program.err
        path = directory / "result.json"
        self.result = json.loads(path.read_text()) if path.exists() else None
        self.points = self.result["points"] if self.result else []

    def assert_ran(self):
        """To its end, without an error, and valid, but for what a busy machine does to a generator: for tests that are not marked "timing"."""
        assert self.status in (0, 1) and self.points, self
        for point in self.points:
            assert point["errors"]["failed"] == 0, self
            others = [r for r in point["invalid_reasons"] if "generator-limited" not in r and "run length" not in r]
            assert not others, self

    def __repr__(self):
        return f"exit status {self.status}\n{self.out[-3000:]}\n{self.err[-3000:]}"


class Run:
    def __init__(self, program, directory):
        self.program, self.dir = program, directory

    def finish(self, timeout_s=RUN_TIMEOUT_S):
        self.program.wait(timeout_s)
        return Outcome(self.program, self.dir)


@pytest.fixture
def start_campaign(start, bin, run_dir):
    serial = iter(range(1000))

    def make(config, *arguments, inside=None, env=None):
        number = next(serial)
        file = run_dir / f"campaign-{number}.json"
        file.write_text(config if isinstance(config, str) else json.dumps(config, indent=1))
        directory = run_dir / f"results-{number}"
        return Run(start([bin / "nfscurve", "run", file, "--out", directory, *arguments], inside=inside, env=env), directory)

    return make


@pytest.fixture
def campaign(start_campaign):
    def make(config, *arguments, timeout_s=RUN_TIMEOUT_S, inside=None, env=None):
        return start_campaign(config, *arguments, inside=inside, env=env).finish(timeout_s)

    return make


@pytest.fixture
def small_campaign():
    """A campaign that ends in seconds; any key may be given, or changed. NFSCURVE_ENGINE=libnfs runs all that don't name an engine with that one."""

    engine = {"engine": os.environ["NFSCURVE_ENGINE"]} if "NFSCURVE_ENGINE" in os.environ else {}

    def make(targets, loads, **keys):
        return {"name": "small", "workload": "sfs2008", "fileset_mb_per_op": 0.5, "load_ops_per_s": loads, "warmup_s": 1, "run_s": 3, "processes_per_loadgen": 2,
                "targets": targets if isinstance(targets, list) else [targets], "loadgens": {"local": 1}, **engine, **keys}

    return make


class Done:
    def __init__(self, program):
        self.status, self.out, self.err = program.popen.returncode, program.out, program.err

    def __repr__(self):
        return f"exit status {self.status}\n{self.out[-3000:]}\n{self.err[-3000:]}"


@pytest.fixture
def nfscurve(start, bin):
    """Any command of nfscurve, to its end."""

    def make(*arguments, timeout_s=30, inside=None, cwd=None):
        program = start([bin / "nfscurve", *arguments], inside=inside, cwd=cwd)
        program.wait(timeout_s)
        return Done(program)

    return make


@pytest.fixture
def ganesha(nothing_is_left_behind, run_dir):
    started = []

    def make(**options):
        directory = run_dir / f"ganesha-{len(started)}"
        directory.mkdir()
        started.append(Ganesha(directory, **options))
        started[-1].start()
        return started[-1]

    yield make
    for server in started:
        server.stop()


@pytest.fixture
def capture(nothing_is_left_behind, run_dir):
    started = []

    def make(ports, **options):
        started.append(Capture(run_dir, ports, **options))
        return started[-1]

    yield make
    for one in started:
        one.dumpcap.kill()


@pytest.fixture
def network(nothing_is_left_behind, run_dir):
    reason = why_not()
    if reason:
        pytest.skip(reason)
    started = []

    def make():
        directory = run_dir / f"network-{len(started)}"
        directory.mkdir()
        started.append(Network(directory))
        return started[-1]

    yield make
    for one in started:
        one.stop()
