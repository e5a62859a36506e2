"""Reproduce the paper: a file for each experiment with its tables and figures, the settings, and
the paper's numbers.
"""
