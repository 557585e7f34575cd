"""The site's settings for Sphinx: ``make docs`` builds it, with warnings as errors."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from sphinx.errors import ExtensionError  # noqa: E402

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
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
nitpicky = False

myst_enable_extensions = ["deflist", "colon_fence"]
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
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


#: What a page loads, rather than links to, from somewhere else.
LOADED = re.compile(r"""<(?:script|img|iframe|link)[^>]*\s(?:src|href)=["']?(?:https?:)?//[^>]*>""")


def check_alone(app: Any, error: Exception | None) -> None:
    """Refuse a site that needs a network."""
    pages = Path(app.outdir).rglob("*.html") if error is None else ()
    if found := [f"{page}: {tag}" for page in pages for tag in LOADED.findall(page.read_text())]:
        raise ExtensionError("pages load from the network: " + "; ".join(found))


def setup(app: Any) -> None:
    """Write the gallery's pages from its programs before pages are read; look at what was built."""
    app.connect("builder-inited", lambda app: write_pages())
    app.connect("build-finished", check_alone)
