"""LEVER: a learned verifier ranks candidates that no checker has looked at (Ni et al. 2023).

`arXiv 2302.08468`. Candidates are sampled and executed, a verifier reads task, program and result,
and its probability of being right joins the generator's (equation 3). What is measured here is a
ranking with the checker withheld: where a checker is at hand, there is nothing to rank.
"""
