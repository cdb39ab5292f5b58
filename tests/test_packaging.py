"""The package: its metadata, the builds of the native module for different processors, and the wheel."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rookery import _native

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
USER = ROOT / "tests" / "wheel_user.py"
QEMU = shutil.which("qemu-x86_64-static")


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command outside the source tree, so that Python sees only what is installed."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "ROOKERY_BASELINE")}
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd="/", env=kept | environment
    )


def output(*command: str | Path, **environment: str) -> str:
    """What a command prints; it must succeed."""
    done = run(*command, **environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_text_for_the_package_index_stands_alone() -> None:
    text = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    assert re.findall(r"\]\((?!https://)[^)]*\)|<(?:a|img)\b", text) == []


def test_the_citation_is_of_this_version() -> None:
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_extras() -> None:
    extras: dict[str, list[str]] = PROJECT["optional-dependencies"]
    optional = set(extras) - {"all", "dev", "docs"}
    assert extras["all"] == [f"rookery[{','.join(sorted(optional))}]"]
    tested = optional - {"scale"} | {"docs"}  # Ray takes long to fetch and to start: `make slow` installs it
    assert f"rookery[{','.join(sorted(tested))}]" in extras["dev"]
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]:
        for names in re.findall(r"rookery\[([\w,]+)\]'", page.read_text(encoding="utf-8")):
            assert set(names.split(",")) <= set(extras), page


def test_the_environment_variable_asks_for_the_baseline() -> None:
    folder = Path(_native.__file__).parent
    if not (folder / "_native_v3.so").exists():
        pytest.skip("this build is for one processor and has no loader")
    script = "from rookery import _native; print(_native.ARCH)"
    path = os.pathsep.join(sys.path)
    usual = output(sys.executable, "-c", script, PYTHONPATH=path)
    assert output(sys.executable, "-c", script, PYTHONPATH=path, ROOKERY_BASELINE="") == usual
    baseline = run(sys.executable, "-c", script, PYTHONPATH=path, ROOKERY_BASELINE="1")
    if (folder / "_native_baseline.so").exists():
        assert baseline.stdout == "x86-64\n"
    else:
        assert baseline.stderr.splitlines()[-1].startswith("ImportError: this build of Rookery needs a processor with")


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel built from it, for every processor."""
    folder = tmp_path_factory.mktemp("dist")
    output(sys.executable, "-m", "build", "-C", "cmake.define.ROOKERY_BASELINE=ON", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    (found,) = distributions.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The interpreter of a fresh environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=True)
    output(folder / "bin" / "python", "-m", "pip", "install", "-q", wheel, "mypy")
    yield folder / "bin" / "python"
    shutil.rmtree(folder)


@pytest.mark.slow
def test_the_source_distribution_holds_no_builds(distributions: Path) -> None:
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {"CMakeLists.txt", "LICENSE", "native/bindings/stubs.py", PROJECT["readme"], "src/rookery/py.typed"}
    assert [name for name in names if name.endswith((".so", ".pyi"))] == []


@pytest.mark.slow
def test_what_the_wheel_holds(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = ROOT / "src" / "rookery"
    wanted = {str(path.relative_to(ROOT / "src")) for path in package.rglob("*.py")}
    stubs = {f"rookery/_native/{path.name}.pyi" for path in (ROOT / "native" / "games").iterdir()}
    assert names >= wanted | stubs | {"rookery/_native/__init__.pyi", "rookery/py.typed"}
    assert names >= {f"rookery/native/games/morpion/{name}" for name in ("walk.cu", "walk.hpp", "holes.hpp")}
    libraries = {name.split(".")[0] for name in names if name.endswith(".so")}
    assert "rookery/_native" in libraries
    if _native.ARCH.startswith("x86-64"):
        assert libraries == {"rookery/_native", "rookery/_native_v3", "rookery/_native_baseline"}
    assert {name.split("/")[0] for name in names} == {"rookery", f"rookery-{PROJECT['version']}.dist-info"}


@pytest.mark.slow
def test_types_of_the_wheel(python: Path) -> None:
    assert "no issues found" in output(python, "-m", "mypy", "--strict", "--cache-dir", os.devnull, USER)


@pytest.mark.slow
def test_every_build_in_the_wheel_gives_the_same_results(python: Path) -> None:
    usual = json.loads(output(python, USER))
    baseline = json.loads(output(python, USER, ROOKERY_BASELINE="1"))
    assert usual["results"] == baseline["results"]
    if _native.ARCH.startswith("x86-64"):
        assert (usual["arch"], baseline["arch"]) == ("x86-64-v3", "x86-64")


@pytest.mark.slow
@pytest.mark.skipif(QEMU is None, reason="needs qemu-x86_64-static")
def test_a_processor_without_avx2(python: Path) -> None:
    assert QEMU is not None
    old = json.loads(output(QEMU, "-cpu", "Nehalem", python, USER))
    assert old["arch"] == "x86-64"
    assert old["results"] == json.loads(output(python, USER))["results"]
