"""How far probabilities can be trusted, and what that is good for. No network is run here."""
