"""A forward model learns to follow edits, from wrong tries and right ones."""
