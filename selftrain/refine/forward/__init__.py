"""The forward model: how it is asked for a candidate, and how its reply is read."""
