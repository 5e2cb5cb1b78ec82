"""The layers of the tree, as the build really knows them: what a file of a layer may include is what its compiler command lets it find.

     common  <----- results <---- prime ----> rpcgen
       ^                                        ^
       +---------- loadgen ---------------------+
       +---------- target  ---------------------+
"""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
MAY_INCLUDE = {
    "common": {"common"},
    "rpcgen": {"rpcgen", "common"},
    "results": {"results", "common"},
    "loadgen": {"loadgen", "common", "rpcgen"},
    "target": {"target", "common", "rpcgen"},
    "prime": {"prime", "results", "common", "rpcgen"},
}
LAYERS = sorted(MAY_INCLUDE)


def headers_of(layer):
    return sorted(p.name for p in (ROOT / layer).glob("*.h"))


def layer_command(layer):
    """The command line that compiles the files of a layer's library, without input and output."""
    if not (BUILD / "compile_commands.json").exists():
        pytest.skip("no build/compile_commands.json: ./run build")
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = Path(os.path.normpath(BUILD / entry["file"]))
        if source.parent == ROOT / layer and f"lib{layer}.a.p" in entry["output"]:
            words, wanted, skip = shlex.split(entry["command"]), [], 0
            for word in words:
                if skip:
                    skip -= 1
                elif word in ("-o", "-MF", "-MQ"):
                    skip = 1
                elif word not in ("-c", "-MD", "ccache") and not word.startswith("-fpch") and word != entry["file"]:
                    wanted.append(word)
            return wanted
    raise AssertionError(f"build/ compiles nothing of {layer}/")


def compiles(layer, text):
    done = subprocess.run(layer_command(layer) + ["-fsyntax-only", "-x", "c", "-"], cwd=BUILD, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


@pytest.mark.parametrize("layer", LAYERS)
def test_every_header_compiles_alone(layer):
    if not shutil.which("cc") and not shutil.which("gcc"):
        pytest.skip("no compiler")
    assert headers_of(layer)
    wrong = {}
    for header in headers_of(layer):
        good, output = compiles(layer, f'#include "{header}"\n#include "{header}"\n')
        if not good:
            wrong[header] = output[:600]
    assert not wrong


@pytest.mark.parametrize("layer", LAYERS)
def test_layer_finds_only_what_it_may_include(layer):
    """A header of every other layer: included from here it compiles exactly when the drawing says so."""
    for other in LAYERS:
        unique = [h for h in headers_of(other) if sum(h in headers_of(o) for o in LAYERS) == 1]
        good, output = compiles(layer, f'#include "{unique[0]}"\n')
        if other in MAY_INCLUDE[layer]:
            assert good, f"{layer} must be able to include {other}/{unique[0]}: {output}"
        else:
            assert not good and "No such file" in output, f"{layer} can include {other}/{unique[0]}"


@pytest.mark.parametrize("layer", LAYERS)
def test_layer_includes_by_name_not_by_path(layer):
    """ "../prime/x.h" would go round the include paths."""
    for file in (ROOT / layer).glob("*.[ch]"):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            assert not (line.startswith("#include \"") and "/" in line), f"{file.relative_to(ROOT)}:{number}: {line}"
