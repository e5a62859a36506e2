"""Sphinx configuration: `make docs` builds with warnings as errors."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import click
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx_gallery.scrapers import figure_rst

import seqattractor
from seqattractor.cli import group
from seqattractor.lab.export import core_path, export, why_missing

os.environ.setdefault("MPLBACKEND", "Agg")

project = "seqattractor"
author = "The seqattractor developers"
copyright = "2026, the seqattractor developers"
version = release = seqattractor.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",  # cards and grids of the first pages
    "myst_parser",  # for CHANGELOG.md
]
autosummary_generate = True
templates_path = ["_templates"]  # a class with its methods in full
autodoc_typehints = "none"  # numpydoc's sections give the types, with shapes
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py"]
html_theme = "pydata_sphinx_theme"
html_title = "seqattractor"
html_static_path = ["_static"]
html_css_files = ["seqattractor.css"]
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}  # the first page has cards instead
copybutton_prompt_text = r">>> |\.\.\. |\$ "  # what is copied can be pasted: no prompts, no output
copybutton_prompt_is_regexp = True
html_show_sourcelink = False
html_math_renderer = (
    "mathml"  # formulas are part of the page: MathJax would have to be fetched from the web
)
default_role = "code"

suppress_warnings = [
    "config.cache"
]  # the settings of the gallery have functions, which cannot be pickled

_GALLERY = [
    "first_recall",
    "walker",
    "letters",
    "why_sparse",
    "guarantees",
]  # these first; the others by name


def gallery_order(filename):
    """Give the place of an example in the gallery: the first recall first."""
    name = Path(filename).stem.removeprefix("plot_")
    return (_GALLERY.index(name) if name in _GALLERY else len(_GALLERY), name)


def moving_pictures(block, block_vars, gallery_conf):
    """Show the GIFs that an example has just written, as they move; matplotlib's animations fetch
    their buttons from the web.
    """
    written = sorted(Path(block_vars["src_file"]).parent.glob("*.gif"))
    places = [
        Path(place).with_suffix(".gif")
        for _, place in zip(written, block_vars["image_path_iterator"], strict=False)
    ]
    for path, place in zip(written, places, strict=True):
        path.replace(place)
    titles = ", ".join(f"animation: {path.stem}" for path in written)
    return figure_rst(places, gallery_conf["src_dir"], titles)


sphinx_gallery_conf = {
    "image_scrapers": ("matplotlib", moving_pictures),
    "within_subsection_order": gallery_order,
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    # the value of a last line that draws is of no use to a reader
    "ignore_repr_types": r"matplotlib\.",
    "abort_on_example_error": True,
}


def write_command_reference(app):
    """Write the reference of the command line from the commands themselves, so that it cannot be
    stale.
    """

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
    text = (
        "The command line\n================\n\n" + "\n\n".join(pages(group, "seqattractor")) + "\n"
    )
    if not target.exists() or target.read_text() != text:
        target.write_text(text)


def make_core_for_browsers():
    """Return whether the core for browsers is there, or could be made."""
    if why_missing(core_path()) and find_spec("ziglang") is not None:
        sys.path.insert(0, str(Path(__file__).parents[1]))
        import hatch_build

        hatch_build.compile_for_browsers(core_path())
    return not why_missing(core_path())


def write_words_on_the_playground(app):
    """Link the lab without a server from its page, or say why it is not part of these pages."""
    words = (
        "`Open it here <playground/index.html>`__: it is part of these pages."
        if make_core_for_browsers()
        else "It is not part of these pages, which were built without ``ziglang``."
    )
    target = Path(app.srcdir) / "generated" / "playground.inc"
    target.parent.mkdir(exist_ok=True)
    if not target.exists() or target.read_text() != f"{words}\n":
        target.write_text(f"{words}\n")


def export_playground(app, exception):
    """Put the lab without a server beside the pages."""
    if exception is None and app.builder.format == "html" and not why_missing(core_path()):
        export(Path(app.outdir) / "playground")


def inline_math(translator, node):
    """Write a formula within a line as MathML, which browsers know."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def displayed_math(translator, node):
    """Write a formula of its own as MathML."""
    translator.body.append(
        f'<div class="math" style="margin: 1em 0">{tex2mathml(node.astext(), as_block=True)}</div>'
    )
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline_math, None), (displayed_math, None))
    app.connect("config-inited", lambda app, config: write_command_reference(app))
    app.connect("config-inited", lambda app, config: write_words_on_the_playground(app))
    app.connect("build-finished", export_playground)
