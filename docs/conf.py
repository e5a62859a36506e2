"""Sphinx configuration: `make docs` builds with warnings as errors."""

import os

import seqattractor

os.environ.setdefault("MPLBACKEND", "Agg")

project = "seqattractor"
author = "The seqattractor developers"
copyright = "2026, the seqattractor developers"
version = release = seqattractor.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say the types, with shapes
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py"]
html_theme = "alabaster"
html_theme_options = {
    "description": "Sequence memory in attractor networks",
    "fixed_sidebar": True,
    "page_width": "1080px",
}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_show_sourcelink = False
default_role = "code"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_memory": False,
    "abort_on_example_error": True,
}
