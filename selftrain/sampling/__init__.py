"""Sampling from a language model: one Protocol, and its makers in a file each.

Models are loaded in selftrain/models.py.
"""

from selftrain.sampling.completion import Completion, FinishReason, Request, Sampler

__all__ = ["Completion", "FinishReason", "Request", "Sampler"]
