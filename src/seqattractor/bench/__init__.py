"""Measurements of the exact engine: against the plain loop in the same run, growth, memory, distance from the machine's limit."""
