"""Diversity: how varied a round's puzzles are, and how new, so that a collapse is seen in time.

All definitions that were proposed are measured, kept or not: what the filter drops as a duplicate
is what a collapse shows first. Nothing is filtered, judged or trained here, and no run is stopped.
"""

from selftrain.diversity.measure import measure_diversity
from selftrain.diversity.record import Diversity, read_diversity

__all__ = ["Diversity", "measure_diversity", "read_diversity"]
