"""Measures what a round of very many proposals holds in memory: see __main__.py."""
