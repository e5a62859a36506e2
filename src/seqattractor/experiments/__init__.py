"""Trials, grids of trials that survive interruptions, and how much a network stores."""
