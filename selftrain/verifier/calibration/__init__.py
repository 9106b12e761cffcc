"""How far probabilities can be trusted, and what that is good for. Plain arrays in, numbers out."""
