"""Ratios against peers and against the solver's own clock, measured in one run on one machine."""
