"""The documentation site: `make docs` builds it into build/docs."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Rookery"
author = "The Rookery authors"
project_copyright = "The Rookery authors, Apache-2.0"
release = version = installed_version("rookery")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "myst_parser", "extension"]
exclude_patterns = ["package-index.md"]
nitpicky = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

# Docstrings are plain text with `code` in single backticks.
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_inherit_docstrings = False
add_module_names = False
highlight_language = "text"
smartquotes = False

html_theme = "furo"
html_title = "Rookery"
html_static_path = ["_static"]
html_css_files = ["site.css", "boards.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
