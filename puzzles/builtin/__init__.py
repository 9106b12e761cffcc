"""The built-in puzzles: small, real, written for this project, so that everything runs without a network."""
