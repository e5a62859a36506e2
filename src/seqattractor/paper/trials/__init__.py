"""What the paper's tables and figures compute: pure functions (settings, seed) -> outcome that draw nothing."""
