"""The verifier in the rounds of a run: taught by one round, of use to the next."""
