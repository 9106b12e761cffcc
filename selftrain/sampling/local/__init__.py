"""Sampling by transformers, in this process; sampler.py is the file to read first."""
