"""Making the built-in puzzles and the built-in model."""
