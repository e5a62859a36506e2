"""The tables and the figure of docs/continual.rst, from the result of the command that stands
there.

    python benchmarks/continual_page.py OUT      # OUT has continual.json

The result is saved in benchmarks/continual.json; without an argument the page is written from it
again.
"""

from rst import list_table, named_parts, write_page

from seqattractor.paper.continual import TARGET
from seqattractor.paper.target import Result


def page(data):
    """All parts of the page that are results, each between two comments that docs/continual.rst
    names.
    """
    result = Result(data)
    memories, limits, long = TARGET.tables(result)
    return named_parts(
        {
            "paragraph": TARGET.verdict(result).sentence,
            "memories": list_table(memories),
            "limits": list_table(limits),
            "long": list_table(long),
        }
    )


if __name__ == "__main__":
    write_page(TARGET, page)
