"""The learning rules, as the paper writes them and as fast as they go."""
