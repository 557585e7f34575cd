"""The site's settings for Sphinx: ``make docs`` builds it, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import tapeengine  # noqa: E402
from docs.gallery.pages import write_pages  # noqa: E402

project = "tapeengine"
author = "the tapeengine developers"
release = version = tapeengine.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
nitpicky = False

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's tables have the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "tapeengine"
html_static_path = ["_static"]
html_css_files = ["tapeengine.css"]
html_sidebars = {"install": [], "tutorial": []}  # they have no neighbours
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}


def setup(app: Any) -> None:
    """Write the gallery's pages from its programs before pages are read."""
    app.connect("builder-inited", lambda app: write_pages())
