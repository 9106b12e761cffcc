"""The token doctor: whether a model and its tokenizer suit the prompts of this software.

Each file holds checks of one kind, which give a `Finding` each; examine.py puts them in order and
prints them. Nothing is trained or changed here.
"""
