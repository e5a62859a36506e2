"""Sphinx configuration: `make docs` builds with warnings as errors."""

import os
from pathlib import Path

import click

import seqattractor
from seqattractor.cli import group

os.environ.setdefault("MPLBACKEND", "Agg")

project = "seqattractor"
author = "The seqattractor developers"
copyright = "2026, the seqattractor developers"
version = release = seqattractor.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc", "sphinx_gallery.gen_gallery"]
autosummary_generate = True
templates_path = ["_templates"]  # a class with its methods in full
autodoc_typehints = "none"  # numpydoc's sections say the types, with shapes
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py"]
html_theme = "alabaster"
html_theme_options = {"description": "Sequence memory in attractor networks", "fixed_sidebar": True, "page_width": "1080px"}
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


def write_command_reference(app):
    """Write the reference of the command line from the commands themselves, so that it cannot be stale."""

    def pages(command, path):
        context = click.Context(command, info_name=path, max_content_width=100)
        yield f"{path}\n{'-' * len(path)}\n\n.. code-block:: text\n\n" + "\n".join(
            f"    {line}" for line in command.get_help(context).splitlines()
        )
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                yield from pages(command.get_command(context, name), f"{path} {name}")

    target = Path(app.srcdir) / "generated" / "cli.rst"
    target.parent.mkdir(exist_ok=True)
    text = "The command line\n================\n\n" + "\n\n".join(pages(group, "seqattractor")) + "\n"
    if not target.exists() or target.read_text() != text:
        target.write_text(text)


def setup(app):
    app.connect("config-inited", lambda app, config: write_command_reference(app))
