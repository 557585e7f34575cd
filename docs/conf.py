"""The site's settings for Sphinx: ``make docs`` builds it, with warnings as errors."""

from __future__ import annotations

import tapeengine

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
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository that are no pages

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's tables have the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "tapeengine"
html_static_path = ["_static"]
html_css_files = ["tapeengine.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
}
