"""Which of two guests this is. The second has other random numbers, another day, another hash seed.

A puzzle that one accepts and the other does not was luck (build.py writes the second's number).
"""

NUMBER = 0
