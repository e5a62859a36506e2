"""The paper again: one file for each of its tables and figures, its settings and its numbers."""
