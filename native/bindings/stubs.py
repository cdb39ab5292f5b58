"""Write the type stubs of the native module: `python stubs.py FOLDER [MODULE]`.

FOLDER gets `_native/*.pyi`. MODULE is the file of the extension module; without it, the installed one is taken.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from nanobind import stubgen

folder, *files = sys.argv[1:]
sys.path.insert(0, str(Path(__file__).parents[2] / "src"))  # the classes of rookery.game appear in signatures
for file in files:
    spec = importlib.util.spec_from_file_location("rookery._native", file)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["rookery._native"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
stubgen.main(["-q", "-P", "-r", "-m", "rookery._native", "-O", folder])
