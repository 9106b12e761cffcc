"""Sampling from OpenAI-compatible servers; connect.py is the file to read first."""
