"""The exact engine: the paper's rule as integer arithmetic on fields."""
