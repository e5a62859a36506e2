"""What the pages that are written from kept results share: tables in reStructuredText, and a file
of named parts to include.
"""


def list_table(table):
    """A table of a report in reStructuredText."""
    lines = [f".. list-table:: {table.caption}", "   :header-rows: 1", "   :stub-columns: 1", ""]
    for row in (table.columns, *table.rows):  # a dash alone would begin a list
        lines += [
            f"   {'* -' if k == 0 else '  -'} {'–' if cell == '-' else cell}"
            for k, cell in enumerate(row)
        ]
    return "\n".join(lines)


def named_parts(parts):
    """Texts by their names, each between two comments that a page can name (`:start-after: .. begin
    name`).
    """
    return "\n".join(
        f".. begin {name}\n\n{text}\n\n.. end {name}\n" for name, text in parts.items()
    )
