"""Files that are whole or not there, the cache, programs that are compiled when needed, and cores that may be used."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from rookery import files, gpu, progress
from rookery.files import cache_folder, located, read_cache, replacing, write_cache, write_text


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "file.txt"
    write_text(file, "first é")
    assert file.read_bytes() == "first é".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o644, "others may read it"

    def half() -> None:
        with replacing(file) as opened:
            opened.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert file.read_text() == "first é"
    assert os.listdir(file.parent) == ["file.txt"]  # noqa: PTH208


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("ROOKERY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "rookery"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "rookery"


def test_what_is_kept_comes_back_and_damage_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path))
    data = bytes(range(256)) * 40
    write_cache("a/b.bin", "tag", data)
    assert read_cache("a/b.bin", "tag", len(data)) == data
    file = tmp_path / "a" / "b.bin"
    whole = file.read_bytes()
    assert len(whole) < len(data) / 4, "it is compressed"
    assert read_cache("none", "tag", 3) is None
    assert capsys.readouterr().err == ""
    for tag, size in (("other", len(data)), ("ta", len(data)), ("tag", len(data) - 1), ("tag", len(data) + 1)):
        assert read_cache("a/b.bin", tag, size) is None
        assert "is damaged (it holds something else) and will be made again" in capsys.readouterr().err
    flipped = bytearray(whole)
    flipped[40] ^= 1  # the checksum
    for content in (b"", whole[:20], whole[:-3], whole + b"x", bytes(flipped), b"R" + whole[1:]):
        file.write_bytes(content)
        assert read_cache("a/b.bin", "tag", len(data)) is None
        assert f"{file} is damaged (" in capsys.readouterr().err
    for tag in ("", "x" * 24):
        write_cache("c", tag, b"")
        assert read_cache("c", tag, 0) == b""
    (tmp_path / "file").write_text("")
    write_cache("file/x", "tag", b"1")  # a folder is in the way
    assert "file/x could not be kept in the cache: " in capsys.readouterr().err


def test_files_of_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOVED", {"/far/runs": "/near/1", "/far/runs/b": "/near/2"})
    monkeypatch.setattr(files, "MOVED_FROM", ["/far"])
    assert located("runs/a/model") == located("/far/runs/a/model") == Path("/near/1/a/model")
    assert located("runs/b/model") == Path("/near/2/model"), "the nearest folder decides"
    assert located("./x/../runs") == Path("/near/1")
    assert located("/far/other") == Path("/far/other")


def test_a_gpu_program_is_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Here by the C++ compiler: a source that does its work without a GPU."""
    if shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler")
    source = tmp_path / "native" / "games" / "mine" / "double.cu"
    source.parent.mkdir(parents=True)
    source.write_text('#include "factor.hpp"\nextern "C" int twice(int x) { return FACTOR * x; }\n')
    header = source.parent / "factor.hpp"
    header.write_text("#define FACTOR 2\n")
    monkeypatch.setattr(gpu, "_PACKAGE", tmp_path)
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CXX", raising=False)
    assert gpu.source_path("games/mine/double.cu") == source
    assert gpu.library("games/mine/double.cu", on_cpu=True).twice(21) == 42
    (built,) = (tmp_path / "cache" / "gpu").iterdir()
    assert (built.name.startswith("double-"), len(built.name)) == (True, len("double-.so") + 16)
    made = built.stat().st_mtime_ns
    gpu.library("games/mine/double.cu", on_cpu=True)
    assert built.stat().st_mtime_ns == made
    header.write_text("#define FACTOR 3\n")
    assert gpu.library("games/mine/double.cu", on_cpu=True).twice(21) == 63, "what it includes has changed"
    header.write_text("#error no factor today\n")
    with pytest.raises(ValueError, match=r"could not compile .*double\.cu: (.|\n)*no factor today"):
        gpu.library("games/mine/double.cu", on_cpu=True)
    with pytest.raises(ValueError, match=r"the source games/other\.cu of the GPU program is not installed"):
        gpu.source_path("games/other.cu")
    monkeypatch.setenv("CXX", "my-compiler")
    assert gpu.command(source, None)[0] == "my-compiler"
    assert gpu.command(source, "sm_90")[0] == "nvcc"
    assert "-arch=sm_90" in gpu.command(source, "sm_90")


def test_the_architecture_of_the_first_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def program(name: str, text: str) -> None:
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="compiled by nvcc, which was not found: install the CUDA toolkit"):
        gpu.architecture()
    program("nvcc", "true")
    for text in (None, "exit 1", "echo 9.0; exit 3", "true"):
        if text is not None:
            program("nvidia-smi", text)
        with pytest.raises(ValueError, match="no NVIDIA GPU was found: nvidia-smi lists none"):
            gpu.architecture()
    program("nvidia-smi", 'test "$1" = --query-gpu=compute_cap && echo 9.0 && echo 8.6')
    assert gpu.architecture() == "sm_90"


def test_cores_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, expected in (("3", 3), ("0", 1)):
        monkeypatch.setenv(progress.THREADS, text)
        assert progress.cores() == expected
    monkeypatch.setenv(progress.THREADS, "many")
    monkeypatch.setattr(progress.os, "sched_getaffinity", lambda _: {0, 3, 5, 6})
    for quotas, expected in (([float("inf")], 4), ([2.5], 3), ([0.25], 1), ([float("inf"), 2.0], 2), ([9.0], 4)):
        monkeypatch.setattr(progress, "_quotas", lambda quotas=quotas: quotas)
        assert progress.cores() == expected
    monkeypatch.delattr(progress.os, "sched_getaffinity")
    monkeypatch.setattr(progress.os, "cpu_count", lambda: 6)
    monkeypatch.setattr(progress, "_quotas", lambda: [float("inf")])
    assert progress.cores() == 6
    monkeypatch.setattr(progress.os, "cpu_count", lambda: None)
    assert progress.cores() == 1


def test_limits_of_containers_that_cannot_be_read(tmp_path: Path) -> None:
    assert progress._quotas(tmp_path, tmp_path / "none") == [float("inf")]
    (tmp_path / "groups").write_text("0::/a\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "cpu.max").write_text("nonsense\n")
    (tmp_path / "cpu.max").write_text("300000 100000\n")
    assert progress._quotas(tmp_path, tmp_path / "groups") == [float("inf"), 3.0]
    (tmp_path / "groups").write_text("3:cpu,cpuacct:/b\n")
    (tmp_path / "cpu" / "b").mkdir(parents=True)
    (tmp_path / "cpu" / "b" / "cpu.cfs_quota_us").write_text("-1\n")
    (tmp_path / "cpu" / "b" / "cpu.cfs_period_us").write_text("100000\n")
    assert progress._quotas(tmp_path, tmp_path / "groups") == [float("inf")]
