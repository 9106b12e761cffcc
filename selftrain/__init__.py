"""selftrain: a language model teaches itself to program; read `selftrain.loop` first."""
