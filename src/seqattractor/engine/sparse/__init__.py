"""The sparse rule: in plain numpy, and compiled."""
