"""The paper again: one file for each of its experiments, with their tables and figures, and its settings and numbers."""
