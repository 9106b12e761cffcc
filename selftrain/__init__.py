"""selftrain: a language model teaches itself to program. `selftrain.loop` is the page to read
first.
"""
