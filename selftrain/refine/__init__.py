"""CodeGrad (Zhang et al. 2025): a critic's edits refine a candidate behind a gate.

`loop.py` is the page to read first. The paper leaves open what its VERIFY is, and all costs; what
is filled in here is said in docs/refine.md.
"""
