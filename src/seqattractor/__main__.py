"""`python -m seqattractor` is the command line."""

from seqattractor.cli import main

main()
