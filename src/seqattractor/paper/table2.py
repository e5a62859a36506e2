"""Table 2: successful retrievals for different numbers M of hidden neurons."""

from seqattractor.paper.table1 import CountsTable


class Table2(CountsTable):
    """Table 2."""

    name = experiment = "table2"
    title = "Table 2"
    varied = "M"
    about = (
        "As table 1, with sequences of length T = 70 and different numbers M of hidden neurons. T = 70, M = 500 stands in both "
        "tables of the paper, with different counts: 8 and 6 for learning only V, 88 and 94 for learning U and V."
    )


TARGET = Table2()
