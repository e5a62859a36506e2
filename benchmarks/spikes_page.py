"""The table and the figure of docs/spikes.rst, from the result of the command that stands
there.

    python benchmarks/spikes_page.py OUT      # OUT has spikes.json

The result is saved in benchmarks/spikes.json; without an argument the page is written from it
again.
"""

from rst import list_table, named_parts, write_page

from seqattractor.paper.spikes import TARGET
from seqattractor.paper.target import Result


def page(data):
    """All parts of the page that are results, each between two comments that docs/spikes.rst
    names.
    """
    result = Result(data)
    [levels] = TARGET.tables(result)
    return named_parts({"paragraph": TARGET.verdict(result).sentence, "levels": list_table(levels)})


if __name__ == "__main__":
    write_page(TARGET, page)
