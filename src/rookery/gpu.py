"""Programs for NVIDIA GPUs, compiled with nvcc when they are first needed and kept in the cache.

Their sources lie beside the C++ code, in `native/games/NAME/`, and are not part of the normal build.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from rookery.files import cache_folder

_PACKAGE = Path(__file__).parent


def source_path(name: str) -> Path:
    """The path of a source by its place below `native`, in a checkout or in an installed package.

    >>> source_path("games/tenten/survival.cu").name
    'survival.cu'
    """
    for folder in (_PACKAGE.parents[1] / "native", _PACKAGE / "native"):
        if (folder / name).exists():
            return folder / name
    raise ValueError(f"the source {name} of the GPU program is not installed")


def architecture() -> str:
    """The architecture of the first GPU as nvcc names it, such as `sm_90`; ValueError says what is missing."""
    if shutil.which("nvcc") is None:
        raise ValueError("a GPU program is compiled by nvcc, which was not found: install the CUDA toolkit")
    try:
        query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
        asked = subprocess.run(query, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        asked = None
    capability = asked.stdout.split() if asked and asked.returncode == 0 else []
    if not capability:
        raise ValueError("no NVIDIA GPU was found: nvidia-smi lists none")
    return f"sm_{capability[0].replace('.', '')}"


def command(source: Path, arch: str | None) -> list[str]:
    """The compiler and its options; without an architecture those of the C++ compiler, for the CPU."""
    if arch is None:
        compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or "c++"
        return [compiler, "-O2", "-std=c++17", "-x", "c++", "-shared", "-fPIC", str(source)]
    return ["nvcc", "-O3", "-std=c++17", f"-arch={arch}", "--shared", "-Xcompiler", "-fPIC", str(source)]


def library(name: str, on_cpu: bool = False) -> ctypes.CDLL:
    """The shared library made from a source below `native`, compiled if the cache does not have it.

    `on_cpu` compiles it with the C++ compiler, for sources that then do the same without a GPU.
    """
    source = source_path(name)
    arguments = command(source, None if on_cpu else architecture())
    digest = hashlib.sha256(" ".join(arguments).encode())
    for file in sorted([*source.parent.glob("*.hpp"), source]):  # what it includes lies beside it
        digest.update(file.read_bytes())
    folder = cache_folder() / "gpu"
    built = folder / f"{source.stem}-{digest.hexdigest()[:16]}.so"
    if not built.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            target = Path(temporary) / built.name
            done = subprocess.run([*arguments, "-o", str(target)], capture_output=True, text=True)
            if done.returncode != 0:
                raise ValueError(f"{arguments[0]} could not compile {source}: {done.stderr.strip()[-1000:]}")
            target.replace(built)
    return ctypes.CDLL(str(built))
