"""Pages, tables and figures that reproduce, compare, capacity and inspect share."""
