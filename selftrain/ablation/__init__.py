"""Ablations: what training on verified, unverified, wrong and human pairs does, all else equal.

The page to read first is pipeline.py. How pools are made, and how a model is trained and measured,
is as in a run: see loop.py.
"""
